"""How a job ends, in the words of a spec: the combination of words that compiles to the fields that are there.

Nothing is inverted by hand. The words are tried, the fewest first, so what is found stays right when a target changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ptcompile.importing.compiled import manifests
from ptcompile.importing.residue import all_gaps
from ptcompile.kubernetes.untyped import at, integer, mapping
from ptcompile.operators.common.read import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_FAILURE = (None, "RestartPod", "RestartJob")
_DISRUPTION = (None, "Ignore", "Count", "FailJob")
_SUCCESS = (None, "Node0", "AllNodes")
_WORDS = ("backoffLimit", "onPodFailure", "onDisruption", "successPolicy")
_UNLIMITED = 2**31 - 1
_FIELDS = frozenset(
    {
        "backoffLimit", "failurePolicy", "maxRetry", "minSuccess", "podFailurePolicy", "policies", "restartPolicy",
        "runPolicy", "successPolicy",
    }
)  # fmt: skip
"""Fields in which objects say how they end."""
_LIMITS = frozenset({"backoffLimit", "maxRestarts", "maxRetry"})


def with_endings(spec: Spec, manifest: Json, read: Read, cluster: ClusterProfile) -> Spec:
    """The spec with the words of its end that leave the fewest differences beside the pod templates."""
    if "runtimeRef" in spec["spec"]:
        return spec  # the runtime decides it
    fewest: tuple[int, Spec] | None = None
    theirs, bare = _bare(manifest, read, 0), tuple(_bare(one, read, index) for index, one in enumerate(read.objects, 1))
    others = read._replace(objects=bare)
    for words in _tried(manifest, read):
        said = {word: value for word, value in words.items() if value is not None}
        tried = {**spec, "spec": {**spec["spec"], "runPolicy": {**spec["spec"].get("runPolicy", {}), **said}}}
        made = manifests(tried, cluster)
        if made is None:
            continue
        mine = [*(_bare(one, read, 1) for one in made[:-1]), _bare(made[-1], read, 0)]
        left = sum(not _FIELDS.isdisjoint(gap.path) for gap in all_gaps(mine, theirs, others))
        if fewest is None or left < fewest[0]:
            fewest = (left, tried)
        if left == 0:
            break
    return fewest[1] if fewest is not None else spec


def _tried(manifest: Json, read: Read) -> Iterator[dict[str, Any]]:
    """Combinations of words, those with fewer words first."""
    limits: list[Any] = [None]
    if read.target in {"pytorchjob", "pod"} and "backoffLimit" not in at(manifest, "spec", "runPolicy"):
        limits = ["Unlimited", None]  # what an absent limit means there
    limits += [number for number in _numbers((manifest, *read.objects)) if number not in limits]
    several = read.pods and sum(pods.replicas for pods in read.pods if pods.trains) > 1
    every = product(limits, _FAILURE, _DISRUPTION, _SUCCESS if several else (None,))
    yield from (
        dict(zip(_WORDS, words, strict=True))
        for words in sorted(every, key=lambda words: len(words) - words.count(None))
    )


def _numbers(objects: tuple[Json, ...]) -> list[Any]:
    """The limits that the objects speak of, and what a Job's absent one means."""
    found: dict[Any, None] = {}
    stack: list[Any] = [at(one, "spec") for one in objects]
    while stack:
        value = stack.pop(0)
        for key, inner in mapping(value).items():
            if key in _LIMITS and isinstance(inner, int):
                number = integer(inner) - (key == "maxRetry")
                found["Unlimited" if inner >= _UNLIMITED else max(0, number)] = None
            stack.append(inner)
        stack += value if isinstance(value, list) else []
    return [*found, *(number for number in (6, 0, 2) if number not in found)]


def _bare(manifest: Json, read: Read, holder: int) -> Json:
    """An object without the pods themselves."""
    paths = {pods.path[:-1] for pods in read.pods if pods.path and pods.holder == holder}
    if paths or holder or any(pods.holder for pods in read.pods):
        bare: Json = _without(manifest, paths, ())
        return bare
    return {key: value for key, value in manifest.items() if key != "spec"}


def _without(value: Any, holders: set[tuple[str | int, ...]], path: tuple[str | int, ...]) -> Any:
    if isinstance(value, dict):
        dropped = {"template", "restartPolicy"} if path in holders else set()
        return {k: _without(inner, holders, (*path, k)) for k, inner in value.items() if k not in dropped}
    if isinstance(value, list):
        return [_without(inner, holders, (*path, index)) for index, inner in enumerate(value)]
    return value
