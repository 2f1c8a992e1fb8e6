"""A spec without the words that change nothing: each is taken away, and stays away where the same comes out."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.importing.compiled import manifests
from ptcompile.importing.draft import blocks, may_be_written
from ptcompile.importing.residue import gaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile

Path = tuple[str, ...]

_TRIED = (
    "target",
    "nodes",
    "masterPort",
    "names",
    "runPolicy",
    "elastic",
    "sharedMemory",
    "restartPolicy",
    "imagePullPolicy",
    "priority",
)
_FIRST = (
    "target", "runtimeRef", "image", "imagePullPolicy", "script", "module", "command", "args", "workingDir", "nodes",
    "elastic", "master", "worker", "roles", "masterPort", "resources", "sharedMemory", "env", "envFrom",
)  # fmt: skip
_LAST = ("restartPolicy", "runPolicy", "names", "podTemplate", "manifest")
_PLACES = {word: place for place, word in enumerate(_FIRST)} | {word: 100 + place for place, word in enumerate(_LAST)}
"""Where a word stands in a spec; those that are not here stand between the two, in the order of the manifest."""
_INSIDE = ("names", "runPolicy", "elastic")


def shrink(spec: Spec, cluster: ClusterProfile) -> Spec:
    """The smallest spec that compiles to the same bytes by leaving words out."""
    wanted = manifests(spec, cluster)
    for path in list(_places(spec)) if wanted is not None else ():
        tried = _without(spec, path)
        if _same(manifests(tried, cluster), wanted):
            spec = tried
    job = spec["spec"]
    return {**spec, "spec": {word: job[word] for word in sorted(job, key=lambda word: _PLACES.get(word, 99))}}


def _same(made: tuple[Json, ...] | None, wanted: tuple[Json, ...] | None) -> bool:
    """Whether manifests are the same but for fields at their defaults."""
    if made is None or wanted is None or len(made) != len(wanted):
        return False
    if made == wanted:
        return True
    ordered = "$(" in str(wanted)  # a variable may refer to one before it
    return not ordered and not any(gaps(one, other) for one, other in zip(made, wanted, strict=True))


def _places(spec: Spec) -> Iterator[Path]:
    job = spec["spec"]
    for path, block in blocks(job):
        yield from ((*path, "env", name) for name in block.get("env") or {} if may_be_written(name, job))
    for word in _TRIED:
        if _may_go(word, job):
            yield ("spec", word)
    for word in _INSIDE:
        for inner, value in (job.get(word) or {}).items():
            yield ("spec", word, inner)
            if isinstance(value, dict):
                yield from (("spec", word, inner, key) for key in value)
    for role in ("master", "worker"):
        yield from (("spec", role, word) for word in _TRIED if _may_go(word, job.get(role) or {}))
    for role, block in job.get("roles", {}).items():
        yield from (("spec", "roles", role, word) for word in ("restartPolicy", "replicas") if word in block)


def _may_go(word: str, block: Spec) -> bool:
    """Whether a word may be left out where this target writes the same.

    Other targets restart otherwise without restartPolicy; without `target` another is chosen, but over a runtime.
    """
    if word == "target":
        return "runtimeRef" in block
    return word in block and (word != "restartPolicy" or block[word] == "Never")


def _without(data: Any, path: Path) -> Any:
    if not path or not isinstance(data, dict) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inner = _without(data[path[0]], path[1:])
    left = {key: inner if key == path[0] else value for key, value in data.items()}
    return left if inner or path[0] in {"master", "worker", "spec"} else _without(left, path[:1])
