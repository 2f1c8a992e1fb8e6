"""Labels and annotations of Kueue, KAI and Volcano, and the kinds of PodGroups.

Kueue's topology: kubernetes-sigs/kueue apis/kueue/v1beta2/topology_types.go (2026-08-22); KAI's:
NVIDIA/KAI-Scheduler docs/topology (2026-03-07).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    nested_int,
    nested_map,
    nested_string,
    nested_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import ExpandedRole, Expansion, Shares
    from ptcompile.kinds.status import Status
    from ptcompile.kubernetes.versions import Versions


KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
"""Kueue 0.19 reads the queue from this label of the object it admits, never from an annotation."""

KUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
"""A WorkloadPriorityClass, as a label of the same object; pods' priority classes order no queue
then (Kueue 0.19).
"""

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
"""The manager of an object that runs in another cluster; its controller in this cluster ignores
it (Kueue 0.19).
"""

KAI_QUEUE = "kai.scheduler/queue"
"""A label of the object, else of its pods (KAI 0.15, pkg/podgrouper default grouper)."""

KAI_PRIORITY = "priorityClassName"
"""A label of the object, else of its pods, before the pods' own class (KAI 0.15,
docs/developer/pod-grouper.md).
"""

KAI_MIN_MEMBER = "kai.scheduler/batch-min-member"
"""Annotation: of a Job, or of a JobSet's Job template, whose pods start together (KAI 0.15, pull
request 1308).
"""

VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
"""Annotation of a pod without its own PodGroup, or of Trainer's runtime (Volcano 1.16;
facts/trainer).
"""

KUEUE_TOPOLOGY = {
    word: f"kueue.x-k8s.io/podset-{word}-topology"
    for word in ("required", "preferred", "unconstrained")
}
"""Annotations of a pod template, of which it has one: the value is the label of a level of the
flavor's Topology.
"""

KUEUE_SLICE = "kueue.x-k8s.io/podset-slice-required-topology"
"""Annotation: the level in whose domain each slice of KUEUE_SLICE_SIZE pods runs."""

KUEUE_SLICE_SIZE = "kueue.x-k8s.io/podset-slice-size"
KUEUE_POD_SET_GROUP = "kueue.x-k8s.io/podset-group-name"
"""Annotation: pod sets with the same value run in one domain."""

PARTIAL_ADMISSION = {
    "kueue.x-k8s.io/job-min-parallelism": "lets Kueue admit fewer pods",
    "kueue.x-k8s.io/job-completions-equal-parallelism": "lets Kueue set completions to the pods that it admits",
}
"""Annotations that Kueue reads of batch/v1 Jobs alone, each with its purpose (Kueue 0.19,
pkg/controller/jobs/job).
"""

KAI_PLACEMENT = {
    word: f"kai.scheduler/topology-{word}-placement" for word in ("required", "preferred")
}
"""Annotations of an object: the value is the label of a level of the Topology that KAI_TOPOLOGY
names.
"""

KAI_TOPOLOGY = "kai.scheduler/topology"


GROUP_NAME = "scheduling.k8s.io/group-name"
"""Annotation: the pod's Volcano PodGroup."""

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
"""Label: the pod's scheduler-plugins PodGroup."""

QUEUE_LABELS: Mapping[str, tuple[str, str]] = {
    "kueue": (KUEUE_QUEUE, KUEUE_PRIORITY),
    "kai": (KAI_QUEUE, KAI_PRIORITY),
}
"""Labels of queue and priority, keyed by queue system."""

QUEUE_ANNOTATION = VOLCANO_QUEUE
"""The annotation that names the queue of other operators' objects and pods."""

EMITTED_PREFIXES = (VOLCANO_QUEUE, "kai.scheduler/", GROUP_NAME, "kueue.x-k8s.io/podset-")
"""Prefixes of the annotations that compile writes for a queue."""

QUEUE_OBJECT_KINDS: Mapping[tuple[str, str], str] = {
    ("labels", KUEUE_QUEUE): "LocalQueue",
    ("labels", KAI_QUEUE): "Queue",
    ("annotations", VOLCANO_QUEUE): "Queue",
    ("labels", KUEUE_PRIORITY): "WorkloadPriorityClass",
}
"""Kind of the object that each label or annotation names."""


_PODS_READY_SINCE = (0, 19)
"""The release of Kueue since which waitForPodsReady is on by default (pull request 11855)."""


