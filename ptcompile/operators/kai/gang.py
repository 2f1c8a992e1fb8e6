"""Gangs of KAI, which makes its PodGroups itself from the pods' owners (KAI 0.15,
pkg/podgrouper).
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.kinds.model import GangSystem
from ptcompile.operators.queues.queues import level_of
from ptcompile.operators.shared.emitting import (
    SPEC,
    TOPOLOGY,
    check_node_label,
    done_differently,
    unsupported_by_target,
)
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Job, Target
    from ptcompile.spec.cluster_profile import ClusterProfile


def _check(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    versions = cluster.versions()
    one_by_one = target.name in {"job", "trainjob"} and not has_feature(
        f"kai-{target.name}", versions
    )
    if one_by_one and job.pods > 1:
        yield done_differently(
            SPEC,
            f"KAI {'.'.join(map(str, versions.kai))} schedules the pods of this target one by one",
            "use the target pytorchjob or jobset, or a newer KAI",
        )


def _check_topology(job: Job, cluster: ClusterProfile, _target: Target) -> Problems:
    if level_of(job, cluster).node_label is None:
        yield from check_node_label(job, cluster, "KAI")
    elif cluster.spec.topology.name is None:
        yield unsupported_by_target(
            TOPOLOGY,
            f"the profile {cluster.metadata.name!r} does not name the Topology object that KAI "
            "requires",
            "add spec.topology.name to the profile",
        )


GANGS = GangSystem(
    scheduler_name="kai-scheduler",
    places_topology=True,
    check=_check,
    check_topology=_check_topology,
)
