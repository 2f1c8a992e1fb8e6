"""Gangs of Volcano for the targets of other operators: a PodGroup, and an annotation of the pods.

A PodGroup is scheduling.volcano.sh/v1beta1; pods name it in the annotation
scheduling.k8s.io/group-name. Volcano itself creates one with minMember 1 for each Job whose pods
lack the annotation (Volcano 1.16, pkg/controllers/podgroup).
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.kinds.model import GangSystem
from ptcompile.kubernetes.unstructured import JsonDict, without_none
from ptcompile.operators.queues.queue_systems import GROUP_NAME
from ptcompile.operators.queues.queues import level_of, network_topology
from ptcompile.operators.shared.emitting import (
    SPEC,
    TOPOLOGY,
    minimum_resources,
    object_metadata,
    unsupported_by_target,
    volcano_fields,
)
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Job, Target
    from ptcompile.ir.pods import PodTemplate
    from ptcompile.spec.cluster_profile import ClusterProfile


def _group(job: Job, cluster: ClusterProfile, target: str) -> JsonDict:
    fields = volcano_fields(job, cluster) | {
        "networkTopology": network_topology(job, cluster, target)
    }
    spec: JsonDict = {"minMember": job.min_pods, **minimum_resources(job), **without_none(fields)}

    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": object_metadata(job),
        "spec": spec,
    }


def _with_group(template: PodTemplate, job: Job, _cluster: ClusterProfile) -> PodTemplate:
    return template._replace(annotations={GROUP_NAME: job.name, **template.annotations})


def _scheduling_policy(job: Job, cluster: ClusterProfile) -> JsonDict:
    fields = volcano_fields(job, cluster)
    queued = {"queue": fields["queue"], "priorityClass": fields["priorityClassName"]}
    return {"minAvailable": job.min_pods, **without_none(queued)}


def _runtime_policy(job: Job, cluster: ClusterProfile) -> JsonDict:
    return {
        "volcano": without_none({"networkTopology": network_topology(job, cluster, "trainjob")})
    }


def _check(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    if target.name == "trainjob" and not has_feature("trainer-volcano", cluster.versions()):
        path = (*SPEC, "queue") if job.queue else SPEC
        yield unsupported_by_target(
            path,
            "Trainer supports Volcano only since 2.1",
            "use the target volcano or pytorchjob, or a newer Trainer",
        )


def _check_topology(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    name = job.topology.level if job.topology else ""

    if level_of(job, cluster).tier is None:
        message = (
            f"the profile {cluster.metadata.name!r} gives {name} no tier, which Volcano requires"
        )
        yield unsupported_by_target(TOPOLOGY, message, "add its tier")
    elif not has_feature("volcano-topology", cluster.versions()):
        yield unsupported_by_target(
            TOPOLOGY,
            "Volcano has network topology only since 1.11",
            "remove it, or use a newer Volcano",
        )
    elif target.name == "pytorchjob":
        message = "the training-operator creates the PodGroup and has no field for it"
        yield unsupported_by_target(
            TOPOLOGY, message, "use the target volcano, trainjob, jobset or job"
        )


GANGS = GangSystem(
    scheduler_name="volcano",
    places_topology=True,
    group=_group,
    with_group=_with_group,
    scheduling_policy=_scheduling_policy,
    runtime_policy=_runtime_policy,
    check=_check,
    check_topology=_check_topology,
)
