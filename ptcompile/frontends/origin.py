"""From a place in a manifest that we wrote back to the place in the spec that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.job.pod_words import in_holder
from ptcompile.job.queues import KAI_PRIORITY, KAI_QUEUE, KUEUE_PRIORITY, KUEUE_QUEUE
from ptcompile.kubernetes.merge_keys import MERGE_KEYS

_CONTAINER = in_holder("main")
_POD = {**in_holder("spec"), "restartPolicy": "restartPolicy"}
_METADATA = in_holder("metadata")
_TRAINER = {
    "image": ("image",),
    "command": ("command",),
    "args": ("args",),
    "env": ("env",),
    "resourcesPerNode": ("resources",),
    "numNodes": ("nodes",),
    "numProcPerNode": ("elastic", "nprocPerNode"),
}
"""What a TrainJob says under `spec.trainer` of the container that trains (Trainer 2.3)."""

_TEMPLATES = {"JobSet": 2, "TrainingRuntime": 3, "TrainJob": 3}
"""How many templates a path runs through down to that of the pods, where it is not one."""

_LISTS = {"Job": 2, "JobSet": 2, "TrainingRuntime": 4}
"""Where in a path the index of a task or a replicatedJob stands, which is called after its role."""

_OWN = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""What a role beside the trainers does not have from the job."""

_QUEUE_WORDS = {KUEUE_QUEUE: "queue", KAI_QUEUE: "queue", KUEUE_PRIORITY: "priority", KAI_PRIORITY: "priority"}
"""Labels of the object that is admitted, and the word of the spec that each comes from."""

_KEYS = ("mountPath", *dict.fromkeys(MERGE_KEYS.values()))
"""What names an item of a list: of a volume mount the path, which the name of its volume is not."""

