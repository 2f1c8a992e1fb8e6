"""Two objects compared, path by path.

Lists of mappings without names are compared by deepdiff, whose import takes as long as compiling both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.paths import get
from ptcompile.apiserver.defaulting import is_default
from ptcompile.differ.model import Change, KeyPath
from ptcompile.differ.normal import Keyed, hidden, normal, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.differ.model import ChangeKind
    from ptcompile.kubernetes.unstructured import Json


ListChanges = list[tuple[int, "ChangeKind"]]
"""What differs, by index: of an item that was added in the second list, else in the first."""


def plain_lists(one: list[Any], other: list[Any], *, zipped: bool) -> ListChanges:
    """As deepdiff has it, which compares other lists: item by item where that needs no more changes, or if `zipped`."""
    by_place = list(_by_place(one, other, 0, 0))
    if zipped:
        return by_place
    from difflib import SequenceMatcher

    found: ListChanges = []
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            found += _by_place(one[a:b], other[c:d], a, c)
    if len(found) > 1 and len(found) >= len(by_place):
        return by_place
    both = {index for index, kind in found if kind == "removed"} & {index for index, kind in found if kind == "added"}
    others = [(index, kind) for index, kind in found if index not in both or kind == "changed"]
    return [*others, *((index, "changed") for index in sorted(both))]


def _by_place(one: list[Any], other: list[Any], first: int, second: int) -> Iterator[tuple[int, ChangeKind]]:
    """Item by item: those of both lists that differ, then what only one has. The lists begin at these indexes."""
    for i, (left, right) in enumerate(zip(one, other, strict=False)):
        if type(left) is not type(right) or left != right:
            yield first + i, "changed"
    yield from ((first + i, "removed") for i in range(len(other), len(one)))
    yield from ((second + i, "added") for i in range(len(one), len(other)))


_ORDERED = frozenset({"containers", "initContainers", "replicatedJobs", "tasks"})
"""Lists of named items whose order means something. That of env does where a value names an earlier one."""

PLACES = 4000
"""Values of parts that differ: with more, whole fields are shown. Aliases make such an object of a few lines."""

LONG = 1000
"""Of two lists with more items those with one index are compared: to find what was put in costs their product."""

_KINDS: dict[str, ChangeKind] = {
    "dictionary_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_added": "added",
    "iterable_item_removed": "removed",
    "values_changed": "changed",
    "type_changes": "changed",
    "repetition_change": "changed",
}


def changes(before: Json, after: Json) -> tuple[Change, ...]:
    """Every difference between two objects of one kind, in the order of their paths; secrets hidden."""
    one, other = normal(before), normal(after)
    found = () if _alike(one, other) else _found(one, other, before, after)
    return tuple(
        sorted((*found, *_moved(one, other, ())), key=lambda change: [_sortable(part) for part in change.path])
    )


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same, type by type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _leaves(value: Any, most: int) -> int:
    """How many values there are, as far as `most`."""
    if not isinstance(value, dict | list):
        return 1
    count = 1
    for inner in value.values() if isinstance(value, dict) else value:
        if count > most:
            break
        count += _leaves(inner, most - count)
    return count


def _differing(one: Any, other: Any) -> int:
    """How many values of the parts that differ there are, as far as `PLACES`."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = dict.fromkeys((*one, *other))
        parts = [(one.get(key), other.get(key)) for key in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = list(zip(one, other, strict=True))
    else:
        return max(_leaves(one, PLACES), _leaves(other, PLACES))
    count = 0
    for left, right in parts:
        if count > PLACES:
            break
        if not _alike(left, right):
            count += _differing(left, right)
    return count


def _pruned(one: Any, other: Any) -> tuple[Any, Any]:
    """Both sides without what they have in common: deepdiff takes its time for equal values too."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {key: _pruned(one[key], other[key]) for key in one if key in other and not _alike(one[key], other[key])}
        sides = []
        for index, side, beside in ((0, one, other), (1, other, one)):
            sides.append(
                type(side)(
                    {k: both[k][index] if k in both else v for k, v in side.items() if k in both or k not in beside}
                )
            )
        return sides[0], sides[1]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(None, None) if _alike(x, y) else _pruned(x, y) for x, y in zip(one, other, strict=True)]
        return [x for x, _ in pairs], [y for _, y in pairs]
    return one, other


def _wide(one: Json, other: Json, before: Json, after: Json) -> list[Change]:
    """Where too much differs to be compared value by value: the fields of the object that differ, as a whole."""
    shown = normal(hidden(before)), normal(hidden(after))
    out: list[Change] = []
    for key in dict.fromkeys((*one, *other)):
        if not _alike(one.get(key), other.get(key)):
            kind: ChangeKind = "added" if key not in one else "removed" if key not in other else "changed"
            out += _change(kind, [key], one, other, shown)
    return out


def _found(one: Json, other: Json, before: Json, after: Json) -> list[Change]:
    if _differing(one, other) > PLACES:
        return _wide(one, other, before, after)
    zipped = max(_longest(one), _longest(other)) > LONG
    shown = normal(hidden(before)), normal(hidden(after))
    return [
        change
        for kind, keys in _differences(one, other, [], zipped)
        for change in _change(kind, keys, one, other, shown)
    ]


def _differences(one: Any, other: Any, keys: list[Any], zipped: bool) -> Iterator[tuple[ChangeKind, list[Any]]]:
    """Each place at which two values differ. `zipped`: lists are compared item by item."""
    if type(one) is not type(other):
        yield "changed", keys
    elif isinstance(one, dict):
        for key in dict.fromkeys((*one, *other)):
            if key not in other:
                yield "removed", [*keys, key]
            elif key not in one:
                yield "added", [*keys, key]
            elif not _alike(one[key], other[key]):
                yield from _differences(one[key], other[key], [*keys, key], zipped)
    elif not isinstance(one, list):
        yield "changed", keys
    elif any(isinstance(item, dict | list) for item in (*one, *other)):
        yield from _by_deepdiff(one, other, keys, zipped)
    else:
        for index, kind in plain_lists(*_pruned(one, other), zipped=zipped):
            yield kind, [*keys, index]


def _by_deepdiff(one: Any, other: Any, keys: list[Any], zipped: bool) -> Iterator[tuple[ChangeKind, list[Any]]]:
    from deepdiff import DeepDiff

    found = DeepDiff(
        *_pruned(one, other),
        view="tree",
        ignore_private_variables=False,  # else it passes over names that begin with two underscores
        threshold_to_diff_deeper=0,  # else it takes mappings that share little for one change
        zip_ordered_iterables=zipped,
    )
    for kind, levels in found.items():
        for level in levels:
            yield _KINDS[kind], [*keys, *level.path(output_format="list")]


def _longest(value: Any) -> int:
    """The number of items of the longest list."""
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    return max(len(value), *map(_longest, value)) if isinstance(value, list) and value else 0


def _sortable(part: str) -> tuple[int, str]:
    """Indexes by their number."""
    number = part[1:-1]
    return (int(number), "") if part.startswith("[") and number.isdecimal() and len(number) < 12 else (-1, part)


def _change(kind: ChangeKind, keys: list[Any], one: Json, other: Json, shown: tuple[Json, Json]) -> Iterator[Change]:
    holder, absent = (one, other) if kind == "removed" else (other, one)
    path = _path(keys, holder)
    whole = get(holder, keys)
    if isinstance(whole, Keyed) and kind in ("added", "removed"):  # a list is there once it has an item
        for key in whole:
            yield from _change(kind, [*keys, key], one, other, shown)
        return
    before = None if kind == "added" else plain(get(shown[0], keys))
    after = None if kind == "removed" else plain(get(shown[1], keys))
    if kind in ("added", "removed"):
        if isinstance(keys[-1], str) and is_default(path, whole, absent):
            return
        if before is None and after is None:
            return
    real = (
        None if kind == "added" else plain(get(one, keys)),
        None if kind == "removed" else plain(get(other, keys)),
    )
    yield Change(path, kind, before, after, masked=(before, after) != real)


def _path(keys: list[Any], root: Any) -> KeyPath:
    """The keys with those of lists in brackets."""
    out: list[str] = []
    for key in keys:
        listed = isinstance(root, Keyed | list)
        out.append(f"[{key}]" if listed else str(key))
        root = get(root, (key,))
    return tuple(out)


def _moved(one: Any, other: Any, path: KeyPath) -> Iterator[Change]:
    """Lists whose items, as far as both have them, stand in another order, where the order means something."""
    if isinstance(one, dict) and isinstance(other, dict):
        if isinstance(one, Keyed) and isinstance(other, Keyed) and _ordered(path, one, other):
            before, after = [k for k in one if k in other], [k for k in other if k in one]
            if before != after:
                yield Change(path, "moved", before, after)
        for key in one:
            if key in other:
                part = f"[{key}]" if isinstance(one, Keyed) else key
                yield from _moved(one[key], other[key], (*path, part))
    elif isinstance(one, list) and isinstance(other, list):
        for i, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from _moved(left, right, (*path, f"[{i}]"))


def _ordered(path: KeyPath, *lists: Keyed) -> bool:
    if path[-1:] == ("env",):
        return any("$(" in str(entry.get("value", "")) for one in lists for entry in one.values())
    return bool(path) and path[-1] in _ORDERED
