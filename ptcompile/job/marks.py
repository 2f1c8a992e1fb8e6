"""Values that know where they came from: text and numbers that carry the words of the spec they are made of.

Made on request alone (`compiling.record`): lowering, passes and targets hand the marked values on as they hand on any
other, so that nothing of theirs has to know of marks. A sum of marked numbers and a text put together with `+` are
marked too; a text made with an f-string is new, and so is a number that was parsed. Marked data equals the data itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Mark(NamedTuple):
    """Where a value came from."""

    words: tuple[Path, ...] = ()
    """The places of the spec that it is made of."""
    whole: bool = True
    """Whether it is what stands at the one place, not made of it."""
    by: str = ""
    """Who put it into a pod template or the job's metadata: "spec" or a pass; nothing for what a target wrote."""
    role: str = ""
    """The role in whose pod template it stands."""


NOTHING = Mark()


class Text(str):
    """A marked text."""

    mark: Mark

    def __add__(self, other: str) -> Text:
        return _text(str.__add__(self, other), self, other)

    def __radd__(self, other: str) -> Text:
        return _text(str.__add__(other, self), other, self)


class Number(int):
    """A marked number or, for what is True or False, a marked switch."""

    mark: Mark

    def __str__(self) -> str:
        made = Text(int.__repr__(self))
        made.mark = self.mark
        return made

    def __add__(self, other: int) -> Number:
        return _number(int.__add__(self, other), self, other)

    def __sub__(self, other: int) -> Number:
        return _number(int.__sub__(self, other), self, other)

    def __mul__(self, other: int) -> Number:
        return _number(int.__mul__(self, other), self, other)

    __radd__, __rmul__ = __add__, __mul__


def _text(value: str, *parts: object) -> Text:
    made = Text(value)
    made.mark = _of_parts(parts)
    return made


def _number(value: int, *parts: object) -> Number:
    made = Number(value)
    made.mark = _of_parts(parts)
    return made


def _of_parts(parts: Iterable[object]) -> Mark:
    return Mark(tuple(dict.fromkeys(word for part in parts for word in mark_of(part).words)), whole=False)


def mark_of(value: Any) -> Mark:
    """The mark of a value, or of a key."""
    return value.mark if isinstance(value, Text | Number) else NOTHING


def marked(value: Any, mark: Mark) -> Any:
    """A scalar with a mark; what can carry none, such as null or a fraction, as it is."""
    if not isinstance(value, str | int):
        return value
    made = Text(value) if isinstance(value, str) else Number(value)
    made.mark = mark
    return made


def stamped(value: Any, by: str, role: str = "") -> Any:
    """The same data, where each scalar without an author now names its author.

    So does the key of what can carry no mark, such as an empty mapping.
    """
    if isinstance(value, Mapping):
        return {
            key if one or isinstance(one, str | int) else _stamped(key, by, role): stamped(one, by, role)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [stamped(one, by, role) for one in value]
    if isinstance(value, tuple):
        return tuple([stamped(one, by, role) for one in value])
    return _stamped(value, by, role)


def _stamped(value: Any, by: str, role: str) -> Any:
    mark = mark_of(value)
    return value if mark.by else marked(value, mark._replace(by=by, role=role))


def place_of(value: Any) -> Path | None:
    """The one place of the spec that says a value, a mapping or a list; None where several do, or none."""
    if isinstance(value, Mapping):
        held = [mark_of(key).words[0][:-1] for key in value if mark_of(key).words]
        if held:
            return _shared(held)
        found = [place for one in value.values() if (place := place_of(one)) is not None]
        place = _shared(found)
        alone = len(value) == 1 or len(found) < len(value)
        return place[:-1] if place and alone and place in found else place
    if isinstance(value, list | tuple):
        place = _shared([place for one in value if (place := place_of(one)) is not None])
        while place and isinstance(place[-1], int):
            place = place[:-1]
        return place
    words = mark_of(value).words
    return words[0] if words else None


def _shared(places: Sequence[Path]) -> Path | None:
    """What all places begin with."""
    if not places:
        return None
    first, last = min(places, key=_sortable), max(places, key=_sortable)
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:size]


def _sortable(path: Path) -> tuple[tuple[bool, str | int], ...]:
    return tuple((isinstance(part, str), part) for part in path)


def scalars(value: Any) -> Iterator[Any]:
    """All scalars and keys of some data."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield key
            yield from scalars(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from scalars(one)
    else:
        yield value
