"""Who admits a job and who places its pods together: what the profile's words come to for one job.

Two things are told apart. A queue system admits jobs: Kueue, Volcano or KAI. A gang scheduler places the pods of a job
all at once or none of them: Volcano and KAI, which are their queues' schedulers too, or the coscheduling of
scheduler-plugins, which has no queues. Kueue has no scheduler and works with any (Kueue 0.19).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.hardware.nodes import levels_of
from ptcompile.ir.job import IndexedGroup, Job, Target
from ptcompile.registry.queue_systems import (
    KAI_NEAR,
    KAI_PRIORITY,
    KAI_QUEUE,
    KAI_TOPOLOGY,
    KUEUE_PRIORITY,
    KUEUE_QUEUE,
    KUEUE_TOGETHER,
    KUEUE_TOPOLOGY,
)
from ptcompile.spec import reader
from ptcompile.spec.checks import NO_SCHEDULER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.spec.cluster_profile import ClusterProfile, GangScheduler, TopologyLevel

SCHEDULERS: Final = {"volcano": "volcano", "kai": "kai-scheduler"}
"""What pods call a scheduler. scheduler-plugins has no name of its own: the profile's schedulerName is it."""


def queue_of(job: Job, cluster: ClusterProfile) -> str | None:
    """The job's queue: its own, else the profile's; None where it has none, and wants none."""
    return (cluster.spec.defaults.queue if job.queue is None else job.queue) or None


def gang_scheduler(cluster: ClusterProfile) -> GangScheduler:
    """Who places gangs in this cluster."""
    profile = cluster.spec
    if profile.queue_system not in NO_SCHEDULER:
        return "volcano" if profile.queue_system == "volcano" else "kai"
    return profile.gang_scheduler or "none"


def gang(job: Job, cluster: ClusterProfile) -> GangScheduler:
    """Who places this job: `none` also where there is nothing to place together and no queue of the scheduler's."""
    by_queue = cluster.spec.queue_system not in NO_SCHEDULER and queue_of(job, cluster) is not None
    return gang_scheduler(cluster) if job.pods > 1 or by_queue else "none"


def nearness_by(job: Job, cluster: ClusterProfile, target: str) -> str | None:
    """What keeps the pods close together: kueue, volcano, kai; None where nothing does."""
    if target == "volcano":
        return "volcano"
    if cluster.spec.queue_system == "kueue" and queue_of(job, cluster):
        return "kueue"
    scheduler = gang_scheduler(cluster)
    return scheduler if scheduler in SCHEDULERS else None


def can_share_domain(groups: Sequence[IndexedGroup]) -> bool:
    """Whether Kueue can keep these groups of pods, each a pod set, in one domain by a group name.

    It takes two pod sets, of which one is a single pod (Kueue 0.19, facts/kueue, ValidatePodSetGroupingTopology).
    """
    return len(groups) == 2 and any(group.pods * group.jobs == 1 for group in groups)


def level_of(job: Job, cluster: ClusterProfile) -> TopologyLevel:
    """What the profile says of the level that the job names, else its cloud; nothing where both are silent."""
    name = job.topology.level if job.topology else ""
    known = cluster.spec.topology.levels.get(name)
    if known is None and (label := levels_of(cluster.spec.cloud).get(name)):
        return reader.level(label)
    return known or reader.no_level()


def object_labels(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """Labels of the object that is admitted, for Kueue and KAI."""
    system, queue = cluster.spec.queue_system, queue_of(job, cluster)
    out: dict[str, str] = {}
    if system == "kueue" and queue:
        out[KUEUE_QUEUE] = queue
        if job.priority:
            out[KUEUE_PRIORITY] = job.priority
    return out | kai_labels(job, cluster)


def kai_labels(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """KAI's labels: of the object, and of the pods, since the JobSet of a TrainJob has not the TrainJob's."""
    if cluster.spec.queue_system != "kai":
        return {}
    given = {KAI_QUEUE: queue_of(job, cluster), KAI_PRIORITY: job.priority}
    return {key: value for key, value in given.items() if value}


def object_annotations(job: Job, cluster: ClusterProfile, target: str) -> dict[str, str]:
    """Annotations of the object that is admitted: KAI's topology (KAI 0.15, docs/topology)."""
    if job.topology is None or nearness_by(job, cluster, target) != "kai":
        return {}
    word = "required" if job.topology.required else "preferred"
    return {
        KAI_TOPOLOGY: cluster.spec.topology.name or "",
        KAI_NEAR[word]: level_of(job, cluster).node_label or "",
    }


def pod_annotations(job: Job, cluster: ClusterProfile, target: Target) -> dict[str, str]:
    """Annotations of the pods: Kueue's topology, one of required and preferred, and what keeps two pod sets together.

    Each role of a PyTorchJob and each replicatedJob of a JobSet is a pod set, near by itself (Kueue 0.19; facts/kueue).
    """
    if job.topology is None or nearness_by(job, cluster, target.name) != "kueue":
        return {}
    word = "required" if job.topology.required else "preferred"
    out = {KUEUE_TOPOLOGY[word]: level_of(job, cluster).node_label or ""}
    return out | ({KUEUE_TOGETHER: "nodes"} if can_share_domain(target.groups(job)) else {})


def network_topology(job: Job, cluster: ClusterProfile, target: str) -> dict[str, str | int] | None:
    """Volcano's `networkTopology` of a job or a PodGroup (Volcano 1.11 and newer; facts/volcano)."""
    if job.topology is None or nearness_by(job, cluster, target) != "volcano":
        return None
    return _network_topology((level_of(job, cluster).tier or 0) if job.topology.required else None)


def _network_topology(tier: int | None) -> dict[str, str | int]:
    """`networkTopology` of a Volcano Job or PodGroup: within HyperNodes of a tier, or as near as can be.

    Tiers are the cluster's own: none is built in (volcano.sh apis/pkg/apis/topology/v1alpha1, 2026-08-20).
    """
    return {"mode": "soft"} if tier is None else {"mode": "hard", "highestTierAllowed": tier}
