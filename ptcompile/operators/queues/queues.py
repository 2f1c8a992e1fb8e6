"""How the profile's queue system and gang scheduler apply to one job.

A queue system admits jobs: Kueue, Volcano or KAI. A gang scheduler places the pods of a job all or
none: Volcano and KAI, which also schedule for their queues, or the coscheduling of
scheduler-plugins, which has no queues. Kueue has no scheduler and works with any (Kueue 0.19).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.hardware.nodes import levels_of
from ptcompile.ir.job import IndexedGroup, Job, Target
from ptcompile.kinds.model import GangSystem
from ptcompile.operators.queues.queue_systems import (
    KAI_PLACEMENT,
    KAI_PRIORITY,
    KAI_QUEUE,
    KAI_TOPOLOGY,
    KUEUE_POD_SET_GROUP,
    KUEUE_PRIORITY,
    KUEUE_QUEUE,
    KUEUE_TOPOLOGY,
)
from ptcompile.operators.table import BY_GANG_SCHEDULER
from ptcompile.spec import reader
from ptcompile.spec.checks import NON_SCHEDULERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile, GangScheduler, TopologyLevel


def queue_of(job: Job, cluster: ClusterProfile) -> str | None:
    """Return the job's queue, else the profile's, or None if neither names one or the job opts
    out.
    """
    return (cluster.spec.defaults.queue if job.queue is None else job.queue) or None


def gang_scheduler(cluster: ClusterProfile) -> GangScheduler:
    """Return the scheduler that places gangs in this cluster."""
    profile = cluster.spec
    if profile.queue_system not in NON_SCHEDULERS:
        return "volcano" if profile.queue_system == "volcano" else "kai"
    return profile.gang_scheduler or "none"


def gang_scheduler_of(job: Job, cluster: ClusterProfile) -> GangScheduler:
    """Return the scheduler that places this job as a gang: `none` for a single pod without a
    queue of the scheduler.
    """
    by_queue = (
        cluster.spec.queue_system not in NON_SCHEDULERS and queue_of(job, cluster) is not None
    )
    if job.pods > 1 or by_queue:
        return gang_scheduler(cluster)
    return "none"


def gang_system(job: Job, cluster: ClusterProfile) -> GangSystem:
    """Return how the job asks for a gang of the scheduler that places it."""
    return system_named(gang_scheduler_of(job, cluster))


def system_named(name: str) -> GangSystem:
    """Return how jobs ask for gangs of a scheduler."""
    if name == "none":
        return NO_GANGS
    return BY_GANG_SCHEDULER[name].gangs()


NO_GANGS = GangSystem()


def topology_system(job: Job, cluster: ClusterProfile, target: str) -> str | None:
    """Return the system that applies the topology constraint (kueue, volcano or kai), or None."""
    if target == "volcano":
        return "volcano"
    if cluster.spec.queue_system == "kueue" and queue_of(job, cluster):
        return "kueue"
    name = gang_scheduler(cluster)
    return name if system_named(name).places_topology else None


def can_share_domain(groups: Sequence[IndexedGroup]) -> bool:
    """Return whether Kueue can place these groups of pods, each a pod set, in one domain by a group
    name.

    Kueue requires two pod sets, one of them a single pod (Kueue 0.19, facts/kueue,
    ValidatePodSetGroupingTopology).
    """
    return len(groups) == 2 and any(group.pods * group.jobs == 1 for group in groups)


def level_of(job: Job, cluster: ClusterProfile) -> TopologyLevel:
    """Return the topology level that the job names, from the profile or its cloud, or an empty
    level.
    """
    name = job.topology.level if job.topology else ""
    level = cluster.spec.topology.levels.get(name)
    if level is None and (label := levels_of(cluster.spec.cloud).get(name)):
        return reader.label_level(label)
    return level or reader.unknown_level()


def object_labels(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """Return the labels of the admitted object, for Kueue and KAI."""
    system = cluster.spec.queue_system
    queue = queue_of(job, cluster)
    labels: dict[str, str] = {}
    if system == "kueue" and queue:
        labels[KUEUE_QUEUE] = queue
        if job.priority:
            labels[KUEUE_PRIORITY] = job.priority
    return labels | kai_labels(job, cluster)


def kai_labels(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """Return KAI's labels. They go on the object and on its pods, because a TrainJob's JobSet
    does not inherit them.
    """
    if cluster.spec.queue_system != "kai":
        return {}
    labels = {KAI_QUEUE: queue_of(job, cluster), KAI_PRIORITY: job.priority}
    return {key: value for key, value in labels.items() if value}


def object_annotations(job: Job, cluster: ClusterProfile, target: str) -> dict[str, str]:
    """Return the annotations of the admitted object: KAI's topology (KAI 0.15, docs/topology)."""
    if job.topology is None or topology_system(job, cluster, target) != "kai":
        return {}
    strictness = "required" if job.topology.required else "preferred"
    return {
        KAI_TOPOLOGY: cluster.spec.topology.name or "",
        KAI_PLACEMENT[strictness]: level_of(job, cluster).node_label or "",
    }


def pod_annotations(job: Job, cluster: ClusterProfile, target: Target) -> dict[str, str]:
    """Return the annotations of the pods: Kueue's topology, required or preferred, and the group
    name of two pod sets.

    Each role of a PyTorchJob and each replicatedJob of a JobSet is a separate pod set (Kueue 0.19;
    facts/kueue).
    """
    if job.topology is None or topology_system(job, cluster, target.name) != "kueue":
        return {}
    strictness = "required" if job.topology.required else "preferred"
    annotations = {KUEUE_TOPOLOGY[strictness]: level_of(job, cluster).node_label or ""}
    if can_share_domain(target.groups(job)):
        annotations[KUEUE_POD_SET_GROUP] = "nodes"
    return annotations


def network_topology(job: Job, cluster: ClusterProfile, target: str) -> dict[str, str | int] | None:
    """Return Volcano's `networkTopology` of a job or a PodGroup (Volcano 1.11 and newer;
    facts/volcano), or None: within HyperNodes of a tier, or as close as possible.

    Tiers are specific to a cluster; none is built in (volcano.sh apis/pkg/apis/topology/v1alpha1,
    2026-08-20).
    """
    if job.topology is None or topology_system(job, cluster, target) != "volcano":
        return None
    if not job.topology.required:
        return {"mode": "soft"}
    return {"mode": "hard", "highestTierAllowed": level_of(job, cluster).tier or 0}
