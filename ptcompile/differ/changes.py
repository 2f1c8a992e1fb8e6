"""Comparison of two objects, path by path.

Lists of mappings without names are compared by deepdiff, whose import takes as long as compiling
both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.defaulting.meaning import is_default
from ptcompile.differ.model import Change, ChangeKind, KeyPath
from ptcompile.differ.normal import Keyed, hidden, normalize, to_plain_data
from ptcompile.kubernetes.unstructured import Json, get

ListChanges = list[tuple[int, "ChangeKind"]]
"""Changed items by index: in the second list for an added item, else in the first."""


def diff_plain_lists(old: list[Any], new: list[Any], *, zipped: bool) -> ListChanges:
    """Compare lists of scalars the way deepdiff does for other lists: by index if that needs no
    more changes, or if `zipped`.
    """
    by_index = list(_diff_by_index(old, new, 0, 0))
    if zipped:
        return by_index

    from difflib import SequenceMatcher

    aligned: ListChanges = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            aligned += _diff_by_index(old[a:b], new[c:d], a, c)
    if len(aligned) > 1 and len(aligned) >= len(by_index):
        return by_index

    removed, added = (
        {index for index, kind in aligned if kind == expected} for expected in ("removed", "added")
    )
    rest = [
        (index, kind)
        for index, kind in aligned
        if index not in removed & added or kind == "changed"
    ]

    return [*rest, *((index, "changed") for index in sorted(removed & added))]


def _diff_by_index(
    old: list[Any], new: list[Any], first: int, second: int
) -> Iterator[tuple[int, ChangeKind]]:
    """Yield the items that differ at the same index, then the extra items. The lists begin at
    the given indexes.
    """
    for i, (left, right) in enumerate(zip(old, new, strict=False)):
        if type(left) is not type(right) or left != right:
            yield first + i, "changed"
    yield from ((first + i, "removed") for i in range(len(new), len(old)))
    yield from ((second + i, "added") for i in range(len(old), len(new)))


_ORDERED_LISTS = frozenset({"containers", "initContainers", "replicatedJobs", "tasks"})
"""Lists of named items whose order matters. That of env matters if a value names an earlier
variable.
"""

MAX_VALUES = 4000
"""Number of values in differing parts above which whole fields are shown. A few lines of aliases
can make such an object.
"""

MAX_ALIGNED_ITEMS = 1000
"""Number of items above which lists are compared by index: aligning two lists costs the product
of their lengths.
"""

_DEEPDIFF_KINDS: dict[str, ChangeKind] = {
    "dictionary_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_added": "added",
    "iterable_item_removed": "removed",
    "values_changed": "changed",
    "type_changes": "changed",
    "repetition_change": "changed",
}


def changes(before: Json, after: Json) -> tuple[Change, ...]:
    """Return the differences between two objects of one kind, sorted by path, with secrets
    masked.
    """
    old = normalize(before)
    new = normalize(after)
    # masking is slow, and often every difference is a default, which needs no masked values
    masked = cache(lambda: (normalize(hidden(before)), normalize(hidden(after))))
    value_changes = (
        _make_change(kind, keys, old, new, masked) for kind, keys in _differences(old, new)
    )

    return tuple(
        sorted(
            (*filter(None, value_changes), *_reordered_lists(old, new, ())),
            key=lambda change: [_sort_key(part) for part in change.path],
        )
    )


def changed_paths(before: Json, after: Json) -> Iterator[KeyPath]:
    """Yield the paths at which two stored objects differ, without regard to what an absent field
    means.
    """
    old = normalize(before)
    new = normalize(after)
    yield from (
        _display_path(keys, old if kind == "removed" else new)
        for kind, keys in _differences(old, new)
    )
    yield from (change.path for change in _reordered_lists(old, new, ()))


def _differences(old: Json, new: Json) -> Iterator[tuple[ChangeKind, list[Any]]]:
    """Yield the kind and keys of each difference: of whole fields for objects with too many, and of
    each item of a list that only one side has, since a list exists once it has an item.
    """
    if _is_equal(old, new):
        return
    if _count_differing(old, new) > MAX_VALUES:
        for key in dict.fromkeys((*old, *new)):
            if key not in old:
                yield "added", [key]
            elif key not in new:
                yield "removed", [key]
            elif not _is_equal(old[key], new[key]):
                yield "changed", [key]
        return

    zipped = max(_longest_list(old), _longest_list(new)) > MAX_ALIGNED_ITEMS
    for kind, keys in _iter_differences(old, new, [], zipped):
        whole = get(old if kind == "removed" else new, keys)
        if isinstance(whole, Keyed) and kind != "changed":
            yield from ((kind, [*keys, key]) for key in whole)
        else:
            yield kind, keys


def _is_equal(a: Any, b: Any) -> bool:
    """Return whether two values are equal, types included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_is_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    return bool(a == b)


