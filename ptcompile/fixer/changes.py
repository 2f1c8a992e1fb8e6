"""From a fix's edits to data changes, one collection at a time.

The edits are applied to the data first, and only the difference is written. If a fix replaces a
list, the items that stay keep their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Edit, Path
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode
from ptcompile.kubernetes.unstructured import JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class NodeChange(NamedTuple):
    """One change of a mapping or a list; paths refer to the original data.

    `replace`, `remove` and `rename` change the part with that key or index; `add` gives a mapping a
    new key, and `insert` gives a list a new item before that index.
    """

    op: Literal["replace", "remove", "rename", "add", "insert"]
    box: Path
    part: Any
    value: Any = None

    @property
    def touches(self) -> Path:
        """The path that no other fix may touch in the same round; for an insertion, a marker for
        the list's length.
        """
        return (*self.box, "+" if self.op == "insert" else self.part)


def equal_json(a: object, b: object) -> bool:
    """Return whether two values are the same JSON: `True` is not 1, and the order of keys is
    ignored.
    """
    return a is b or canonical(a) == canonical(b)


def canonical(value: object) -> str:
    """Return text that is equal for equal JSON values."""
    return json.dumps(value, sort_keys=True)


def changes(data: Any, edits: Sequence[Edit]) -> list[NodeChange]:
    """Return the changes of the edits, each applied to the result of the previous one. Raises
    `CannotFix`.
    """
    new = data
    renamed: dict[Path, str] = {}
    for edit in edits:
        if edit.op == "rename":
            renamed[edit.path] = str(edit.value)
        new = apply_edit(new, edit)

    if [edit.op for edit in edits] == ["remove"]:
        (edit,) = edits
        # a comparison of old and new data could pick another of several equal items
        return [NodeChange("remove", edit.path[:-1], edit.path[-1])]

    return list(_diff_values(data, new, (), renamed))


def apply_edit(data: Any, edit: Edit, depth: int = 0) -> Any:
    """Return a copy of the data with one edit applied. Raises `CannotFix` if the path does not
    exist.
    """
    path = edit.path
    if depth == len(path):
        return _edit_value(data, edit)

    part = path[depth]
    if depth == len(path) - 1 and edit.op in ("remove", "rename"):
        return _remove_or_rename(data, edit, part)

    if data is None and edit.op in ("set", "append"):
        data = [] if isinstance(part, int) else {}
    if isinstance(data, dict) and isinstance(part, str):
        if part not in data and edit.op not in ("set", "append"):
            raise CannotFix("the field does not exist")
        return {**data, part: apply_edit(data.get(part), edit, depth + 1)}
    if isinstance(data, list) and isinstance(part, int) and 0 <= part <= len(data):
        item = apply_edit(data[part] if part < len(data) else None, edit, depth + 1)
        return [*data[:part], item, *data[part + 1 :]]

    raise CannotFix("the field does not exist")


def _edit_value(data: Any, edit: Edit) -> Any:
    if edit.op == "set" and edit.path:
        return edit.value
    if edit.op == "append" and (data is None or isinstance(data, list)):
        return [*(data or ()), edit.value]
    missing = "list to append to" if edit.op == "append" else "field"
    raise CannotFix(f"the {missing} does not exist")


def _remove_or_rename(data: Any, edit: Edit, part: str | int) -> Any:
    if isinstance(data, dict):
        exists = part in data
    else:
        exists = isinstance(data, list) and part in range(len(data))
    if not exists:
        raise CannotFix("the field does not exist")
    if edit.op == "remove":
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if key != part}
        return [*data[: int(part)], *data[int(part) + 1 :]]
    if not isinstance(data, dict):
        raise CannotFix("an item of a list has no name")
    if edit.value in data:
        raise CannotFix(f"{edit.value} is already there")
    return {edit.value if key == part else key: value for key, value in data.items()}


def _diff_values(old: Any, new: Any, box: Path, renamed: dict[Path, str]) -> Iterable[NodeChange]:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _diff_mappings(old, new, box, renamed)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _diff_lists(old, new, box, renamed)
    elif not equal_json(old, new):
        if not box:
            raise CannotFix("the whole document would change")
        yield NodeChange("replace", box[:-1], box[-1], new)


def _diff_mappings(
    old: JsonDict, new: JsonDict, box: Path, renamed: dict[Path, str]
) -> Iterable[NodeChange]:
    names = {key: renamed[*box, key] for key in old if (*box, key) in renamed}
    if any(key in new or name not in new for key, name in names.items()):
        names = {}  # swapped names: treat them as changed values
    for key, value in old.items():
        if key in names:
            yield NodeChange("rename", box, key, names[key])
            yield from _diff_values(value, new[names[key]], (*box, key), renamed)
        elif key in new:
            yield from _diff_values(value, new[key], (*box, key), renamed)
        else:
            yield NodeChange("remove", box, key)

    for key, value in new.items():
        if key not in old and key not in names.values():
            yield NodeChange("add", box, key, value)


def _diff_lists(
    old: list[Any], new: list[Any], box: Path, renamed: dict[Path, str]
) -> Iterable[NodeChange]:
    for start, end, new_start, new_end in _differing_ranges(old, new):
        both = min(end - start, new_end - new_start)
        for index in range(both):
            yield from _diff_values(
                old[start + index], new[new_start + index], (*box, start + index), renamed
            )
        for index in range(start + both, end):
            yield NodeChange("remove", box, index)
        for index in range(new_start + both, new_end):
            yield NodeChange("insert", box, end, new[index])


def _differing_ranges(old: list[Any], new: list[Any]) -> Iterable[tuple[int, int, int, int]]:
    """Return the ranges in which two lists differ; lists of equal length are compared item by
    item.
    """
    if len(old) == len(new):
        return [
            (index, index + 1, index, index + 1)
            for index in range(len(old))
            if old[index] is not new[index]
        ]

    from difflib import SequenceMatcher

    difference = next(
        (
            index
            for index, (old_item, new_item) in enumerate(zip(old, new, strict=False))
            if old_item is not new_item
        ),
        None,
    )
    start = min(len(old), len(new)) if difference is None else difference
    before, after = ([canonical(old_item) for old_item in items[start:]] for items in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)

    return [
        (start + i, start + j, start + k, start + m)
        for op, i, j, k, m in matcher.get_opcodes()
        if op != "equal"
    ]


def removed_parts(removals: Iterable[NodeChange]) -> set[Any]:
    """Return the keys or indexes that the changes remove."""
    return {change.part for change in removals if change.op == "remove"}


def removed_entries(node: SyntaxNode, removals: Iterable[NodeChange]) -> list[int]:
    """Return the indexes of the entries of a mapping that the changes remove."""
    names = removed_parts(removals)
    return [index for index, entry in enumerate(node.entries) if entry.name in names]


def group_by_box(changes: Iterable[NodeChange]) -> dict[Path, list[NodeChange]]:
    """Group the changes by collection."""
    boxes: dict[Path, list[NodeChange]] = {}
    for change in changes:
        boxes.setdefault(change.box, []).append(change)
    return boxes


def apply_changes(data: Any, changes: Iterable[NodeChange]) -> Any:
    """Return a copy of the data with the changes of one or more fixes applied."""
    boxes = group_by_box(changes)
    for box in sorted(boxes, key=len, reverse=True):  # innermost first, so outer paths stay valid
        data = _change_inside(data, box, boxes[box])
    return data


def _change_inside(data: Any, path: Sequence[Any], changes: list[NodeChange]) -> Any:
    if not path:
        if isinstance(data, dict):
            return _change_mapping(data, changes)
        return _change_list(data, changes)
    key, *rest = path
    inner = _change_inside(data[key], rest, changes)
    if isinstance(data, dict):
        return {**data, key: inner}
    return [*data[:key], inner, *data[key + 1 :]]


def _change_mapping(data: JsonDict, changes: list[NodeChange]) -> JsonDict:
    values: JsonDict = {
        change.part: change.value for change in changes if change.op in ("replace", "add")
    }
    names: dict[str, str] = {
        change.part: change.value for change in changes if change.op == "rename"
    }
    removed = removed_parts(changes)
    result = {
        names.get(key, key): values.pop(key, value)
        for key, value in data.items()
        if key not in removed
    }

    return result | values


def _change_list(data: list[Any], changes: list[NodeChange]) -> list[Any]:
    by_index = {change.part: change for change in changes if change.op != "insert"}
    before: dict[str | int, list[Any]] = {}
    for change in changes:
        if change.op == "insert":
            before.setdefault(change.part, []).append(change.value)
    result: list[Any] = []
    for index in range(len(data) + 1):
        result += before.get(index, ())
        if index < len(data) and (index not in by_index or by_index[index].op == "replace"):
            result.append(by_index[index].value if index in by_index else data[index])

    return result


class ClaimedPaths:
    """The paths that the fixes of a round touch. A fix that overlaps them waits for the next
    round.
    """

    def __init__(self) -> None:
        self._exactly: set[Path] = set()
        self._above: set[Path] = set()

    def take(self, changes: Iterable[NodeChange]) -> bool:
        """Claim the paths of these changes and return True, or return False if any overlaps a
        claimed one.
        """
        paths = {change.touches for change in changes}
        if any(
            path in self._above or any(path[: n + 1] in self._exactly for n in range(len(path)))
            for path in paths
        ):
            return False
        self._exactly |= paths
        self._above |= {path[:n] for path in paths for n in range(len(path))}
        return True
