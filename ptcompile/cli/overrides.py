"""`--set` and `--set-string`: their texts as overrides, and findings about them under carets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics import Diagnostic, Path, Span
from ptcompile.diagnostics.paths import PlaceError, assignment
from ptcompile.source import documents as source
from ptcompile.source.documents import Document
from ptcompile.source.secrets.names import mask_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "--set"
"""What a finding calls the file, where it is one of these options."""


RUN = "--name"


class Set(NamedTuple):
    """One option: PATH=VALUE."""

    path: Path
    value: Any
    text: str
    """As it was typed, with a secret masked."""
    start: int
    """The offset of the value in the text."""
    document: Document | None
    """The value as it was read, under the key `value`; None of text."""


def yaml(text: str) -> Set:
    """`spec.elastic.nnodes=2:4`: the value is read as in a YAML file, quotes and lists too. Raises `UsageError`."""
    path, start = _place(text, "--set")
    read = source.read(f"value: {text[start:]}")
    if read.problems or not read.documents or read.documents[0].data.keys() != {"value"}:
        message = "not a YAML value; quote a string with special characters, or use --set-string"
        raise _usage("--set", _shown(text, path, start), start, message)
    return Set(path, read.documents[0].data["value"], _shown(text, path, start), start, read.documents[0])


def string(text: str) -> Set:
    """The same, with the value as the text that it is. Raises `UsageError`."""
    path, start = _place(text, "--set-string")
    return Set(path, text[start:], _shown(text, path, start), start, None)


def _place(text: str, option: str) -> tuple[Path, int]:
    try:
        return assignment(text)
    except PlaceError as error:
        raise _usage(option, text, error.at, str(error)) from None


def _shown(text: str, path: Path, start: int) -> str:
    return text[:start] + str(mask_value(str(path[-1]), text[start:]))


def _usage(option: str, text: str, at: int, message: str) -> UsageError:
    """What is wrong with an option, with a caret below the character."""
    line = "".join(one if one.isprintable() else " " for one in text)
    return UsageError(f"{option} {line}\n{'':>{len('ptcompile: ') + len(option) + 1 + at}}^ {message}")


def texts(given: Sequence[Set]) -> str:
    """The options as the text of a file: each a line."""
    return "\n".join(" ".join(one.text.splitlines()) for one in given)


def pointed(found: Iterable[Diagnostic], given: Sequence[Set], run: str | None) -> list[Diagnostic]:
    """Diagnostics; those about an override stand in the file `--set`, at the option's line and under its value.

    `run` is the name of the run, whose file is `--name`.
    """
    out = []
    for one in found:
        match = re.fullmatch(r"overrides\[(\d+)\]", one.filename or "")
        if one.filename == "name=":
            one = one._replace(filename=RUN, span=Span(1, 1, 1, max(2, len(run or "") + 1)))
        elif match is not None and int(match[1]) < len(given):
            number = int(match[1])
            one = one._replace(filename=NAME, span=_span(one, given[number], number + 1))
        out.append(one)
    return out


def _span(found: Diagnostic, given: Set, line: int) -> Span:
    """The value, a part of it, or the place where that is what is wrong."""
    depth, width = len(given.path), len(given.text)
    if len(found.path) < depth or (len(found.path) == depth and found.name == "spec-unknown-field"):
        return Span(line, 1, line, given.start)
    part = given.document.span(("value", *found.path[depth:])) if given.document and len(found.path) > depth else None
    if part is not None and part.line == part.end_line == 1:
        shift = given.start - len("value: ")
        if part.end_column + shift <= width + 1:
            return Span(line, part.column + shift, line, part.end_column + shift)
    return Span(line, given.start + 1, line, max(given.start + 2, width + 1))