_RUN_POLICY = {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend", "cleanPodPolicy"}


Places = dict[int, dict[object, int]]
"""By the identity of a list of the spec, where the first item of each name stands; made when it is looked into."""


def locate(
    path: Path,
    manifest: Mapping[str, Any],
    spec: Mapping[str, Any],
    blocks: Sequence[Path] | None = None,
    places: Places | None = None,
) -> Path:
    """The path in the spec that a path in its manifest comes from; the one of which the spec has most.

    A value that no line of the spec gives, such as a default, belongs to `spec` itself. `blocks` are the parts of the
    spec that may have said it, `("master",)` or `()` for the job; taken from the path where absent. Who asks more than
    once about one spec gives the same `places` each time.
    """
    places = {} if places is None else places
    beside = _beside(path, manifest, spec)
    said = (beside or _blocks(path, manifest)) if blocks is None else blocks
    missing: dict[Path, int] = {}
    for candidate in _candidates(path, manifest):
        for block in said if not (beside and candidate[0] in _OWN) else beside[:1]:
            wanted = ("spec", *block, *candidate)
            found = _resolve(wanted, manifest, path, spec, places)
            if found is not None:
                missing.setdefault(found, len(wanted) - len(found))
    if missing:
        return min(missing, key=missing.__getitem__)
    if path[:1] == ("metadata",):
        word = _QUEUE_WORDS.get(str(path[-1]), "")
        return ("spec", word) if word in (spec.get("spec") or {}) else path
    if beyond := _patch(path, spec, manifest, beside[:1] or _blocks(path, manifest), places):
        return beyond
    if beside:
        return ("spec", *beside[0])
    if len(path) > 1 and path[0] == "spec" and path[-1] in _RUN_POLICY:
        return ("spec", "runPolicy", path[-1])
    if path[:1] == ("spec",) and path[1:2] and path[1] in (spec.get("spec") or {}):
        return path[:2]  # what an operator has for the whole job, under the same name
    return ("spec",)


def moved(problem: Problem, path: Path) -> Problem:
    """The same problem at another place, which its message then begins with.

    A fix goes along where it is about nothing but that place, and that has the same name there.
    """
    head, colon, rest = problem.message.partition(": ")
    message = f"{field_path(path)}: {rest}" if colon and " " not in head else problem.message
    fix = problem.fix
    if fix is not None:
        here = [edit.path for edit in fix.edits] == [problem.path] and path[-1:] == problem.path[-1:]
        fix = fix._replace(edits=(fix.edits[0]._replace(path=path),)) if here else None
    return problem._replace(path=path, message=message, fix=fix)


def value_at(path: Path, data: Any) -> Any:
    """What stands at a path; None where nothing does."""
    for part in path:
        fits = isinstance(data, Mapping) if isinstance(part, str) else isinstance(data, list)
        if not fits or (isinstance(part, int) and part >= len(data)):
            return None
        data = data.get(part) if isinstance(part, str) else data[part]
    return data


def settle(problem: Problem, spec: Mapping[str, Any]) -> Problem:
    """A problem of a role's field at the job's, where the role leaves it to the job; of `nodes` where they are said."""
    path, job = problem.path, spec.get("spec")
    if path == ("spec", "nodes") and isinstance(job, Mapping) and "nodes" not in job:
        where = ("worker",) if "worker" in job else ("elastic", "nnodes")
        return moved(problem, ("spec", *where))
    depth = 3 if path[1:2] == ("roles",) else 2
    if len(path) <= depth or path[0] != "spec" or path[1] not in {"master", "worker", "roles"}:
        return problem
    role: Any = job
    for part in path[1:depth]:
        role = role.get(part) if isinstance(role, Mapping) else None
    said = isinstance(role, Mapping) and path[depth] in role
    left = isinstance(job, Mapping) and path[depth] in job and not (depth == 3 and path[depth] in _OWN)
    return moved(problem, ("spec", *path[depth:])) if left and not said else problem


def about(path: Path, manifest: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Path]:
    """The parts of a spec that a path in its manifest may be about, as `blocks` above; the nearest first."""
    return _beside(path, manifest, spec) or _blocks(path, manifest)


def _patch(
    path: Path, spec: Mapping[str, Any], manifest: Mapping[str, Any], blocks: Sequence[Path], places: Places
) -> Path | None:
    """The patch that must have caused what stands in a pod field that the spec has no word for."""
    rest = inside(path, manifest)
    if rest is None or rest[:1] != ("spec",) or rest[1:2] in {(), ("containers",)} or rest[1] in _POD:
        return None
    for block in blocks:
        found = _resolve(("spec", *block, "podTemplate", "spec"), manifest, path, spec, places, least=2)
        if found is not None and found[-2:] == ("podTemplate", "spec"):
            return found
    return None


def inside(path: Path, manifest: Mapping[str, Any]) -> Path | None:
    """What is left of a path inside the pod template: a Pod is one, most kinds have one under their last `template`.

    Trainer's older words for patches have none: podSpecOverrides (2.0) holds a pod's spec, podTemplateOverrides (2.1)
    a template.
    """
    kind = manifest.get("kind")
    if kind == "Pod":
        return path
    if path[:2] == ("spec", "podSpecOverrides"):
        return ("spec", *path[3:])
    if path[:2] == ("spec", "podTemplateOverrides"):
        return path[3:]
    templates = [at for at, part in enumerate(path) if part == "template"]
    depth = _TEMPLATES.get(str(kind), 1)
    return path[templates[depth - 1] + 1 :] if len(templates) >= depth else None


def _blocks(path: Path, manifest: Mapping[str, Any]) -> list[Path]:
    """The parts of a spec that may have said it: the role's own first, then the job's.

    A role is a key (PyTorchJob) or the name of a list item (Volcano, JobSet).
    """
    words = {str(part).lower() for part in (*path[:4], *_identities(manifest, path[:3]))}
    role = next((name for name in ("master", "worker") if name in words), None)
    return [(role,), ()] if role else [("worker",), ("master",), ()]


def _beside(path: Path, manifest: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Path]:
    """The role beside the trainers that a path is about, then the job; nothing where it is about no such role."""
    job = spec.get("spec")
    roles = job.get("roles") if isinstance(job, Mapping) else None
    depth = _LISTS.get(str(manifest.get("kind")), len(path))
    if not isinstance(roles, Mapping) or len(path) <= depth or not isinstance(path[depth], int):
        return []
    name = _identities(manifest, path[: depth + 1])[-1]
    return [("roles", name), ()] if isinstance(name, str) and name in roles else []


def _candidates(path: Path, manifest: Mapping[str, Any]) -> Iterator[Path]:
    if path[:2] == ("spec", "trainer") and path[2:3] and path[2] in _TRAINER:
        words = _TRAINER[str(path[2])]
        yield ("podTemplate", "spec", "containers", 0, *words, *path[3:])
        yield (*words, *path[3:])
    rest = inside(path, manifest)
    if rest is None:
        return
    yield ("podTemplate", *rest)
    if rest[:1] == ("metadata",) and len(rest) > 1 and rest[1] in _METADATA:
        yield (_METADATA[str(rest[1])], *rest[2:])
    elif rest[:2] == ("spec", "containers") and len(rest) > 3 and rest[3] in _CONTAINER:
        yield (_CONTAINER[str(rest[3])], *rest[4:])
    elif len(rest) > 1 and rest[1] in _POD:
        yield (_POD[str(rest[1])], *rest[2:])


def _resolve(
    wanted: Path, manifest: Mapping[str, Any], path: Path, spec: Any, places: Places, *, least: int | None = None
) -> Path | None:
    """The longest part of a wanted path that the spec has, following list items by what identifies them."""
    names = _identities(manifest, path)
    found: list[str | int] = []
    for part in wanted:
        if isinstance(spec, Mapping) and isinstance(part, int) and names:
            part = next((name for name in names if name in spec), part)
        if isinstance(spec, Mapping) and part in spec:
            spec = spec[part]
        elif isinstance(spec, Sequence) and not isinstance(spec, str) and isinstance(part, int):
            at = _first(spec, names, places)
            if at is None:
                break
            part, spec = at, spec[at]
        elif isinstance(spec, Mapping) and part in {"requests", "limits"}:
            continue
        elif isinstance(spec, Mapping) and isinstance(spec.get("devices"), Mapping) and part in spec["devices"]:
            found.append("devices")
            spec = spec["devices"][part]
        elif part in {"ephemeral-storage"} and isinstance(spec, Mapping) and "ephemeralStorage" in spec:
            part, spec = "ephemeralStorage", spec["ephemeralStorage"]
        else:
            break
        found.append(part)
    if least is not None:
        return tuple(found) if len(found) > least else None
    head = (3 if found[1:2] == ["roles"] else 1) + (3 if "podTemplate" in found else 0)
    deep_enough = len(found) > head and found[-1] not in {"master", "worker", "podTemplate", "spec"}
    return tuple(found) if deep_enough else None


def _first(items: Sequence[Any], names: Sequence[Any], places: Places) -> int | None:
    """The place of the first item that has one of the names."""
    known = places.get(id(items))
    if known is None:
        known = places[id(items)] = {_identity(item): i for i, item in reversed(list(enumerate(items)))}
    return min((known[name] for name in names if name in known), default=None)


def _identities(manifest: Any, path: Path) -> list[Any]:
    """What identifies the list items that a path runs through: names, mount paths, or the item itself."""
    out = ["pytorch"] if manifest.get("kind") in {"TrainJob", "TrainingRuntime"} else []
    for part in path:
        if isinstance(manifest, Mapping):
            manifest = manifest.get(str(part))
        elif isinstance(manifest, Sequence) and not isinstance(manifest, str) and isinstance(part, int):
            manifest = manifest[part] if part < len(manifest) else None
            out.append(_identity(manifest))
        else:
            break
    return out


def _identity(item: Any) -> Any:
    key = next((key for key in _KEYS if key in item), None) if isinstance(item, Mapping) else None
    name = item if key is None else item[key]
    return str(name) if isinstance(name, Mapping | list) else name
