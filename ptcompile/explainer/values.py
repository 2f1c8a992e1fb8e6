"""Leaves of plain data, and paths and values for display."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import ne

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path, field_path
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.unstructured import MISSING, get
from ptcompile.report.layout import safe_text
from ptcompile.source import emitter

# made once: every value of a manifest is asked
_LISTS = (list, tuple)
_CONTAINERS = (dict, *_LISTS)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar, empty mapping and empty list in the order of the data, each with its
    path.
    """
    if not value or not isinstance(value, _CONTAINERS):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))


def innermost_lists(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the lists below a mapping that have no other list inside, each with its path.

    Items without a name are not entered: where they moved is only known of all of a list.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, _CONTAINERS):
                yield from innermost_lists(inner, (*path, key))
    elif value:
        inside = [
            each
            for index, item in enumerate(value)
            if isinstance(item, dict) and item.get("name")
            for each in innermost_lists(item, (*path, index))
        ]
        yield from inside or [(path, value)]


def changed_leaves(base: Any, new: Any, field: str = "") -> list[tuple[Path, Any]]:
    """Return the leaves in `base` that are missing or different in `new`: path and new value,
    `MISSING` without one. `field` is the key of a list, if it has one.

    A moved item is not a change.
    """
    changed: list[tuple[Path, Any]] = []
    if base != new:
        _add_changed_leaves(changed, base, new, (), field)
    return changed


def _add_changed_leaves(
    changed: list[tuple[Path, Any]], base: Any, new: Any, path: Path, field: str
) -> None:
    """Add the changed leaves of two different values. `field` is the key of the value, which
    determines how list items are identified.
    """
    if not base or not isinstance(base, _CONTAINERS):
        changed.append((path, new))
    elif isinstance(base, dict) and isinstance(new, dict):
        for key, inner in base.items():
            if inner != (counterpart := new.get(key, MISSING)):
                _add_changed_leaves(changed, inner, counterpart, (*path, key), str(key))
    elif isinstance(base, _LISTS) and isinstance(new, _LISTS):
        is_nameless = all(
            isinstance(item, dict) and identity(item, field) is None for item in (*base, *new)
        )
        of_items = [] if is_nameless else changed
        for index, (inner, counterpart) in enumerate(
            zip(base, _counterparts(base, new, field), strict=True)
        ):
            if inner != counterpart:
                _add_changed_leaves(of_items, inner, counterpart, (*path, index), field)

        if is_nameless:
            changed += _rarer_leaves(of_items, path, base, new)
    else:
        changed += [(leaf, MISSING) for leaf, _ in leaves(base, path)]


def _rarer_leaves(
    changed: Sequence[tuple[Path, Any]], path: Path, base: Sequence[Any], new: Sequence[Any]
) -> Iterator[tuple[Path, Any]]:
    """Yield the leaves that unnamed items now have less often: a leaf that another item has
    instead only moved.
    """
    old_counts, new_counts = (
        Counter(_keys_and_value(leaf, value) for leaf, value in leaves(items))
        for items in (base, new)
    )
    for leaf, new_value in changed:
        inner = leaf[len(path) :]
        pair = _keys_and_value(inner, value_at(base, inner))
        if new_counts[pair] < old_counts[pair]:
            yield leaf, new_value


def _keys_and_value(path: Path, value: Any) -> tuple[Path, str]:
    return tuple(part for part in path if isinstance(part, str)), repr(value)


def differences(
    before: Any, after: Any, path: Path = (), field: str = ""
) -> Iterator[tuple[Path, Any, Any]]:
    """Yield additions, removals and changes, each at its topmost path: path, old and new value, or
    `MISSING`.

    Paths are those of `after`, and those of `before` for removals.
    """
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*after, *(key for key in before if key not in after)):
            yield from differences(
                before.get(key, MISSING), after.get(key, MISSING), (*path, key), str(key)
            )
    elif isinstance(before, _LISTS) and isinstance(after, _LISTS):
        for index, (inner, counterpart) in enumerate(
            zip(after, _counterparts(after, before, field), strict=True)
        ):
            yield from differences(counterpart, inner, (*path, index), field)
        for index, counterpart in enumerate(_counterparts(before, after, field)):
            if counterpart is MISSING:
                yield (*path, index), before[index], MISSING
    else:
        yield path, before, after


