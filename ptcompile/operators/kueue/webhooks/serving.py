"""The rejections of updates of the kinds that serve: Deployments, StatefulSets and LeaderWorkerSets.

Source: Kueue 0.19, the webhooks of deployment, statefulset and leaderworkerset below pkg/controller/jobs, and
SpecShape in pkg/util/pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import as_int, as_mappings, kind_of, nested_map
from ptcompile.operators.kueue.queues import queue_of
from ptcompile.operators.kueue.webhooks.labels import rejection
from ptcompile.operators.kueue.webhooks.pod_sets import pod_sets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json


_SHAPE: Final = frozenset(
    {
        "affinity",
        "nodeSelector",
        "overhead",
        "priority",
        "resourceClaims",
        "runtimeClassName",
        "tolerations",
        "topologySpreadConstraints",
    }
)
"""Fields of a pod template that must not change, besides requests and ports of containers."""

_SIZE: Final = ("spec", "leaderWorkerTemplate", "size")


def check_serving_update(update: Update) -> Iterator[Problem]:
    """Yield the rejections of a change of size or pods, while the object is in a queue."""
    kind = kind_of(update.new)[1]
    if not queue_of(nested_map(update.new, "metadata")) or kind == "Deployment":
        return
    for pod_set in pod_sets_of(update.new):
        yield from _check_shape(update, pod_set.path)
    if kind == "LeaderWorkerSet":
        yield from _check_group_size(update)
    else:
        yield from _check_replicas(update.old, update.new)


def _check_shape(update: Update, template: Path) -> Iterator[Problem]:
    keys = tuple(str(key) for key in template)
    indexes = _container_indexes(nested_map(update.new, *keys, "spec"))
    reported: set[Path] = set()
    for changed in update.under(*keys, "spec"):
        inner = changed[len(keys) + 1 :]
        if not inner or not _is_shape(inner):
            continue
        path = (*template, "spec", *_written(inner, indexes))
        if path not in reported:
            reported.add(path)
            yield immutable(path, "change it in a new object: the pods in a queue keep what they request")


def _is_shape(inner: tuple[str, ...]) -> bool:
    """Return whether a changed path below a pod's specification decides in which pod set the pod is."""
    if inner[0] not in ("containers", "initContainers"):
        return inner[0] in _SHAPE
    container_field = inner[2:4]
    return not container_field or container_field[0] == "ports" or container_field in (("resources",), _REQUESTS)


_REQUESTS: Final = ("resources", "requests")


def _container_indexes(spec: Json) -> dict[tuple[str, ...], int]:
    """Return the index of each container by its list and its name in a changed path."""
    return {
        (field, f"[{container.get('name')}]"): i
        for field in ("containers", "initContainers")
        for i, container in enumerate(as_mappings(spec.get(field)))
    }


def _written(inner: tuple[str, ...], indexes: Mapping[tuple[str, ...], int]) -> Path:
    """Return a changed path with the index of its container, up to the field that Kueue names."""
    index = indexes.get(inner[:2])
    if index is None:
        return inner[:1]
    return (inner[0], index, *(_REQUESTS if inner[2:3] == ("resources",) else inner[2:3]))


def _check_group_size(update: Update) -> Iterator[Problem]:
    old, new = (nested_map(manifest, "spec", "leaderWorkerTemplate") for manifest in (update.old, update.new))
    if as_int(old.get("size"), 1) != as_int(new.get("size"), 1):
        yield immutable(_SIZE, "keep it, or create a new LeaderWorkerSet; replicas may change")
    if (old.get("leaderTemplate") is None) != (new.get("leaderTemplate") is None):
        path = ("spec", "leaderWorkerTemplate", "leaderTemplate")
        yield immutable(path, "create a new LeaderWorkerSet to add or remove a leader")


def _check_replicas(old: Json, new: Json) -> Iterator[Problem]:
    """Check that a StatefulSet is scaled only to and from 0, and back only when all its pods are gone."""
    path = ("spec", "replicas")
    before, after = (as_int(nested_map(manifest, "spec").get("replicas"), 1) for manifest in (old, new))
    if before and after and before != after:
        yield immutable(path, "scale to 0 first: Kueue admits all pods at once")
    elif not before and after and as_int(nested_map(new, "status").get("replicas")) > 0:
        why = "Forbidden: scaling down is still in progress"
        yield rejection(path, why, "wait until all pods are gone", name="webhook-refusal")


def immutable(path: Path, help: str, value: str = "") -> Problem:
    """Return the rejection of a change."""
    shown = f'"{value}": ' if value else ""
    return rejection(path, f"Invalid value: {shown}field is immutable", help, name="webhook-refusal")