def _count_leaves(value: Any, limit: int) -> int:
    """Return the number of scalar values, counting up to `limit`."""
    if not isinstance(value, dict | list):
        return 1
    count = 1
    for inner in value.values() if isinstance(value, dict) else value:
        if count > limit:
            break
        count += _count_leaves(inner, limit - count)
    return count


def _count_differing(old: Any, new: Any) -> int:
    """Return the number of values in the differing parts, counting up to `MAX_VALUES`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys((*old, *new))
        parts = [(old.get(key), new.get(key)) for key in keys]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        parts = list(zip(old, new, strict=True))
    else:
        return max(_count_leaves(old, MAX_VALUES), _count_leaves(new, MAX_VALUES))

    count = 0
    for left, right in parts:
        if count > MAX_VALUES:
            break
        if not _is_equal(left, right):
            count += _count_differing(left, right)

    return count


def _prune_common(old: Any, new: Any) -> tuple[Any, Any]:
    """Return both sides without their common parts, because deepdiff also spends time on equal
    values.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        both = {
            key: _prune_common(old[key], new[key])
            for key in old
            if key in new and not _is_equal(old[key], new[key])
        }
        sides = []
        for index, side, opposite in ((0, old, new), (1, new, old)):
            sides.append(
                type(side)(
                    {
                        k: both[k][index] if k in both else v
                        for k, v in side.items()
                        if k in both or k not in opposite
                    }
                )
            )

        return sides[0], sides[1]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [
            (None, None) if _is_equal(x, y) else _prune_common(x, y)
            for x, y in zip(old, new, strict=True)
        ]
        return [x for x, _ in pairs], [y for _, y in pairs]
    return old, new


def _iter_differences(
    old: Any, new: Any, keys: list[Any], zipped: bool
) -> Iterator[tuple[ChangeKind, list[Any]]]:
    """Yield the kind and keys of each difference. With `zipped`, lists are compared by index."""
    if type(old) is not type(new):
        yield "changed", keys
    elif isinstance(old, dict):
        for key in dict.fromkeys((*old, *new)):
            if key not in new:
                yield "removed", [*keys, key]
            elif key not in old:
                yield "added", [*keys, key]
            elif not _is_equal(old[key], new[key]):
                yield from _iter_differences(old[key], new[key], [*keys, key], zipped)
    elif not isinstance(old, list):
        yield "changed", keys
    elif any(isinstance(item, dict | list) for item in (*old, *new)):
        yield from _deepdiff_lists(old, new, keys, zipped)
    else:
        for index, kind in diff_plain_lists(*_prune_common(old, new), zipped=zipped):
            yield kind, [*keys, index]


