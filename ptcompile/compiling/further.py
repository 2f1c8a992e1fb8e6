"""What else is wrong with a spec that does not compile: every independent mistake is told in the first run.

A compilation stops at the first layer that refuses: the shape, then the contradictions, then the target, then what the
API server says of the manifests. So what was rejected is fixed or taken out, and the rest is compiled again; of the new
mistakes those are told that cannot come of what was taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile.compiling.compiler import Compiled, compile_document
from ptcompile.findings.diagnostics import Edit, Path, Problem
from ptcompile.findings.value_fixes import label
from ptcompile.frontends.lines import value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.extending import Extensions
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_ROUNDS: Final = 4
"""One for each layer that may refuse."""

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


def compile_whole(
    data: Any, cluster: ClusterProfile, target: str | None = None, extensions: Extensions | None = None
) -> Compiled:
    """`compile_document`, with every mistake of a document that does not compile."""
    compiled = compile_document(data, cluster, target, extensions)
    if compiled.manifests or any(one.name in ("unknown-kind", "extension-failed") for one in compiled.problems):
        return compiled
    more = tuple(_further(compiled, data, cluster, target, extensions))
    return compiled._replace(problems=(*compiled.problems, *more)) if more else compiled


def _further(
    compiled: Compiled,
    data: Mapping[str, Any],
    cluster: ClusterProfile,
    target: str | None,
    extensions: Extensions | None,
) -> Iterator[Problem]:
    refused: dict[tuple[str, Path], Problem] = {}
    told, again = list(compiled.problems), compiled
    for _ in range(_ROUNDS):
        before = len(refused)
        refused.update({(one.name, one.path): one for one in again.problems if one.severity == "error"})
        rest = _mended(data, refused.values()) if len(refused) > before else None
        if rest is None:
            return
        again = compile_document(rest[0], cluster, target, extensions)
        more = list(_independent(again.problems, told, data, rest[1]))
        yield from more
        told += more


def _independent(
    found: Iterable[Problem], told: Iterable[Problem], data: Mapping[str, Any], gone: set[str]
) -> Iterator[Problem]:
    """The new errors that are about another value than all others, and not about something that was taken out."""
    known = {one.path for one in told}
    around = {path[:size] for path in known for size in range(len(path) + 1)}
    beside = {path[:-1] for path in known}
    for one in found:
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
    holder, key = value_at(problem.path[:-1], data), problem.path[-1] if problem.path else ""
    if problem.name in _ABSENT:
        return holder is not None
    return key in (range(len(holder)) if isinstance(holder, list) else holder or ())


def _mended(data: Mapping[str, Any], refused: Iterable[Problem]) -> tuple[dict[str, Any], set[str]] | None:
    """A copy without the mistakes, and the keys that were taken out; None where nothing would be left to look at."""
    rest, gone = _copy(data), set[str]()
    for one in refused:
        if one.fix is not None and all(_edited(rest, edit) for edit in one.fix.edits):
            continue
        known = not one.on_key  # an unknown field is taken out, whatever it is called
        if not (known and _replaced(rest, one.path)) and not _removed(rest, one.path, gone):
            return None
    return rest, gone


def _replaced(data: dict[str, Any], path: Path) -> bool:
    """Put something valid where a document cannot do without; False where it can."""
    holder = value_at(path[:-1], data)
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
    holder = value_at(path[:-1], data)
    gone.update(str(part) for part in path)
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    return True


def _edited(data: dict[str, Any], edit: Edit) -> bool:
    """Make an edit of a fix; False for those that are left to `_removed`."""
    holder, key = value_at(edit.path[:-1], data), edit.path[-1] if edit.path else ""
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
