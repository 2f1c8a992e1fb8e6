"""Plain data leaf by leaf, and paths and values as people write them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.paths import MISSING, get
from ptcompile.diagnostics import Path, field_path
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.report.layout import printable
from ptcompile.source import emitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def changed_paths(base: Any, new: Any, path: Path = (), field: str = "") -> Iterator[Path]:
    """The leaves of `base`, by path, that are gone or another in `new`. An item that only moved is no change.

    `field` is the key that holds the value, which tells by what the items of a list are known.
    """
    if base == new:
        return
    if isinstance(base, Mapping) and isinstance(new, Mapping) and base:
        for key, inner in base.items():
            yield from changed_paths(inner, new.get(key, MISSING), (*path, key), str(key))
    elif _is_list(base) and _is_list(new) and base:
        pairs = enumerate(zip(base, _counterparts(base, new, field), strict=True))
        found = (leaf for index, (inner, other) in pairs for leaf in changed_paths(inner, other, (*path, index), field))
        nameless = all(isinstance(one, Mapping) and identity(one, field) is None for one in (*base, *new))
        yield from _rarer(list(found), path, base, new) if nameless else found
    else:
        yield from (leaf for leaf, _ in leaves(base, path))


def _rarer(found: Sequence[Path], path: Path, base: Sequence[Any], new: Sequence[Any]) -> Iterator[Path]:
    """Those of the leaves that items without a name say less often now: what another item says instead only moved."""
    whole, left = (Counter(_pair(leaf, value) for leaf, value in leaves(items)) for items in (base, new))
    for leaf in found:
        inner = leaf[len(path) :]
        pair = _pair(inner, value_at(base, inner))
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


def value_at(data: Any, path: Path) -> Any:
    """The value at a path, or `MISSING`."""
    return get(data, path, MISSING)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


_WORD = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")


Named = dict[int, list[str | int]]
"""By the identity of a list, what its items are called: made when it is first asked for."""


def shown_path(path: Path, data: Any, named: Named | None = None) -> str:
    """A path in the API server's notation, list items by name where they have one of their own.

    Who asks for many paths of the same data gives the same `named` each time.

    >>> shown_path(("env", 0, "value"), {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}]})
    'env[NCCL_DEBUG].value'
    """
    out, field = "", ""
    named = {} if named is None else named
    for part in path:
        items = data
        data = data[part]
        if isinstance(part, int):
            if id(items) not in named:
                named[id(items)] = _names(items, field)
            out += f"[{named[id(items)][part]}]"
        else:
            step = field_path((part,))
            out += step if not out or step.startswith("[") else f".{step}"
            field = part
    return out


def _names(items: Sequence[Any], field: str) -> list[str | int]:
    """For each list item its name where no other item has it and it is not a number, else its index."""
    key = MERGE_KEYS.get(field, "name")
    given = [one.get(key) if isinstance(one, Mapping) else None for one in items]
    names = [one if isinstance(one, str) and not one.isdigit() else None for one in given]
    counts = Counter(names)
    return [i if name is None or counts[name] > 1 else name for i, name in enumerate(names)]


def words(query: str) -> list[str]:
    """The parts of a path as typed: `env[NCCL_DEBUG]`, `env.NCCL_DEBUG`, `command[--nnodes]`, `[0].name`."""
    return [bracket.strip("\"'") if bracket else word for bracket, word in _WORD.findall(query)]


def matches(query: Sequence[str], path: Path, data: Any, *, anywhere: bool = False) -> bool:
    """Whether a path begins with what was typed, or with `anywhere` has it somewhere. An item goes by index or name."""
    steps = list(_steps(path, data))
    starts = range(len(steps) - len(query) + 1) if anywhere else range(min(1, len(steps) - len(query) + 1))
    return any(all(word in step for word, step in zip(query, steps[start:], strict=False)) for start in starts)


def _steps(path: Path, data: Any) -> Iterator[tuple[str, ...]]:
    """For each part of a path the words that mean it."""
    field = ""
    for part in path:
        data = data[part]
        if isinstance(part, int):
            yield str(part), str(identity(data, field))
        else:
            field = part
            yield (part,)


def shown_value(value: Any, width: int = 100) -> str:
    """A value in one line of at most `width` characters, as YAML's flow style writes it."""
    text = printable(_flow(value))
    return text if len(text) <= width else f"{text[: width - 4]} ..."


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    line = emitter.emit({"": value}).partition(": ")[2].removesuffix("\n")
    return line if "\n" not in value and "\n" not in line else json.dumps(value, ensure_ascii=False)
