"""The inputs of a call: texts, and files below the folders that the server was started for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal import files
from ptcompile._internal.files import SUFFIXES, is_inside
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import File, Inputs, ProfileRead
from ptcompile.api.options import LintOptions
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.index import ObjectIdentity, Objects
from ptcompile.kubernetes.unstructured import Json
from ptcompile.report.layout import safe_text, shorten
from ptcompile.source import streams

_TEXT_NAME = "-"
"""The name by which a configuration sees a text: that of standard input."""
_PATH_CHARACTERS = 200
"""Maximum length of a path in a message."""


class CallError(Exception):
    """Raised for a call that cannot be answered; the message is for the caller."""


class CallSettings(NamedTuple):
    """The settings that apply to one file."""

    options: LintOptions
    profile: ProfileRead
    """The profile of the options, as it was read."""


class NamedText(NamedTuple):
    """A text, and the name of its file."""

    content: bytes
    filename: str | None = None


class Around(NamedTuple):
    """The effects of the other files of the repository on a file."""

    beside: Objects | None = None
    """Their objects that affect it; None if they are not known, as for a text."""
    earlier: Mapping[ObjectIdentity, str] | None = None
    """Its objects that an earlier file of the folder defines too."""
    is_excluded: bool = False
    """Whether a run over the repository leaves the file out."""
    without_known: Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]] = lambda diagnostics: (
        diagnostics
    )
    """Return the findings that the configured baseline does not cover."""


class Call(NamedTuple):
    """A call of a tool: its arguments, which have the declared types, and what the server was
    started with.
    """

    arguments: Json
    roots: Sequence[str]
    """Folders whose files may be read."""
    settings: Callable[[str, bytes | None], CallSettings]
    """What judges a file, by its name, for the profile with this text or for the configured one.
    Raises `CallError`.
    """
    around: Callable[[NamedText], Around] = lambda _: Around()
    """What the repository means for a file. Raises `CallError`."""


def document(call: Call, prefix: str = "") -> NamedText:
    """Return the input that a call gives as `text` or as `path`, or under these words with a
    prefix. Raises `CallError`.
    """
    text, path = (call.arguments.get(f"{prefix}{name}") for name in ("text", "path"))
    if (text is None) == (path is None):
        raise CallError(f"give exactly one of {prefix}text and {prefix}path")
    if text is not None:
        return NamedText(text.encode(errors="replace"))
    return read(str(path), call.roots)


def settings(call: Call, item: NamedText) -> CallSettings:
    """Return what judges an input; the profile that the call names goes before the configured
    one.
    """
    names_profile = {"cluster_text", "cluster_path"} & set(call.arguments)
    profile = document(call, "cluster_").content if names_profile else None
    return call.settings(item.filename or _TEXT_NAME, profile)


def inputs(call: Call, item: NamedText) -> Inputs:
    """Return an input as it is read, with what decides about its objects."""
    return judged_inputs(item, settings(call, item))


def judged_inputs(item: NamedText, judge: CallSettings, *, only_specs: bool = False) -> Inputs:
    """Return an input as it is read, with what these settings decide about its objects."""
    options, profile = judge
    file = File(
        streams.read(item.content, item.filename, kubectl=options.versions.kubernetes),
        item.filename,
    )
    return options.inputs(file, profile=profile, only_specs=only_specs)


def read(path: str, roots: Sequence[str]) -> NamedText:
    """Read a YAML or JSON file below one of the folders, also after its links are followed. Raises
    `CallError`.

    Nothing outside the folders is touched, so a message never tells whether a file exists there.
    """
    shown = shorten(safe_text(path), _PATH_CHARACTERS)
    try:
        places = [os.path.realpath(os.path.join(root, path)) for root in roots]
    except ValueError:  # a null character, or half of a surrogate pair
        raise CallError(f"{shown}: not a path") from None

    inside = [place for place, root in zip(places, roots, strict=True) if is_inside(place, root)]
    if not inside:
        raise CallError(
            f"{shown}: not in {' or '.join(roots)}, the folders that this server may read"
        )

    inside = [place for place in inside if path.endswith(SUFFIXES) and place.endswith(SUFFIXES)]
    if not inside:
        raise CallError(f"{shown}: not the name of a YAML or JSON file")

    place = next(filter(os.path.exists, inside), inside[0])
    try:
        return NamedText(files.read(place), path)
    except OSError as error:
        raise CallError(f"{shown}: {(error.strerror or str(error)).lower()}") from None
