"""The PodGroup that a job brings along where no operator makes one, and how its pods say that they belong to it.

For Volcano it is scheduling.volcano.sh/v1beta1 and the annotation scheduling.k8s.io/group-name: a pod without the
annotation gets a PodGroup from Volcano, one for each Job, with minMember 1 (Volcano 1.16, pkg/controllers/podgroup).
For scheduler-plugins it is scheduling.x-k8s.io/v1alpha1 and the label scheduling.x-k8s.io/pod-group (scheduler-plugins,
docs/plugins/coscheduling). minMember is the fewest nodes that the job runs with and all pods beside them, without which
the nodes would hold their places and wait. minResources are the requests of so many pods, as operators write it, so
that a full queue does not let the job in. Nobody owns the PodGroup: it stays
until it is deleted, as the Service does.
"""

from __future__ import annotations

from ptcompile.job.model import Job
from ptcompile.job.pods import PodTemplate
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.operators.common.emitting import object_metadata
from ptcompile.operators.common.queue_marks import GROUP_LABEL, GROUP_NAME, VOLCANO_QUEUE
from ptcompile.operators.common.queues import gang, network_topology, queue_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile


def pod_group(job: Job, cluster: ClusterProfile, target: str) -> list[dict[str, Any]]:
    """The PodGroup of a job, to come before it; nothing where nothing would read it."""
    placer = gang(job, cluster)
    if placer not in {"volcano", "scheduler-plugins"}:
        return []
    spec: dict[str, Any] = {"minMember": job.least_pods}
    if least := _requests(job):
        spec["minResources"] = least
    if placer == "volcano":
        version = "scheduling.volcano.sh/v1beta1"
        spec |= _given(_volcano(job, cluster) | {"networkTopology": network_topology(job, cluster, target)})
    else:
        version = "scheduling.x-k8s.io/v1alpha1"
        spec |= _given({"scheduleTimeoutSeconds": cluster.spec.schedule_timeout_seconds})
    return [{"apiVersion": version, "kind": "PodGroup", "metadata": object_metadata(job), "spec": spec}]


def marked(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """The template of pods that belong to the job's PodGroup."""
    placer = gang(job, cluster)
    if placer == "volcano":
        return template._replace(annotations={GROUP_NAME: job.name, **template.annotations})
    if placer == "scheduler-plugins":
        return template._replace(labels={GROUP_LABEL: job.name, **template.labels})
    return template


def lone(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """The template of one Pod, whose PodGroup Volcano makes itself: queue and priority are the pod's own words."""
    queue = queue_of(job, cluster)
    if gang(job, cluster) != "volcano" or queue is None:
        return template
    return with_priority(template, job, cluster)._replace(annotations={VOLCANO_QUEUE: queue, **template.annotations})


def with_priority(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """The template of pods whose own priority class is that of their PodGroup of Volcano's."""
    given = _given({"priorityClassName": _volcano(job, cluster)["priorityClassName"]})
    return template._replace(extra={**given, **template.extra})


def scheduling_policy(job: Job, cluster: ClusterProfile) -> dict[str, Any] | None:
    """PyTorchJob's schedulingPolicy, from which the operator makes the PodGroup (training-operator 1.9, 1.9 table)."""
    placer = gang(job, cluster)
    policy: dict[str, Any] = {"minAvailable": job.min_nodes}
    if placer == "volcano":
        volcano = _volcano(job, cluster)
        policy |= _given({"queue": volcano["queue"], "priorityClass": volcano["priorityClassName"]})
    elif placer == "scheduler-plugins":
        policy |= _given({"scheduleTimeoutSeconds": cluster.spec.schedule_timeout_seconds})
    else:
        return None
    return policy


def pod_group_policy(job: Job, cluster: ClusterProfile) -> dict[str, Any] | None:
    """podGroupPolicy of Trainer's runtime. Its PodGroup always waits for all pods (Trainer 2.3, facts/trainer)."""
    placer = gang(job, cluster)
    if placer == "volcano":
        return {"volcano": _given({"networkTopology": network_topology(job, cluster, "trainjob")})}
    if placer == "scheduler-plugins":
        return {"coscheduling": _given({"scheduleTimeoutSeconds": cluster.spec.schedule_timeout_seconds})}
    return None


def _volcano(job: Job, cluster: ClusterProfile) -> dict[str, Any]:
    queued = cluster.spec.queue_system == "volcano"
    return {
        "queue": queue_of(job, cluster) if queued else None,
        "priorityClassName": job.priority if queued else None,
    }


def _requests(job: Job) -> dict[str, str]:
    """What the first nodes, as many as the job needs, and the pods beside them ask for: the containers of each."""
    total: dict[str, Quantity] = {}
    left = job.min_nodes
    for role in job.roles:
        count = min(left, role.replicas) if role.trains else role.replicas
        left -= count if role.trains else 0
        sidecars = [(one.get("resources") or {}).get("requests") or {} for one in role.template.sidecars]
        for amounts in (role.template.main.resources.requests, *sidecars):
            for name, text in amounts.items():
                amount = quantity.parse(text)
                if amount is not None and count:
                    total[name] = total[name] + amount * count if name in total else amount * count
    return {name: str(amount) for name, amount in total.items()}


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
