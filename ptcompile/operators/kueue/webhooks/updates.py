"""The rejections of Kueue's webhooks when an object is changed.

Source: Kueue 0.19, ValidateJobOnUpdate in pkg/controller/jobframework/validation.go, and
ValidateUpdate of each kind below pkg/controller/jobs; for the kinds that serve (Deployments,
StatefulSets, LeaderWorkerSets) SpecShape in pkg/util/pod too.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Path, Problem, Problems, deduplicate
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.gates import check_gates_update
from ptcompile.operators.kueue.queues import ELASTIC, MIN_PARALLELISM, QUEUE, is_elastic, queue_of
from ptcompile.operators.kueue.webhooks.creation import check_object, check_topology
from ptcompile.operators.kueue.webhooks.jobs import (
    EQUAL_COMPLETIONS,
    check_min_parallelism,
    follows_parallelism,
)
from ptcompile.operators.kueue.webhooks.kinds import (
    KINDS,
    SKIPPED_NAMESPACES,
    QueuedKind,
    is_ready,
    is_suspended,
)
from ptcompile.operators.kueue.webhooks.labels import (
    PRIORITY,
    SECONDS,
    annotations_of,
    check_elastic,
    check_gates,
    check_prebuilt,
    check_queue_name,
    has_gates,
    labels_of,
    prebuilt_of,
    refusal,
)
from ptcompile.operators.kueue.webhooks.pod_sets import pod_sets_of
from ptcompile.operators.kueue.webhooks.pods import check_pod_update

_LABELS = ("metadata", "labels")
_ANNOTATIONS = ("metadata", "annotations")
_SHAPE = frozenset(
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

_SIZE = ("spec", "leaderWorkerTemplate", "size")


def check_update(update: Update) -> list[Problem]:
    """Return the rejections of a change of an object of one of `KINDS`; none if nothing changes."""
    key = kind_of(update.new)
    kind = KINDS.get(key)
    if kind is None or namespace_of(update.new) in SKIPPED_NAMESPACES or update.old == update.new:
        return []

    if key == ("batch/v1", "Job"):
        update = _with_stored_completions(update)
    api_version, _ = key
    was_queued = update.versions.kueue >= (0, 19) and queue_of(update.old)
    if api_version == "ray.io/v1" and not (queue_of(update.new) or was_queued):
        return []

    problems = _serving_problems(update, kind) if kind.serving else _job_problems(update, kind)
    return deduplicate(problem for problem in problems if problem.stage == "apply")


def _with_stored_completions(update: Update) -> Update:
    """Return the update of a Job with `completions: 1`, which the API server set if the old one
    counts no pods.
    """
    before, after = update.maps("spec")
    is_set = before.get("parallelism") is None and before.get("completions") is None
    if not is_set or after.get("completions") is not None:
        return update
    return update._replace(
        new={
            **update.new,
            "spec": {**after, "completions": 1},
        }
    )


def _job_problems(update: Update, kind: QueuedKind) -> Problems:
    api_version, name = kind_of(update.new)
    request = KindContext(update.versions)
    yield from _check_change(update, kind)
    if name == "Job":
        yield from _check_job_change(update.old, update.new)

    if not kind.rechecked:
        if (api_version, name) == ("v1", "Pod"):
            yield from check_pod_update(update.old, update.new)
        yield from check_topology(update.new, request)
        return

    skipped: set[Problem] = set()
    if name == "Job":
        before, after = (
            annotations_of(job).get(MIN_PARALLELISM) for job in (update.old, update.new)
        )
        # a minimum that was accepted once is not checked again
        if before == after:
            skipped.update(check_min_parallelism(update.new))
    for problem in check_object(update.new, request):
        if problem not in skipped:
            yield problem


def _check_change(update: Update, kind: QueuedKind) -> Problems:
    """Yield what every kind of job rejects of a change of its labels and annotations."""
    old = update.old
    new = update.new
    suspended = is_suspended(new, kind)
    was_suspended = is_suspended(old, kind)
    queue = queue_of(new)
    if not suspended and queue != queue_of(old):
        yield immutable(
            (*_LABELS, QUEUE), "suspend the job in the same apply, or delete it first", queue
        )

    yield from _check_prebuilt_change(old, new, kind, suspended=suspended)
    seconds = labels_of(new).get(SECONDS, "")
    if seconds != labels_of(old).get(SECONDS, "") and not (suspended and was_suspended):
        yield immutable((*_LABELS, SECONDS), "suspend the job first", seconds)
    yield from _check_priority(old, new, update.versions, suspended=suspended)
    if is_elastic(old) != is_elastic(new):
        yield immutable(
            (*_ANNOTATIONS, ELASTIC),
            "delete the job and create it again",
            str(is_elastic(new)).lower(),
        )

    yield from _check_gates_change(old, new, update.versions)


def _check_prebuilt_change(old: Json, new: Json, kind: QueuedKind, *, suspended: bool) -> Problems:
    if suspended or is_elastic(old):
        yield from check_prebuilt(new, kind)
        return

    _, old_name = prebuilt_of(old)
    path, name = prebuilt_of(new)
    if name != old_name:
        yield immutable(path, "suspend the job in the same apply", name)


def _check_priority(old: Json, new: Json, versions: Versions, *, suspended: bool) -> Problems:
    """Check a change of the priority class: since 0.15 it may be replaced, and added while the
    job waits.
    """
    path = (*_LABELS, PRIORITY)
    before, after = (labels_of(manifest).get(PRIORITY, "") for manifest in (old, new))
    if before == after:
        return

    if versions.kueue < (0, 15):
        if versions.kueue < (0, 12) or not suspended:
            yield immutable(path, "delete the job and apply again", after)
    elif not after:
        why = 'Invalid value: "": WorkloadPriorityClass cannot be removed from a workload'
        yield refusal(path, why, "name another class")
    elif not before and not suspended:
        why = (
            f'Invalid value: "{after}": WorkloadPriorityClass cannot be added to a non-suspended '
            "workload"
        )
        yield refusal(path, why, "suspend the job in the same apply")


def _check_gates_change(old: Json, new: Json, versions: Versions) -> Problems:
    """Check that gates are only removed, and that the remaining ones are valid."""
    problems = FieldErrors()
    if has_gates(versions):
        check_gates_update(old, new, problems)
    yield from (problem._replace(name="webhook-refusal", authority="kueue") for problem in problems)
    yield from check_gates(new, versions)


def _check_job_change(old: Json, new: Json) -> Problems:
    """Yield what is rejected of a change of a Job that runs."""
    kind = KINDS["batch/v1", "Job"]
    was_suspended = is_suspended(old, kind)
    suspended = is_suspended(new, kind)
    before, after = (nested_int(job, "spec", "parallelism", default=1) for job in (old, new))
    if MIN_PARALLELISM in annotations_of(old) and not was_suspended and before != after:
        why = (
            "Forbidden: cannot change when partial admission is enabled and the job is not "
            "suspended"
        )
        yield refusal(("spec", "parallelism"), why, "suspend the job first")

    if not was_suspended and not suspended and follows_parallelism(old) != follows_parallelism(new):
        why = "Forbidden: field is immutable while the job is not suspended"
        yield refusal((*_ANNOTATIONS, EQUAL_COMPLETIONS), why, "suspend the job first")


def _serving_problems(update: Update, kind: QueuedKind) -> Problems:
    """Yield the rejections of a change of an object that serves: its queue is fixed once a pod
    is ready.
    """
    old = update.old
    new = update.new
    versions = update.versions
    yield from check_queue_name(new)
    queue = queue_of(new)
    if queue != queue_of(old) and (is_ready(old) or not queue):
        yield immutable(
            (*_LABELS, QUEUE),
            "delete the object first, or scale it to 0 to name another queue",
            queue,
        )

    yield from _check_priority(old, new, versions, suspended=not is_ready(old))
    yield from check_elastic(new, kind)
    yield from _check_gates_change(old, new, versions)
    yield from check_topology(new, KindContext(versions))
    yield from check_serving_update(update)


def check_serving_update(update: Update) -> Problems:
    """Yield the rejections of a change of size or pods, while the object is in a queue."""
    kind = kind_of(update.new).name
    if not queue_of(update.new) or kind == "Deployment":
        return
    for pod_set in pod_sets_of(update.new):
        yield from _check_shape(update, pod_set.path)
    if kind == "LeaderWorkerSet":
        yield from _check_group_size(update)
    else:
        yield from _check_replicas(update.old, update.new)


def _check_shape(update: Update, template: Path) -> Problems:
    keys = tuple(str(key) for key in template)
    spec = nested_map(update.new, *keys, "spec")
    # the index of each container, by its list and its name as changed paths write them
    indexes: dict[tuple[str, ...], int] = {}
    for field in ("containers", "initContainers"):
        for i, container in enumerate(nested_maps(spec, field)):
            indexes[field, f"[{container.get('name')}]"] = i

    reported: set[Path] = set()
    for changed in update.under(*keys, "spec"):
        inner = changed[len(keys) + 1 :]
        if not inner or not _is_shape(inner):
            continue
        path = (*template, "spec", *_written_path(inner, indexes))
        if path not in reported:
            reported.add(path)
            yield immutable(
                path, "change it in a new object: the pods in a queue keep what they request"
            )


def _is_shape(inner: tuple[str, ...]) -> bool:
    """Return whether a changed path below a pod's specification decides in which pod set the pod
    is.
    """
    field, *_ = inner
    if field not in ("containers", "initContainers"):
        return field in _SHAPE

    container_field = inner[2:4]
    return container_field[:1] in ((), ("ports",)) or container_field in (
        ("resources",),
        _REQUESTS,
    )


_REQUESTS = ("resources", "requests")


def _written_path(inner: tuple[str, ...], indexes: Mapping[tuple[str, ...], int]) -> Path:
    """Return a changed path with the index of its container, up to the field that Kueue names."""
    field, *_ = inner
    index = indexes.get(inner[:2])
    if index is None:
        return (field,)

    container_field = inner[2:3]
    return (field, index, *(_REQUESTS if container_field == ("resources",) else container_field))


def _check_group_size(update: Update) -> Problems:
    old, new = update.maps("spec", "leaderWorkerTemplate")
    if nested_int(old, "size", default=1) != nested_int(new, "size", default=1):
        yield immutable(_SIZE, "keep it, or create a new LeaderWorkerSet; replicas may change")
    if (old.get("leaderTemplate") is None) != (new.get("leaderTemplate") is None):
        yield immutable(
            ("spec", "leaderWorkerTemplate", "leaderTemplate"),
            "create a new LeaderWorkerSet to add or remove a leader",
        )


def _check_replicas(old: Json, new: Json) -> Problems:
    """Check that a StatefulSet is scaled only to and from 0, and back only when all its pods are
    gone.
    """
    path = ("spec", "replicas")
    before, after = (nested_int(manifest, "spec", "replicas", default=1) for manifest in (old, new))
    if before and after and before != after:
        yield immutable(path, "scale to 0 first: Kueue admits all pods at once")
    elif not before and after and nested_int(new, "status", "replicas") > 0:
        yield refusal(
            path, "Forbidden: scaling down is still in progress", "wait until all pods are gone"
        )


def immutable(path: Path, help: str, value: str = "") -> Problem:
    """Return the rejection of a change."""
    quoted = f'"{value}": ' if value else ""
    return refusal(path, f"Invalid value: {quoted}field is immutable", help)
