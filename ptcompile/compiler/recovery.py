"""Recover from mistakes: keep the correct parts of a document, and report only independent mistakes
of later stages.

Each stage continues after the errors of an earlier one, so that the first run reports every
independent mistake. Rejected values are fixed or removed before the next stage runs; findings that
the removal may cause are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Edit, Path, Problem, Problems
from ptcompile.diagnostics.fixes import nearest_label
from ptcompile.kubernetes.unstructured import Json, JsonDict, get

_TABLE = load_table("compiler/recovery.json")
_ABSENT = frozenset({"spec-missing-field", "required-value"})
_DEVICES = frozenset({"gpu", "devices"})
_VOLUMES = frozenset({"volumes", "volumeMounts", "podTemplate", "sharedMemory"})
_NEEDED: dict[Path, Any] = {
    ("apiVersion",): "ptcompile/v1",
    ("kind",): "TrainingJob",
    ("spec", "image"): "image",
}


def independent_errors(
    problems: Iterable[Problem], earlier: Iterable[Problem], data: Json
) -> Problems:
    """Yield the errors of a stage about values that no earlier finding concerns.

    Errors that removals from `data` may have caused are dropped.
    """
    earlier_problems = list(earlier)
    earlier_paths = {candidate.path for candidate in earlier_problems}
    ancestors = {path[:size] for path in earlier_paths for size in range(len(path) + 1)}
    holders = {path[:-1] for path in earlier_paths}
    _, removed = without_mistakes(
        data, [candidate for candidate in earlier_problems if candidate.severity == "error"]
    )
    for candidate in problems:
        is_inside = any(
            candidate.path[:size] in earlier_paths for size in range(1, len(candidate.path) + 1)
        )
        if candidate.severity != "error" or is_inside or candidate.path in ancestors:
            continue
        if not _path_exists(data, candidate):
            continue

        is_of_value = candidate.name in _TABLE["singleValue"]
        if removed & _VOLUMES and not _VOLUMES.isdisjoint(candidate.path) and not is_of_value:
            continue  # a mount of a removed volume

        lost_devices = removed & _DEVICES or ("spec", "resources") in earlier_paths
        if lost_devices and (
            candidate.path == ("spec", "accelerator") or _compared_fields(candidate) >= _DEVICES
        ):
            # an accelerator that no node requests anymore, or a comparison with its devices
            continue

        is_compared = candidate.name in _TABLE["compared"] and not removed & _compared_fields(
            candidate
        )
        is_absent = candidate.name in _ABSENT and candidate.path[:-1] not in holders
        if is_of_value or is_compared or is_absent:
            yield candidate


def _compared_fields(problem: Problem) -> frozenset[str]:
    return frozenset(_TABLE["compared"].get(problem.name, ()))


def _path_exists(data: Json, problem: Problem) -> bool:
    """Return whether the document has the problem's path, or the parent of a missing field."""
    holder = get(data, problem.path[:-1])
    key = problem.path[-1] if problem.path else ""
    if problem.name in _ABSENT:
        return holder is not None
    if isinstance(holder, list):
        return key in range(len(holder))
    return key in (holder or ())


def without_mistakes(data: Json, mistakes: Iterable[Problem]) -> tuple[JsonDict | None, set[str]]:
    """Return a copy without the mistakes, or None if nothing remains, and the removed keys."""
    remaining = _copy(data, {})
    removed = set[str]()
    for mistake in mistakes:
        if mistake.fix is not None and all(
            _apply_edit(remaining, edit) for edit in mistake.fix.edits
        ):
            continue

        # an unknown field is removed, even if a placeholder has its name
        is_known_field = not mistake.on_key
        if not (is_known_field and _replace_value(remaining, mistake.path)) and not _remove_value(
            remaining, mistake.path, removed
        ):
            return None, removed

    return remaining, removed


def _replace_value(data: JsonDict, path: Path) -> bool:
    """Replace a required value with a valid one. Return False if the value is optional."""
    *parents, key = path
    holder = get(data, parents)
    if path == ("metadata", "name") and isinstance(holder, dict):
        holder["name"] = nearest_label(str(holder.get("name") or ""))[:20].strip("-") or "name"
        return True
    placeholders = _TABLE["placeholders"]
    if isinstance(holder, dict) and (path in _NEEDED or (key in placeholders and key in holder)):
        holder[str(key)] = _NEEDED.get(path) or placeholders[key]
        return True

    return False


def _remove_value(data: JsonDict, path: Path, removed: set[str]) -> bool:
    """Remove the value at a path. A list is removed as a whole, so other indexes stay valid."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if len(path) < 2 and path[:1] in ((), ("spec",), ("metadata",)):
        return False
    *parents, key = path
    holder = get(data, parents)
    removed.update(str(part) for part in path)
    if isinstance(holder, dict):
        holder.pop(key, None)
    return True


def _apply_edit(data: JsonDict, edit: Edit) -> bool:
    """Apply an edit of a fix. Return False for edits that are left to `_remove_value`."""
    holder = get(data, edit.path[:-1])
    key = edit.path[-1] if edit.path else ""
    if edit.op == "remove" and isinstance(holder, dict):
        holder.pop(key, None)
        return True
    if (
        edit.op == "rename"
        and isinstance(holder, dict)
        and key in holder
        and edit.value not in holder
    ):
        holder[edit.value] = holder.pop(key)
        return True
    is_item = isinstance(holder, list) and isinstance(key, int) and key < len(holder)
    if edit.op == "set" and (is_item or isinstance(holder, dict)):
        holder[key] = edit.value
        return True

    return False


def _copy(data: Any, copies: dict[int, Any]) -> Any:
    """Return a deep copy in which aliases still share their value: expanded, they may be 100,000
    values.
    """
    if not isinstance(data, Mapping | list):
        return data
    if id(data) not in copies:
        copies[id(data)] = (
            {key: _copy(value, copies) for key, value in data.items()}
            if isinstance(data, Mapping)
            else [_copy(value, copies) for value in data]
        )
    return copies[id(data)]