def _deepdiff_lists(
    old: Any, new: Any, keys: list[Any], zipped: bool
) -> Iterator[tuple[ChangeKind, list[Any]]]:
    """Yield the kind of each difference between two lists, with its keys."""
    try:
        from deepdiff import DeepDiff
    except ImportError:
        # deepdiff needs a native module for which this platform has no wheel
        yield from _iter_item_differences(old, new, keys, zipped)
        return

    deep_diff = DeepDiff(
        *_prune_common(old, new),
        view="tree",
        # by default, names that begin with two underscores are skipped
        ignore_private_variables=False,
        threshold_to_diff_deeper=0,  # by default, mappings that share little count as one change
        zip_ordered_iterables=zipped,
    )
    for kind, levels in deep_diff.items():
        for level in levels:
            yield _DEEPDIFF_KINDS[kind], [*keys, *level.path(output_format="list")]


def _iter_item_differences(
    old: list[Any], new: list[Any], keys: list[Any], zipped: bool
) -> Iterator[tuple[ChangeKind, list[Any]]]:
    """Yield what differs between the items of the same indexes."""
    for index, (old_item, new_item) in enumerate(zip(old, new, strict=False)):
        if not _is_equal(old_item, new_item):
            yield from _iter_differences(old_item, new_item, [*keys, index], zipped)
    yield from (("removed", [*keys, index]) for index in range(len(new), len(old)))
    yield from (("added", [*keys, index]) for index in range(len(old), len(new)))


def _longest_list(value: Any) -> int:
    """Return the number of items of the longest list."""
    if isinstance(value, dict):
        return max(map(_longest_list, value.values()), default=0)
    if isinstance(value, list) and value:
        return max(len(value), *map(_longest_list, value))
    return 0


def _sort_key(part: str) -> tuple[int, str]:
    """Return a sort key that orders indexes by number."""
    number = part[1:-1]
    if part.startswith("[") and is_short_number(number):
        return (int(number), "")
    return (-1, part)


def _make_change(
    kind: ChangeKind, keys: list[Any], old: Json, new: Json, masked: Callable[[], tuple[Json, Json]]
) -> Change | None:
    """Return a difference with its values, or None for one without a meaning."""
    holder, absent = (old, new) if kind == "removed" else (new, old)
    path = _display_path(keys, holder)
    is_one_sided = kind in ("added", "removed")
    if is_one_sided and isinstance(keys[-1], str) and is_default(path, get(holder, keys), absent):
        return None

    def values(sides: tuple[Json, Json]) -> list[Any]:
        absent_kinds = zip(("added", "removed"), sides, strict=True)
        return [
            None if kind == absent_kind else to_plain_data(get(side, keys))
            for absent_kind, side in absent_kinds
        ]

    before, after = values(masked())
    if is_one_sided and before is None and after is None:
        return None

    return Change(path, kind, before, after, masked=[before, after] != values((old, new)))


def _display_path(keys: list[Any], root: Any) -> KeyPath:
    """Return the path with list items in brackets."""
    out: list[str] = []
    for key in keys:
        is_item = isinstance(root, Keyed | list)
        out.append(f"[{key}]" if is_item else str(key))
        root = get(root, (key,))
    return tuple(out)


def _reordered_lists(old: Any, new: Any, path: KeyPath) -> Iterator[Change]:
    """Yield lists whose common items are in another order, if their order matters."""
    if isinstance(old, dict) and isinstance(new, dict):
        if isinstance(old, Keyed) and isinstance(new, Keyed) and _is_order_relevant(path, old, new):
            before = [k for k in old if k in new]
            after = [k for k in new if k in old]
            if before != after:
                yield Change(path, "moved", before, after)
        for key in old:
            if key in new:
                part = f"[{key}]" if isinstance(old, Keyed) else key
                yield from _reordered_lists(old[key], new[key], (*path, part))
    elif isinstance(old, list) and isinstance(new, list):
        for i, (left, right) in enumerate(zip(old, new, strict=False)):
            yield from _reordered_lists(left, right, (*path, f"[{i}]"))


def _is_order_relevant(path: KeyPath, *lists: Keyed) -> bool:
    if path[-1:] == ("env",):
        return any(
            "$(" in str(entry.get("value", "")) for entries in lists for entry in entries.values()
        )
    return bool(path) and path[-1] in _ORDERED_LISTS