def identity(item: Any, field: str) -> str | int | None:
    """Return what identifies a list item: its merge key, name, key or kind; an option's name; the
    scalar itself; or None.
    """
    if isinstance(item, dict):
        for key in (MERGE_KEYS.get(field), "name", "key", "kind"):
            if key in item:
                return item[key] if isinstance(item[key], str | int) else None
        return None
    if isinstance(item, str):
        return option_name(item) or item
    return item if isinstance(item, int) else None


def option_name(argument: Any) -> str | None:
    """Return `--nnodes` for `--nnodes=4` and `--nnodes`, or None for anything but a long option.

    Hyphens replace underscores, which torchrun before PyTorch 2.0 requires.
    """
    if not isinstance(argument, str) or not argument.startswith("--"):
        return None
    return argument.partition("=")[0].replace("_", "-")


def _counterparts(base: Sequence[Any], new: Sequence[Any], field: str) -> list[Any]:
    """Return the counterpart in `new` of each item of `base`, or `MISSING`.

    Items are matched by identity, or by their whole content if identities repeat. Equal items at
    the start and end are matched first, then items of the same identity. If equally many remain on
    both sides, they are matched in order, as renamed items.
    """
    head, tail = _common_ends(base, new)
    rest = len(base) - head - tail
    new_rest = len(new) - head - tail
    # single items need no identity
    if not rest or not new_rest or rest == new_rest == 1:
        return [
            *new[:head],
            *(new[head : head + new_rest] or [MISSING] * rest)[:rest],
            *new[len(new) - tail :],
        ]

    names = [[identity(item, field) for item in items] for items in (base, new)]
    repeated = {
        name for counted in map(Counter, names) for name, count in counted.items() if count > 1
    }
    ours, theirs = (
        [
            repr(item) if name is None or name in repeated else name
            for item, name in zip(items, side_names, strict=True)
        ]
        for items, side_names in zip((base, new), names, strict=True)
    )
    head, tail = _common_ends(ours, theirs)
    middle = _match_identities(ours[head : len(ours) - tail], theirs[head : len(theirs) - tail])
    indexes = [
        *range(head),
        *(None if i is None else i + head for i in middle),
        *range(len(new) - tail, len(new)),
    ]

    return [MISSING if i is None else new[i] for i in indexes]


