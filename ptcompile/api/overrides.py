"""Values laid over a document before it is looked at, and which of them a finding is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import has
from ptcompile.diagnostics import Diagnostic, Path, Problem, field_path
from ptcompile.diagnostics.paths import MOST_PARTS, PlaceError, place
from ptcompile.source import documents as source, streams
from ptcompile.source.documents import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_NAMES: Final = ("name", "mountPath", "devicePath", "containerPort", "ip", "topologyKey", "key")
"""What an item of a list is called by."""


class Overrides(NamedTuple):
    """Overrides with valid paths, and the problems of the others."""

    values: tuple[tuple[int, Path, Any], ...]
    """Index of each override in the input, its path and its value."""
    diagnostics: tuple[Diagnostic, ...] = ()


class Laid(NamedTuple):
    """A document with the overrides applied."""

    data: Any
    document: Document
    places: tuple[tuple[int, Path], ...]
    """Index of each override, and the path that it set."""
    refused: tuple[tuple[int, Problem], ...]
    """Overrides that the document has no place for."""

    def told(self, problems: Iterable[Problem], filename: str | None) -> list[Diagnostic]:
        """Return problems as diagnostics; those that an override caused are in the "file" `overrides[N]`, without a
        line.
        """
        out = [self._by(number, problem) for number, problem in self.refused]
        return out + [self.stamp(problem, filename) for problem in problems]

    def stamp(self, problem: Problem, filename: str | None) -> Diagnostic:
        """One problem, where it was caused."""
        number = self._cause(problem.path)
        return streams.to_diagnostic(problem, self.document, filename) if number is None else self._by(number, problem)

    def second_of_a_name(self, name: str) -> Diagnostic:
        """What is said of a job behind the first, where the run has a name: two objects cannot have one."""
        text = f"{field_path(_NAME)}: {name!r} names one job, and this is a second one"
        help = "use a name with one file of one job"
        return self._by(NAMED, Problem("spec-conflict", _NAME, text, help, authority="ptcompile"))

    def _by(self, number: int, problem: Problem) -> Diagnostic:
        laid = source.from_data(self.data) if isinstance(self.data, dict) else None
        document = laid.documents[0] if laid is not None and laid.documents else None
        found = streams.to_diagnostic(
            problem._replace(fix=None, blocks_compile=problem.severity == "error"), document, name_of(number)
        )
        return found._replace(document=self.document.index)

    def _cause(self, path: Path) -> int | None:
        """Return the override that caused a path: the last one that set it, its parent or one of its parts."""
        for number, there in reversed(self.places):
            inside = path[: len(there)] == there
            if inside or (there[: len(path)] == path and path and not has(self.document.data, path)):
                return number
        return None


NAMED: Final = -1
"""The number of the override that is the name of the run."""

_NAME: Final = ("metadata", "name")


def name_of(number: int) -> str:
    """Return the file name for findings of an override."""
    return "name=" if number == NAMED else f"overrides[{number}]"


def read(overrides: Sequence[tuple[str | Path, Any]], name: str | None = None) -> Overrides:
    """Overrides by text or by path, and last the name of the run; a text is read as `diagnostics.paths` has it."""
    values: list[tuple[int, Path, Any]] = []
    found: list[Diagnostic] = []
    for number, (where, value) in enumerate(overrides):
        try:
            path = place(where) if isinstance(where, str) else tuple(where)
            if len(path) > MOST_PARTS:
                raise PlaceError(f"a place has at most {MOST_PARTS} parts", 0)
            values.append((number, path, value))
        except PlaceError as error:
            problem = Problem("spec-invalid-value", (), f"{where}: {error}", authority="ptcompile")
            found.append(streams.to_diagnostic(problem, None, name_of(number)))
    if name is not None:
        values.append((NAMED, _NAME, name))
    return Overrides(tuple(values), tuple(found))


def lay(document: Document, overrides: Overrides) -> Laid:
    """Return a copy of a document's data with the overrides applied in order."""
    data: Any = document.data
    places: list[tuple[int, Path]] = []
    refused: list[tuple[int, Problem]] = []
    for number, path, value in overrides.values:
        if number == NAMED:
            data = _without_generated(data)
        try:
            data, there = _laid(data, path, value, ())
        except _NoPlaceError as error:
            text = f"{field_path(error.path)}: {error}"
            refused.append((number, Problem("spec-invalid-value", error.path, text, error.help, authority="ptcompile")))
            continue
        places.append((number, there))
    return Laid(data, document, tuple(places), tuple(refused))


def _without_generated(data: Any) -> Any:
    """Return the data without generateName, which the name of the run replaces."""
    metadata = data.get("metadata") if isinstance(data, Mapping) else None
    if not isinstance(metadata, Mapping) or "generateName" not in metadata:
        return data
    return {**data, "metadata": {key: value for key, value in metadata.items() if key != "generateName"}}


class _NoPlaceError(ValueError):
    """Raised when a list has no such item."""

    def __init__(self, path: Path, message: str, help: str) -> None:
        self.path, self.help = path, help
        super().__init__(message)


def _laid(data: Any, path: Path, value: Any, above: Path) -> tuple[Any, Path]:
    """Return a copy of the data with one value changed, and its path there; missing parts are created."""
    if not path:
        return value, above
    head, rest = path[0], path[1:]
    if isinstance(data, list) or (data is None and isinstance(head, int)):
        items: list[Any] = data or []
        at = _index(items, head, above)
        inner, there = _laid(items[at] if at < len(items) else None, rest, value, (*above, at))
        return [*items[:at], inner, *items[at + 1 :]], there
    key = str(head)
    below = data if isinstance(data, Mapping) else {}
    inner, there = _laid(below.get(key), rest, value, (*above, key))
    return {**below, key: inner}, there


def _index(items: Sequence[Any], head: str | int, above: Path) -> int:
    """Return the index of an item given by index or name; the index after the last one appends an item."""
    if isinstance(head, str) and head.isascii() and head.isdigit() and len(head) < 10:
        head = int(head)
    if isinstance(head, int):
        if 0 <= head <= len(items):
            return head
        raise _NoPlaceError(above, f"no item {head} to set", f"[{len(items)}] appends one")
    names = [_name(item) for item in items]
    if head in names:
        return names.index(head)
    known = ", ".join(name for name in names if name)
    help = f"the items are {known}" if known else "give an index, such as [0]"
    raise _NoPlaceError(above, f"no item {head!r} to set", help)


def _name(item: Any) -> str | None:
    if not isinstance(item, Mapping):
        return None
    return next((str(item[key]) for key in _NAMES if key in item), None)