def queue_sentences(
    manifest: Json, versions: Versions, frameworks: Collection[str] = ()
) -> Iterator[str]:
    """Yield sentences on how queues affect a manifest of any kind. `frameworks`: see
    `queueFrameworks` of a profile.
    """
    labels = nested_map(manifest, "metadata", "labels")
    spec = nested_map(manifest, "spec")
    queue = nested_string(labels, KUEUE_QUEUE)

    if queue:
        setting = _framework_setting(kind_of(manifest), versions, frameworks)
        unless = f", if {setting} (by default it starts at once)" if setting else ""
        yield f"waits until Kueue admits it from the queue {queue!r}{unless}"
        if versions.kueue >= _PODS_READY_SINCE:
            yield (
                "Kueue evicts and requeues it if its pods are not all ready within 30 minutes of "
                "its admission, or of the loss of one; pulling images counts (waitForPodsReady, on "
                "by default since Kueue 0.19)"
            )

    if nested_string(labels, KAI_QUEUE):
        yield f"waits until KAI places it from the queue {nested_string(labels, KAI_QUEUE)!r}"
    if MULTI_KUEUE in (spec.get("managedBy"), nested_value(spec, "runPolicy", "managedBy")):
        yield (
            "no pods here: MultiKueue creates a copy of the job in another cluster, which has the "
            "pods"
        )

    plugins = nested_map(manifest, "spec", "plugins")
    if kind_of(manifest) == ("batch.volcano.sh/v1alpha1", "Job") and len(plugins) > 1:
        yield (
            "Volcano runs its plugins in random order: their variables may be in a different "
            "order in each pod"
        )


def queued(
    expansion: Expansion,
    manifest: Json,
    related: Sequence[Json],
    versions: Versions,
    frameworks: Collection[str],
) -> Expansion:
    """Return the pods of an object with what Kueue writes on them, if the object is in its
    queue.
    """
    from ptcompile.kinds.model import KindContext
    from ptcompile.operators.table import BY_QUEUE_SYSTEM

    is_queued = KUEUE_QUEUE in nested_map(manifest, "metadata", "labels")
    if not is_queued or _framework_setting(kind_of(manifest), versions, frameworks):
        return expansion

    mark = BY_QUEUE_SYSTEM["kueue"].queues().mark
    context = KindContext(versions, related)

    return expansion._replace(
        roles=tuple(mark(manifest, role, context) for role in expansion.roles)
    )


def _framework_setting(
    kind: tuple[str, str], versions: Versions, switched_on: Collection[str]
) -> str:
    """Return the setting without which Kueue ignores a kind, or ""."""
    from ptcompile.operators.table import BY_QUEUE_SYSTEM

    framework = BY_QUEUE_SYSTEM["kueue"].queues().framework
    configuration = framework(kind, versions, switched_on) if framework is not None else None
    if configuration is None:
        return ""
    _, text = configuration
    return text.partition(":")[0]


def run_policy_group(spec: Json, pods: int) -> Json:
    """Return the PodGroup by `runPolicy.schedulingPolicy` of a job of Kubeflow's, which waits for
    all pods unless the policy sets a number.
    """
    policy = nested_map(spec, "runPolicy", "schedulingPolicy")
    return {
        "minMember": nested_int(policy, "minAvailable", default=pods),
        "queue": nested_string(policy, "queue") or "default",
        "onlyWith": "a gang scheduler",
    }


def first_pods_of_roles(limit: int, roles: tuple[ExpandedRole, ...]) -> Shares:
    """Return the first `limit` pods in role order. Higher priorities come first, but their values
    are not in the manifest.
    """
    shares: Shares = []
    for role in roles:
        count = min(limit, role.count)
        shares.append((role, count))
        limit -= count
    return shares


def settled_status(live: Json, success: str, suspend: tuple[str, ...]) -> Status | None:
    """Return the status of a job that has ended or is suspended, or None for one whose pods may
    run.

    Before the controller has written the condition, the spec tells that a job is suspended.
    """
    from ptcompile.kinds.status import Status, status_from_condition, true_conditions

    conditions = true_conditions(live)
    if "Failed" in conditions:
        return status_from_condition("failed", conditions["Failed"])
    if success in conditions:
        return Status("succeeded")
    if "Suspended" not in conditions and nested_value(live, *suspend) is not True:
        return None

    status = status_from_condition("queued", conditions.get("Suspended", {"reason": "Suspended"}))
    labels = nested_map(live, "metadata", "labels")
    uid = nested_string(live, "metadata", "uid")
    if queue := nested_string(labels, KUEUE_QUEUE):
        where = f"label kueue.x-k8s.io/job-uid={uid}" if uid else "label kueue.x-k8s.io/job-uid"
        return status._replace(
            message=f"waits for Kueue's queue {queue}; its Workload ({where}) says for what"
        )

    return status
