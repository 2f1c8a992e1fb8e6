"""From a fix's edits to changes of data: what exactly becomes different, collection by collection.

A fix is carried out on the data first; the difference is what has to be written. So a list that a fix replaces keeps
the text of all its items that stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Path
from ptcompile.fixer.syntax_tree import CannotFix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal


class NodeChange(NamedTuple):
    """One difference in a mapping or a list; paths are of the data as it was.

    `replace`, `remove` and `rename` are about the part of that key or index; `add` gives a mapping a new key, `insert`
    gives a list a new item before the one of that index.
    """

    op: Literal["replace", "remove", "rename", "add", "insert"]
    box: Path
    part: Any
    value: Any = None

    @property
    def touches(self) -> Path:
        """What no other fix may touch in the same round; of a list that grows, its growth."""
        return (*self.box, "+" if self.op == "insert" else self.part)


def equal_json(one: object, other: object) -> bool:
    """Whether two values are the same JSON: `True` is not 1, and the order of keys does not count."""
    return one is other or canonical(one) == canonical(other)


def canonical(value: object) -> str:
    """A value as text that is the same for the same JSON."""
    return json.dumps(value, sort_keys=True)


def changes(data: Any, edits: Sequence[Edit]) -> list[NodeChange]:
    """What the edits change, each carried out on the result of those before it. Raises `CannotFix`."""
    new = data
    renamed: dict[Path, str] = {}
    for edit in edits:
        if edit.op == "rename":
            renamed[edit.path] = str(edit.value)
        new = edited(new, edit)
    if len(edits) == 1 and edits[0].op == "remove":
        return [NodeChange("remove", edits[0].path[:-1], edits[0].path[-1])]  # of equal items, this one
    return list(_difference(data, new, (), renamed))


def edited(data: Any, edit: Edit, at: int = 0) -> Any:
    """A copy of the data with one edit carried out. Raises `CannotFix` where the data has no such place."""
    path = edit.path
    if at == len(path):
        return _last(data, edit)
    part = path[at]
    if at == len(path) - 1 and edit.op in ("remove", "rename"):
        return _without(data, edit, part)
    if data is None and edit.op in ("set", "append"):
        data = [] if isinstance(part, int) else {}
    if isinstance(data, dict) and isinstance(part, str):
        if part not in data and edit.op not in ("set", "append"):
            raise CannotFix("the field is not there")
        return {**data, part: edited(data.get(part), edit, at + 1)}
    if isinstance(data, list) and isinstance(part, int) and 0 <= part <= len(data):
        item = edited(data[part] if part < len(data) else None, edit, at + 1)
        return [*data[:part], item, *data[part + 1 :]]
    raise CannotFix("the field is not there")


def _last(data: Any, edit: Edit) -> Any:
    if edit.op == "set" and edit.path:
        return edit.value
    if edit.op == "append" and (data is None or isinstance(data, list)):
        return [*(data or ()), edit.value]
    raise CannotFix("there is no list to append to" if edit.op == "append" else "the field is not there")


def _without(data: Any, edit: Edit, part: str | int) -> Any:
    there = part in data if isinstance(data, dict) else isinstance(data, list) and part in range(len(data))
    if not there:
        raise CannotFix("the field is not there")
    if edit.op == "remove":
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if key != part}
        return [*data[: int(part)], *data[int(part) + 1 :]]
    if not isinstance(data, dict):
        raise CannotFix("an item of a list has no name")
    if edit.value in data:
        raise CannotFix(f"{edit.value} is already there")
    return {edit.value if key == part else key: value for key, value in data.items()}


def _difference(old: Any, new: Any, box: Path, renamed: dict[Path, str]) -> Iterable[NodeChange]:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _of_mappings(old, new, box, renamed)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(old, new, box, renamed)
    elif not equal_json(old, new):
        if not box:
            raise CannotFix("the whole document would change")
        yield NodeChange("replace", box[:-1], box[-1], new)


def _of_mappings(old: dict[str, Any], new: dict[str, Any], box: Path, renamed: dict[Path, str]) -> Iterable[NodeChange]:
    names = {key: renamed[*box, key] for key in old if (*box, key) in renamed}
    if any(key in new or name not in new for key, name in names.items()):
        names = {}  # names that change places: as if rewritten
    for key, value in old.items():
        if key in names:
            yield NodeChange("rename", box, key, names[key])
            yield from _difference(value, new[names[key]], (*box, key), renamed)
        elif key in new:
            yield from _difference(value, new[key], (*box, key), renamed)
        else:
            yield NodeChange("remove", box, key)
    for key, value in new.items():
        if key not in old and key not in names.values():
            yield NodeChange("add", box, key, value)


def _of_lists(old: list[Any], new: list[Any], box: Path, renamed: dict[Path, str]) -> Iterable[NodeChange]:
    for start, end, new_start, new_end in _unlike(old, new):
        both = min(end - start, new_end - new_start)
        for at in range(both):
            yield from _difference(old[start + at], new[new_start + at], (*box, start + at), renamed)
        for at in range(start + both, end):
            yield NodeChange("remove", box, at)
        for at in range(new_start + both, new_end):
            yield NodeChange("insert", box, end, new[at])


def _unlike(old: list[Any], new: list[Any]) -> Iterable[tuple[int, int, int, int]]:
    """Where lists differ, as stretches of both; lists of one length are compared item by item."""
    if len(old) == len(new):
        return [(at, at + 1, at, at + 1) for at in range(len(old)) if old[at] is not new[at]]
    from difflib import SequenceMatcher

    unlike = next((at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one is not two), None)
    start = min(len(old), len(new)) if unlike is None else unlike
    before, after = ([canonical(one) for one in listed[start:]] for listed in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [(start + i, start + j, start + k, start + m) for op, i, j, k, m in matcher.get_opcodes() if op != "equal"]


def by_box(found: Iterable[NodeChange]) -> dict[Path, list[NodeChange]]:
    """The changes of each collection."""
    boxes: dict[Path, list[NodeChange]] = {}
    for change in found:
        boxes.setdefault(change.box, []).append(change)
    return boxes


def apply_changes(data: Any, found: Iterable[NodeChange]) -> Any:
    """A copy of the data with the changes made, those of several fixes together."""
    boxes = by_box(found)
    for box in sorted(boxes, key=len, reverse=True):  # the innermost first: the paths above are still the old ones
        data = _put(data, box, boxes[box])
    return data


def _put(data: Any, path: Path, here: list[NodeChange]) -> Any:
    if not path:
        return _mapping(data, here) if isinstance(data, dict) else _list(data, here)
    inner = _put(data[path[0]], path[1:], here)
    if isinstance(data, dict):
        return {**data, path[0]: inner}
    return [*data[: path[0]], inner, *data[int(path[0]) + 1 :]]


def _mapping(data: dict[str, Any], here: list[NodeChange]) -> dict[str, Any]:
    given: dict[str, Any] = {change.part: change.value for change in here if change.op in ("replace", "add")}
    names: dict[str, str] = {change.part: change.value for change in here if change.op == "rename"}
    gone = {change.part for change in here if change.op == "remove"}
    out = {names.get(key, key): given.pop(key, value) for key, value in data.items() if key not in gone}
    return out | given


def _list(data: list[Any], here: list[NodeChange]) -> list[Any]:
    own = {change.part: change for change in here if change.op != "insert"}
    before: dict[str | int, list[Any]] = {}
    for change in here:
        if change.op == "insert":
            before.setdefault(change.part, []).append(change.value)
    out: list[Any] = []
    for at in range(len(data) + 1):
        out += before.get(at, ())
        if at < len(data) and (at not in own or own[at].op == "replace"):
            out.append(own[at].value if at in own else data[at])
    return out


class Taken:
    """What the fixes of a round touch already: another one that touches it, or something above or below, waits."""

    def __init__(self) -> None:
        self._exactly: set[Path] = set()
        self._above: set[Path] = set()

    def take(self, found: Iterable[NodeChange]) -> bool:
        """Whether these places are still untouched; then they are claimed."""
        paths = {change.touches for change in found}
        if any(self._meets(path) for path in paths):
            return False
        self._exactly |= paths
        self._above |= {path[:n] for path in paths for n in range(len(path))}
        return True

    def _meets(self, path: Path) -> bool:
        return path in self._above or any(path[: n + 1] in self._exactly for n in range(len(path)))
