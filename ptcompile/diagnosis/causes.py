"""The causes of a message, tested against the manifest: what a finding proves, what the file rules
out, and where.

A cause is proven if its code is among the findings of lint. One with places in a manifest is kept
if the file has one of them: there is no short deadline where there is no deadline. One that only a
finding could show is ruled out without it, and so is a mistake of the launch, which lint decides
from the file alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnosis.messages import Message, PossibleCause
from ptcompile.diagnostics import Diagnostic, Path
from ptcompile.simulator.meeting import address_of, dns_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.simulator.world import World
    from ptcompile.source.documents import Source


class WeighedCause(NamedTuple):
    """A cause that the manifest does not rule out, or any cause if there is no manifest."""

    cause: PossibleCause
    finding: Diagnostic | None = None
    """The finding of lint that proves it."""
    line: int = 0
    """The line of the manifest that shows it; 0 if none does."""
    weight: int = 3
    """0 if a finding proves it, 1 if a line has the message's own value, 2 if a line has the
    field, else 3.
    """


_PROVEN, _VALUE, _FIELD, _NOWHERE = range(4)
_OF_LAUNCH = "PTC4"
"""Codes of launch and rendezvous: no finding means no such mistake."""


def weigh_causes(
    message: Message,
    values: Mapping[str, str],
    source: Source | None,
    findings: Sequence[Diagnostic] = (),
) -> list[WeighedCause]:
    """Return the causes of a message with these values: proven ones first, then those that the
    manifest shows, then the others.
    """
    if source is None:
        return [WeighedCause(cause) for cause in message.causes]

    places = _Places(source, values)
    weighed = (_weigh(cause, values, findings, places) for cause in message.causes)
    return sorted(
        (result for result in weighed if result is not None), key=lambda result: result.weight
    )


def _weigh(
    cause: PossibleCause, values: Mapping[str, str], findings: Sequence[Diagnostic], places: _Places
) -> WeighedCause | None:
    """Return a cause with its proof or its place, or None if the manifest rules it out."""
    mistake = next(
        (line for place in cause.at if place[0] == "!" and (line := places.line_of(place[1:]))), 0
    )
    proofs = [finding for finding in findings if cause.code and finding.code == cause.code]
    if proofs:
        finding = max(
            proofs, key=lambda finding: sum(value in finding.message for value in values.values())
        )
        return WeighedCause(
            cause, finding, mistake or (finding.span.line if finding.span else 0), _PROVEN
        )
    if mistake:
        return WeighedCause(cause, None, mistake, _VALUE)

    for place in cause.at:
        line = places.line_of(place)
        is_value = place.startswith("{")
        if line and (is_value or not cause.code.startswith(_OF_LAUNCH)):
            return WeighedCause(cause, None, line, _VALUE if is_value else _FIELD)

    is_outside = not cause.code and not cause.at
    if is_outside:
        return WeighedCause(cause, None, 0, _NOWHERE)
    return None


def compare(values: Mapping[str, str], world: World) -> Iterator[str]:
    """Yield how the host and the number of nodes that a message names differ from those of the
    jobs.
    """
    jobs = [job for job in world.jobs if job.size]
    host = values.get("host", "")
    count = values.get("world", "")
    titles = ", ".join(job.title for job in jobs)
    first_pods = [pod for job in jobs for _, pod in job.first_pods]

    if host and first_pods and all(address_of(pod, host).is_unknown for pod in first_pods):
        host_names = {name for pod in first_pods for name in dns_names(pod.view)[-1:]}
        called = f"; they are called such as {', '.join(sorted(host_names))}" if host_names else ""
        yield f"no pod and no Service of {titles} is called {host}{called}"
    if is_short_number(count) and jobs and all(job.size != int(count) for job in jobs):
        yield f"the message counts {count}; " + ", ".join(
            f"{job.title} has {job.size} pods" for job in jobs
        )


class _Leaf(NamedTuple):
    """A value of a document that is not a mapping or a list, or a key."""

    document: int
    path: Path
    text: str
    is_key: bool = False


_MOST_LEAVES = 50_000
_SHORTEST_PART = 4
"""Characters that a value of a message needs to be searched inside other texts."""


class _Places:
    """Finds places of causes in a manifest or a spec."""

    def __init__(self, source: Source, values: Mapping[str, str]) -> None:
        self._source = source
        self._values = values
        leaves = (
            leaf
            for document in source.documents
            for leaf in _leaves(document.data, document.index, ())
        )
        self._leaves = [leaf for _, leaf in zip(range(_MOST_LEAVES), leaves, strict=False)]

    def line_of(self, place: str) -> int:
        """Return the line that has a place, or 0."""
        if place.startswith("~"):
            return self._line_that_differs(place[1:])
        if place.startswith("{"):
            return self._line_of_value(self._values.get(place.strip("{}"), ""))
        return next((self._line(index, expression) for index, expression in self._find(place)), 0)

    def _find(self, place: str) -> Iterator[tuple[int, re.Pattern[str] | None]]:
        """Yield the indexes of the leaves at which `place` is set, each with the expression that
        finds it inside a longer text, or None for a key or a variable.
        """
        if not place.startswith(("--", "$", "=")):
            parts = [place] if "/" in place else place.split(".")
            for index, leaf in enumerate(self._leaves):
                names = [part for part in leaf.path if isinstance(part, str)]
                if leaf.is_key and names[-len(parts) :] == parts:
                    yield index, None
            return

        expression = re.compile(_expression(place))
        for index, leaf in enumerate(self._leaves):
            if leaf.path[-1:] == ("name",) and f"${leaf.text}" == place:
                yield index, None
            elif not leaf.is_key and expression.search(leaf.text):
                yield index, expression

    def _line_that_differs(self, place: str) -> int:
        """Return a line where `place` has the value that the message names, else one where it
        differs from its first occurrence; 0 if all values are equal.
        """
        values = {
            (index, expression): self._value_after(index, expression)
            for index, expression in self._find(place)
        }
        first = next(iter(values.values()), "")
        others = [key for key, value in values.items() if value != first]
        named = [key for key, value in values.items() if value in self._values.values()]
        return self._line(*(named or others)[0]) if others else 0

    def _value_after(self, index: int, expression: re.Pattern[str] | None) -> str:
        """Return the value of a key, a variable, or an option, whose value may be the next word
        of the command.
        """
        leaf = self._leaves[index]
        match = expression.search(leaf.text) if expression is not None else None
        words = leaf.text[match.end() :].lstrip("=").split() if match is not None else []
        # a key is followed by its value, the name of a variable by the key `value` and this value
        distance = 2 if match is None and not leaf.is_key else 1
        if words:
            return words[0]
        return "".join(leaf.text for leaf in self._leaves[index + distance :][:1])

    def _line_of_value(self, value: str) -> int:
        """Return the line with a value of the message, whole or inside a longer text; of a path,
        its last part too.
        """
        if not value:
            return 0
        path = value.replace("[", ".").replace("]", "").split(".")
        for index, leaf in enumerate(self._leaves):
            if leaf.text == value or (leaf.is_key and [*map(str, leaf.path)] == path):
                return self._line(index)
        texts = [text for text in (value, value.rpartition("/")[2]) if len(text) >= _SHORTEST_PART]
        return next((line for text in texts if (line := self.line_of(f"={text}"))), 0)

    def _line(self, index: int, expression: re.Pattern[str] | None = None) -> int:
        """Return the line of a leaf; of a text with several lines, the one with the expression."""
        leaf = self._leaves[index]
        document = next(
            document for document in self._source.documents if document.index == leaf.document
        )
        span = document.span(leaf.path, on_key=leaf.is_key)
        if span is None:
            return 0
        if expression is None or span.end_line == span.line:
            return span.line

        lines = self._source.lines[span.line - 1 : span.end_line]
        return next(
            (span.line + number for number, line in enumerate(lines) if expression.search(line)),
            span.line,
        )


def _expression(place: str) -> str:
    """Return a pattern for an option, a variable or a text in a value; options have `-` or `_`."""
    text = re.escape(place.lstrip("=$"))
    if place.startswith("--"):
        return rf"(?<![\w-])--{text[4:].replace(re.escape('-'), '[-_]')}(?![\w-])"
    if place.startswith("$"):
        return rf"(?<![\w$]){text}=|\$\{{?{text}\b"
    return rf"(?<!\w){text}"


def _leaves(value: Any, document: int, path: Path) -> Iterator[_Leaf]:
    """Yield keys and texts in the order in which they are written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield _Leaf(document, (*path, key), str(key), is_key=True)
            yield from _leaves(inner, document, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, document, (*path, index))
    elif value is not None:
        yield _Leaf(document, path, str(value))
