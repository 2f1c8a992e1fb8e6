"""Findings of the compiler at the lines of the document: here alone a path of a manifest becomes one of a spec.

A stage says what its path leads into. What wrote a value there is traced when the first finding needs it, never for a
document without such findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.lines import moved, settle, value_at
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.compiling.record import Trace
    from ptcompile.vocabulary.spec import Spec

    Json = Mapping[str, Any]

SPEC: Path = ("spec",)
TARGET, SERVER, POD_SECURITY = "target", "server", "pod security"


class Finding(NamedTuple):
    """A problem, and what its path leads into."""

    problem: Problem
    place: int | str | None = None
    """The index of a manifest, or a role whose pod template it is; None is the spec."""
    by: str = ""
    """The stage that found it, if its findings are located in a way of their own."""
    instead: Path = SPEC
    """Where it is reported if no line of the spec gives the value of a pod template."""


def locate_stages(
    stages: Iterable[Iterable[Finding]],
    data: Json,
    spec: Spec | None = None,
    trace: Callable[[], Trace] | None = None,
) -> tuple[Problem, ...]:
    """Locate the findings of each stage. Behind an error of an earlier stage, keep those that cannot follow from it."""
    kept: list[Problem] = []
    every: list[Problem] = []
    for stage in stages:
        located = locate(stage, data, trace)
        if spec is not None:
            located = in_known_names(located, spec)
        if located and any(problem.severity == "error" for problem in every):
            from ptcompile.compiling.further import independent

            kept += independent(located, every, data)
        else:
            kept += located
        every += located
    return tuple(kept)


def locate(findings: Iterable[Finding], data: Json, trace: Callable[[], Trace] | None = None) -> list[Problem]:
    """Return the problems of one stage at the paths of the document, each once."""
    problems: list[Problem] = []
    for by, group in groupby(findings, key=attrgetter("by")):
        located = list(_distinct(group, data, trace))
        problems += _REDUCERS[by](located, data) if by in _REDUCERS else located
    return problems


def _distinct(findings: Iterable[Finding], data: Json, trace: Callable[[], Trace] | None) -> Iterator[Problem]:
    """Yield each problem once: by its line, or by its message where no line gives the value."""
    seen: set[tuple[str, Path, str]] = set()
    for finding in findings:
        problem, at_a_line = _located(finding, data, trace)
        key = (problem.name, problem.path, "" if at_a_line else problem.message)
        if key not in seen:
            seen.add(key)
            yield problem


def _located(finding: Finding, data: Json, trace: Callable[[], Trace] | None) -> tuple[Problem, bool]:
    """Return a problem at its path of the document, and whether it is about a value of a manifest with a line there."""
    problem, place = finding.problem, finding.place
    if place is None or trace is None:
        return settle(problem, data) if finding.by == TARGET else problem, False
    if isinstance(place, str):
        return moved(problem, trace().line(place, problem.path, data) or finding.instead), False
    from ptcompile.compiling.causes import cause
    from ptcompile.compiling.located import located

    path = located(trace(), place, problem.path, data)
    at_a_line = path != SPEC
    if finding.by != SERVER and not (at_a_line and value_at(path, data) is not None):
        near = cause(problem, trace(), place, data)
        path = path if at_a_line and near == SPEC else near
    named = problem.path[-1:] == ("name",) and path[-2:-1] == ("env",)  # a name is a key in a spec
    plain = problem._replace(on_key=problem.on_key or named, fix=None)
    return plain._replace(path=path) if path == SPEC else moved(plain, path), at_a_line


def _once_per_path(problems: list[Problem], _: Json) -> Iterator[Problem]:
    """Drop what a second layer of the server says of the same mistake."""
    seen: set[Path] = set()
    for problem in problems:
        if problem.path == SPEC or problem.path not in seen:
            seen.add(problem.path)
            yield problem


def _at_lines_first(problems: list[Problem], data: Json) -> Iterator[Problem]:
    """Drop what has no line if there are problems at a line, from which it follows. Name a fabric that needs more."""
    for problem in [problem for problem in problems if problem.path != SPEC] or problems:
        if problem.path == (*SPEC, "fabric"):
            fabric = value_at(problem.path, data)
            help = f"the fabric {fabric} needs a namespace of the level privileged: set podSecurity: privileged"
            problem = problem._replace(help=help)
        yield problem


_REDUCERS: dict[str, Callable[[list[Problem], Json], Iterator[Problem]]] = {
    SERVER: _once_per_path,
    POD_SECURITY: _at_lines_first,
}


def in_known_names(problems: list[Problem], spec: Spec) -> list[Problem]:
    """Return the problems in words that a person can know: generateName for the name that stands in for it."""
    beginning, stand_in = spec.metadata.generate_name, spec.metadata.name
    if beginning is None:
        return problems
    added = stand_in.removeprefix(beginning)
    known: list[Problem] = []
    for problem in problems:
        there = moved(problem, ("metadata", "generateName")) if problem.path == ("metadata", "name") else problem
        message = there.message.replace(stand_in, f"{beginning}{_UNKNOWN}")
        known.append(there._replace(message=message, help=there.help and there.help.replace(added, "")))
    return known


_UNKNOWN = "*****"
"""What people see for the part of a name that the server adds."""
