"""Plain data leaf by leaf: what changed between two manifests, where list items are known by name and not by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

Missing = type("Missing", (), {"__slots__": (), "__repr__": lambda _self: "MISSING"})
MISSING: Final = Missing()
"""Stands for a value that is not there, where None is a value."""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar, empty mapping and empty list in the order of the data, each with its path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif _is_list(value) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path, value


def changed(base: Any, new: Any, path: Path = (), field: str = "") -> Iterator[Path]:
    """The leaves of `base`, by path, that are gone or another in `new`. An item that only moved is no change.

    `field` is the key that holds the value, which tells by what the items of a list are known.
    """
    if base == new:
        return
    if isinstance(base, Mapping) and isinstance(new, Mapping) and base:
        for key, inner in base.items():
            yield from changed(inner, new.get(key, MISSING), (*path, key), str(key))
    elif _is_list(base) and _is_list(new) and base:
        pairs = enumerate(zip(base, _counterparts(base, new, field), strict=True))
        found = (leaf for index, (inner, other) in pairs for leaf in changed(inner, other, (*path, index), field))
        nameless = all(isinstance(one, Mapping) and identity(one, field) is None for one in (*base, *new))
        yield from _rarer(list(found), path, base, new) if nameless else found
    else:
        yield from (leaf for leaf, _ in leaves(base, path))


def _rarer(found: Sequence[Path], path: Path, base: Sequence[Any], new: Sequence[Any]) -> Iterator[Path]:
    """Those of the leaves that items without a name say less often now: what another item says instead only moved."""
    whole, left = (Counter(_pair(leaf, value) for leaf, value in leaves(items)) for items in (base, new))
    for leaf in found:
        inner = leaf[len(path) :]
        pair = _pair(inner, at(base, inner))
        if left[pair] < whole[pair]:
            yield leaf


def _pair(path: Path, value: Any) -> tuple[Path, str]:
    return tuple(part for part in path if isinstance(part, str)), repr(value)


def differences(before: Any, after: Any, path: Path = (), field: str = "") -> Iterator[tuple[Path, Any, Any]]:
    """What is new, gone or another, each at its highest place: path, old and new value, or `MISSING`.

    Paths are those of `after`; what is gone has its path in `before`.
    """
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*after, *(key for key in before if key not in after)):
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), (*path, key), str(key))
    elif _is_list(before) and _is_list(after):
        for index, (inner, other) in enumerate(zip(after, _counterparts(after, before, field), strict=True)):
            yield from differences(other, inner, (*path, index), field)
        for index, other in enumerate(_counterparts(before, after, field)):
            if other is MISSING:
                yield (*path, index), before[index], MISSING
    else:
        yield path, before, after


def identity(item: Any, field: str) -> str | int | None:
    """What a list item is known by: its merge key, name, key or kind; an option's name; a scalar itself; else None."""
    if isinstance(item, Mapping):
        keys = (MERGE_KEYS.get(field), "name", "key", "kind")
        found = next((item[key] for key in keys if key in item), None)
        return found if isinstance(found, str | int) else None
    if isinstance(item, str):
        return option(item) or item
    return item if isinstance(item, int) else None


def option(word: Any) -> str | None:
    """`--nnodes` of `--nnodes=4` and of itself; None for anything but a long option."""
    return word.partition("=")[0] if isinstance(word, str) and word.startswith("--") else None


def _counterparts(base: Sequence[Any], new: Sequence[Any], field: str) -> list[Any]:
    """For each item of `base` what it became in `new`, or `MISSING`.

    Items are known by their identity, or by all that they say where that tells no two apart. Equal beginnings and ends
    belong together, then items of one identity, and what is left in order where as many are left on both sides: an item
    whose name changed.
    """
    names = [[identity(one, field) for one in items] for items in (base, new)]
    twins = {name for counted in map(Counter, names) for name, count in counted.items() if count > 1}
    ours, theirs = (
        [repr(one) if name is None or name in twins else name for one, name in zip(items, named, strict=True)]
        for items, named in zip((base, new), names, strict=True)
    )
    short = min(len(ours), len(theirs))
    head = next((i for i in range(short) if ours[i] != theirs[i]), short)
    tail = next((i for i in range(short - head) if ours[-1 - i] != theirs[-1 - i]), short - head)
    middle = _by_identity(ours[head : len(ours) - tail], theirs[head : len(theirs) - tail])
    found = [*range(head), *(None if i is None else i + head for i in middle), *range(len(new) - tail, len(new))]
    return [MISSING if i is None else new[i] for i in found]


def _by_identity(ours: Sequence[object], theirs: Sequence[object]) -> list[int | None]:
    """For each of ours the place of its counterpart among theirs, the first one of a name with the first one."""
    places = {one: index for index, one in enumerate(_numbered(theirs))}
    found = [places.pop(one, None) for one in _numbered(ours)]
    left = sorted(places.values())
    if found.count(None) == len(left):
        rest = iter(left)
        return [next(rest) if index is None else index for index in found]
    return found


def _numbered(identities: Sequence[object]) -> list[tuple[object, int]]:
    seen: Counter[object] = Counter()
    out = []
    for one in identities:
        out.append((one, seen[one]))
        seen[one] += 1
    return out


def at(data: Any, path: Path) -> Any:
    """The value at a path, or `MISSING`."""
    for part in path:
        there = part in data if isinstance(data, Mapping) else _is_list(data) and part in range(len(data))
        if not there:
            return MISSING
        data = data[part]
    return data


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
