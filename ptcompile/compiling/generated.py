"""`metadata.generateName`: manifests whose name the server completes, where no address or other object carries it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.lines import moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.spec import Spec

_NAME: Path = ("metadata", "name")
_GENERATE: Path = ("metadata", "generateName")
_UNKNOWN = "*****"
"""What people see for the part that the server adds."""


def unnamed(
    spec: Spec, manifests: Sequence[dict[str, Any]], problems: Sequence[Problem]
) -> tuple[tuple[dict[str, Any], ...], list[Problem]]:
    """The manifests without the name that stood in while they were made, and what is said of them.

    A spec without generateName gives back what it was given.
    """
    beginning, stand_in = spec.metadata.generate_name, spec.metadata.name
    if beginning is None:
        return tuple(manifests), list(problems)
    said = [_about(problem, stand_in, beginning) for problem in problems]
    carrier = next(_carriers(manifests, stand_in), None)
    if carrier is not None:
        text = f"{field_path(_GENERATE)}: {carrier} carries the job's name, which is not known before it is created"
        help = "give metadata.name, or --name for this run"
        said.append(Problem("unsupported-by-target", _GENERATE, text, help, authority="ptcompile"))
    return (with_generate_name(manifests, spec) if carrier is None else ()), said


def with_generate_name(manifests: Sequence[dict[str, Any]], spec: Spec) -> tuple[dict[str, Any], ...]:
    """Return the manifests with the spec's generateName, where it has one, on the job, which is the last of them."""
    beginning = spec.metadata.generate_name
    if beginning is None or not manifests:
        return tuple(manifests)
    *others, last = manifests
    metadata = {key: value for key, value in last["metadata"].items() if key != "name"}
    return (*others, {**last, "metadata": {"generateName": beginning, **metadata}})


def _carriers(manifests: Sequence[dict[str, Any]], name: str) -> Iterator[str]:
    """Where the name stands, in words, other than as the name of the last object, which is the job."""
    for index, manifest in enumerate(manifests):
        for path, text in _texts(manifest, ()):
            if name in text and not (path == _NAME and index == len(manifests) - 1):
                yield f"{manifest['kind']} {field_path(path)}"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))
    elif isinstance(value, str):
        yield path, value


def _about(problem: Problem, stand_in: str, beginning: str) -> Problem:
    """A problem about the name at generateName, in words that a person can know."""
    there = moved(problem, _GENERATE) if problem.path == _NAME else problem
    added = stand_in.removeprefix(beginning)
    help = there.help and there.help.replace(added, "")
    return there._replace(message=there.message.replace(stand_in, f"{beginning}{_UNKNOWN}"), help=help)
