"""Queue, priority and nearness in a spec's words, where with this profile compile writes the same of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ptcompile.importing.compiled import manifests
from ptcompile.importing.residue import gaps
from ptcompile.kubernetes.untyped import at, items, kind_of, object_name, text
from ptcompile.operators.common.queue_marks import LABELS, QUEUE_ANNOTATION, WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile


def queued(spec: Spec, manifest: Json, beside: Sequence[Json], cluster: ClusterProfile) -> Spec:
    """The spec with these words, where fewer fields differ so than with labels and annotations as they stand."""
    best, fewest = spec, _differences(spec, manifest, beside, cluster)
    for tried in _tried(spec, manifest, beside, cluster):
        if fewest == 0:
            break
        left = _differences(tried, manifest, beside, cluster)
        if left < fewest:
            best, fewest = tried, left
    return best


def _differences(spec: Spec, manifest: Json, beside: Sequence[Json], cluster: ClusterProfile) -> int:
    made = manifests(spec, cluster)
    if made is None:
        return 1 << 30
    theirs = {(kind_of(one), object_name(one)): one for one in (*beside, manifest)}
    pairs = [(one, theirs.get((kind_of(one), object_name(one)), {})) for one in made]
    return sum(len(gaps(one, other)) for one, other in pairs)


def _tried(spec: Spec, manifest: Json, beside: Sequence[Json], cluster: ClusterProfile) -> Iterator[Spec]:
    said = _said(manifest, beside, cluster)
    levels: list[Any] = [None]
    for level, word in product(cluster.spec.topology.levels, ("required", "preferred")):
        levels.append({word: level})
    if not said and len(levels) == 1:
        return
    bare = _without_marks(spec, cluster)
    for topology in levels:
        words = {**said, **({"topology": topology} if topology else {})}
        if words:
            yield {**bare, "spec": {**bare["spec"], **words}}


def _said(manifest: Json, beside: Sequence[Json], cluster: ClusterProfile) -> dict[str, str]:
    """Queue and priority as the objects have them, for the profile's queue system."""
    system = cluster.spec.queue_system
    labels, spec = at(manifest, "metadata", "labels"), at(manifest, "spec")
    if system in LABELS:
        queue, priority = (labels.get(one) for one in LABELS[system])
    else:
        group = next((at(one, "spec") for one in beside if kind_of(one)[1] == "PodGroup"), {})
        policy = at(spec, "runPolicy", "schedulingPolicy")
        queue = policy.get("queue") or spec.get("queue") or group.get("queue") or _marked((manifest, *beside))
        priority = policy.get("priorityClass") or group.get("priorityClassName")
    found = {"queue": text(queue), "priority": text(priority)}
    return {word: name for word, name in found.items() if name}


def _marked(objects: Sequence[Any]) -> str:
    """The queue in its annotation, wherever in the objects it is."""
    stack = list(objects)
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if queue := text(at(one, "annotations").get(QUEUE_ANNOTATION)):
                return queue
            stack += one.values()
        elif isinstance(one, list | tuple):
            stack += items(one)
    return ""


def _without_marks(spec: Spec, cluster: ClusterProfile) -> Spec:
    """The spec without the labels and annotations that compile writes for a queue."""
    labels = frozenset(LABELS.get(cluster.spec.queue_system, ()))
    metadata = {**spec["metadata"]}
    job = {**spec["spec"]}
    for holder, names, marks in (
        (metadata, ("labels", "annotations"), labels),
        (job, ("podLabels", "podAnnotations"), labels),
    ):
        for word in names:
            left = {k: v for k, v in (holder.get(word) or {}).items() if k not in marks and not k.startswith(WRITTEN)}
            if left:
                holder[word] = left
            else:
                holder.pop(word, None)
    return {**spec, "metadata": metadata, "spec": job}
