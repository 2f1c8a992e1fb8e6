"""What is right in a document with mistakes, and which mistakes of a later stage are mistakes all the same.

Each stage goes on behind the errors of an earlier one, so that every independent mistake is told in the first run. What
was rejected is fixed or taken out before the next stage looks; a finding that may come of that is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.paths import get
from ptcompile.diagnostics import Edit, Path, Problem
from ptcompile.diagnostics.fixes import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_OF_THEIR_OWN: Final = frozenset(
    {
        "spec-unknown-field",
        "spec-wrong-type",
        "spec-invalid-value",
        "unknown-target",
        "invalid-image",
        "unknown-field",
        "version-unknown-field",
        "wrong-type",
        "invalid-quantity",
        "invalid-value",
        "unsupported-value",
        "duplicate-value",
        "too-long-value",
        "too-many-items",
    }
)
"""Mistakes of one value, whatever the others are."""

_ABSENT: Final = frozenset({"spec-missing-field", "required-value"})
_STARTS: Final = frozenset({"script", "module", "command", "rdzvEndpoint", "nodes", "nnodes", "master", "worker"})
_VOLUMES: Final = frozenset({"volumes", "volumeMounts", "podTemplate", "sharedMemory"})
_NEEDED: Final[dict[Path, Any]] = {
    ("apiVersion",): "ptcompile/v1",
    ("kind",): "TrainingJob",
    ("spec", "image"): "image",
}

_STAND_INS: Final[dict[str | int, str]] = {"script": "train.py", "image": "train:1"}
"""What stands for a wrong value, so that it is not missed."""


def independent(problems: Iterable[Problem], earlier: Iterable[Problem], data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the errors of a stage that are about another value than all that was found in earlier stages.

    Nothing that may come of what was taken out for them, in `data`.
    """
    before = list(earlier)
    known = {one.path for one in before}
    around = {path[:size] for path in known for size in range(len(path) + 1)}
    beside = {path[:-1] for path in known}
    _, gone = mended(data, [one for one in before if one.severity == "error"])
    for one in problems:
        inside = any(one.path[:size] in known for size in range(1, len(one.path) + 1))
        if one.severity != "error" or inside or one.path in around or not _stands(data, one):
            continue
        if gone & _VOLUMES and not _VOLUMES.isdisjoint(one.path):
            continue  # a mount of a volume that was taken out
        if "gpu" in gone and one.path == ("spec", "accelerator"):
            continue  # an accelerator of which no node asks for one any more
        if (
            one.name in _OF_THEIR_OWN
            or (one.name in _ABSENT and one.path[:-1] not in beside)
            or (one.name == "spec-conflict" and not gone & _STARTS)
            or one.name == "not-found-value"
        ):
            yield one


def _stands(data: Mapping[str, Any], problem: Problem) -> bool:
    """Whether the document has the place; of something missing what would hold it."""
    holder, key = get(data, problem.path[:-1]), problem.path[-1] if problem.path else ""
    if problem.name in _ABSENT:
        return holder is not None
    return key in (range(len(holder)) if isinstance(holder, list) else holder or ())


def mended(data: Mapping[str, Any], refused: Iterable[Problem]) -> tuple[dict[str, Any] | None, set[str]]:
    """Return a copy without the mistakes, None if nothing would be left of it, and the keys that were taken out."""
    rest, gone = _copy(data), set[str]()
    for one in refused:
        if one.fix is not None and all(_edited(rest, edit) for edit in one.fix.edits):
            continue
        known = not one.on_key  # an unknown field is taken out, whatever it is called
        if not (known and _replaced(rest, one.path)) and not _removed(rest, one.path, gone):
            return None, gone
    return rest, gone


def _replaced(data: dict[str, Any], path: Path) -> bool:
    """Put something valid where a document cannot do without; False where it can."""
    holder = get(data, path[:-1])
    if path == ("metadata", "name") and isinstance(holder, dict):
        holder["name"] = label(str(holder.get("name") or ""))[:20].strip("-") or "name"
        return True
    if isinstance(holder, dict) and (path in _NEEDED or (path[-1] in _STAND_INS and path[-1] in holder)):
        holder[str(path[-1])] = _NEEDED.get(path) or _STAND_INS[path[-1]]
        return True
    return False


def _removed(data: dict[str, Any], path: Path, gone: set[str]) -> bool:
    """Take out what stands at a path; of a list all of it, so that the others keep their places."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if len(path) < 2 and path[:1] in ((), ("spec",), ("metadata",)):
        return False
    holder = get(data, path[:-1])
    gone.update(str(part) for part in path)
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    return True


def _edited(data: dict[str, Any], edit: Edit) -> bool:
    """Make an edit of a fix; False for those that are left to `_removed`."""
    holder, key = get(data, edit.path[:-1]), edit.path[-1] if edit.path else ""
    if edit.op == "remove" and isinstance(holder, dict):
        holder.pop(key, None)
        return True
    if edit.op == "rename" and isinstance(holder, dict) and key in holder and edit.value not in holder:
        holder[edit.value] = holder.pop(key)
        return True
    if edit.op == "set" and isinstance(holder, dict):
        holder[key] = edit.value
        return True
    if edit.op == "set" and isinstance(holder, list) and isinstance(key, int) and key < len(holder):
        holder[key] = edit.value
        return True
    return False


def _copy(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _copy(value) for key, value in data.items()}
    return [_copy(value) for value in data] if isinstance(data, list) else data