def _common_ends(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[int, int]:
    """Return how many items two lists have in common at the start, and then at the end."""
    short = min(len(ours), len(theirs))
    head = next(compress(count(), map(ne, ours, theirs)), short)
    tail = next(compress(count(), map(ne, reversed(ours), reversed(theirs))), short)
    return head, min(tail, short - head)


def _match_identities(ours: Sequence[object], theirs: Sequence[object]) -> list[int | None]:
    """Return the index of each item's counterpart, matching repeated identities in order."""
    positions = {item: index for index, item in enumerate(_number_repeats(theirs))}
    matched = [positions.pop(item, None) for item in _number_repeats(ours)]
    unmatched = sorted(positions.values())
    if matched.count(None) == len(unmatched):
        rest = iter(unmatched)
        return [next(rest) if index is None else index for index in matched]
    return matched


def _number_repeats(identities: Sequence[object]) -> list[tuple[object, int]]:
    """Return each identity with the number of equal ones before it."""
    counts: Counter[object] = Counter()
    out = []
    for item in identities:
        out.append((item, counts[item]))
        counts[item] += 1
    return out


def value_at(data: Any, path: Path) -> Any:
    """Return the value at a path, or `MISSING`."""
    return get(data, path, MISSING)


_PATH_PART = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")


ItemNames = dict[int, list[str | int]]
"""Display names of list items by the identity of the list, filled on first use."""


def shown_path(path: Path, data: Any, named: ItemNames | None = None) -> str:
    """Return a path in the API server's notation, with list items by name if it is unique.

    Callers with many paths into the same data pass the same `named` each time.

    >>> shown_path(("env", 0, "value"), {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}]})
    'env[NCCL_DEBUG].value'
    """
    out = ""
    field = ""
    if named is None:
        named = {}
    for part in path:
        items = data
        data = data[part]
        if isinstance(part, int):
            if id(items) not in named:
                named[id(items)] = _item_names(items, field)
            out += f"[{named[id(items)][part]}]"
        else:
            out = _with_key(out, part)
            field = part

    return out


def _with_key(shown: str, key: str) -> str:
    """Return a displayed path with one more key."""
    step = field_path((key,))
    if shown and not step.startswith("["):
        return f"{shown}.{step}"
    return shown + step


class ShownLeaf(NamedTuple):
    """A leaf of a manifest, described by what is around it."""

    path: Path
    value: Any
    shown: str
    """The path for display, as `shown_path` returns it."""
    keys: tuple[str, ...]
    """The keys and names of list items on the path, innermost first, each with the key of its
    parent before it.
    """


def shown_leaves(
    value: Any, path: Path = (), shown: str = "", keys: tuple[str, ...] = (), field: str = ""
) -> Iterator[ShownLeaf]:
    """Yield the leaves in the order of `leaves`. The other arguments describe the value itself:
    `field` is its key.
    """
    if not value or not isinstance(value, _CONTAINERS):
        yield ShownLeaf(path, value, shown, keys)
    elif isinstance(value, dict):
        for key, inner in value.items():
            inner_keys = (f"{field}.{key}", key, *keys)
            yield from shown_leaves(inner, (*path, key), _with_key(shown, key), inner_keys, key)
    else:
        for index, (inner, name) in enumerate(zip(value, _item_names(value, field), strict=True)):
            item = identity(inner, field)
            inner_keys = (f"{field}.{item}", item, *keys) if isinstance(item, str) else keys
            yield from shown_leaves(inner, (*path, index), f"{shown}[{name}]", inner_keys, field)


def _item_names(items: Sequence[Any], field: str) -> list[str | int]:
    """Return for each list item its name if it is unique and not a number, else its index."""
    key = MERGE_KEYS.get(field, "name")
    values = [value.get(key) if isinstance(value, dict) else None for value in items]
    names = [value if isinstance(value, str) and not value.isdigit() else None for value in values]
    counts = Counter(names)
    return [i if name is None or counts[name] > 1 else name for i, name in enumerate(names)]


def path_parts(query: str) -> list[str]:
    """Return the parts of a typed path: `env[NCCL_DEBUG]`, `env.NCCL_DEBUG`,
    `command[--nnodes]`, `[0].name`.
    """
    return [
        bracket.strip("\"'") if bracket else part for bracket, part in _PATH_PART.findall(query)
    ]


def matches(query: Sequence[str], path: Path, data: Any, *, anywhere: bool = False) -> bool:
    """Return whether a path begins with the typed parts, or contains them with `anywhere`. Items
    match by index or name.
    """
    steps = list(_part_names(path, data))
    end = len(steps) - len(query) + 1
    starts = range(end if anywhere else min(1, end))
    return any(
        all(part in step for part, step in zip(query, steps[start:], strict=False))
        for start in starts
    )


def _part_names(path: Path, data: Any) -> Iterator[tuple[str, ...]]:
    """Yield for each part of a path the texts that match it."""
    field = ""
    for part in path:
        data = data[part]
        if isinstance(part, int):
            yield str(part), str(identity(data, field))
        else:
            field = part
            yield (part,)


def shown_value(value: Any, width: int | None = None) -> str:
    """Return a value on one line, of at most `width` characters if given, in YAML's flow style."""
    text = safe_text(_flow(value))
    if width is None or len(text) <= width:
        return text
    return f"{text[: width - 4]} ..."


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, _LISTS):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)

    line = emitter.emit({"": value}).partition(": ")[2].removesuffix("\n")
    if "\n" not in value and "\n" not in line:
        return line

    return json.dumps(value, ensure_ascii=False)
