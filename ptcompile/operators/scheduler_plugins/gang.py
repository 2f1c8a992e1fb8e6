"""Gangs of scheduler-plugins' coscheduling: a PodGroup, and a label of the pods.

A PodGroup is scheduling.x-k8s.io/v1alpha1; pods name it in the label scheduling.x-k8s.io/pod-group
(scheduler-plugins, docs/plugins/coscheduling). The scheduler has no fixed name: the profile's
schedulerName is used.
"""

from __future__ import annotations

from ptcompile.kinds.model import GangSystem
from ptcompile.kubernetes.unstructured import JsonDict, without_none
from ptcompile.operators.queues.queue_systems import GROUP_LABEL
from ptcompile.operators.shared.emitting import minimum_resources, object_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Job
    from ptcompile.ir.pods import PodTemplate
    from ptcompile.spec.cluster_profile import ClusterProfile


def _group(job: Job, cluster: ClusterProfile, _target: str) -> JsonDict:
    spec: JsonDict = {"minMember": job.min_pods, **minimum_resources(job), **_timeout(cluster)}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": object_metadata(job),
        "spec": spec,
    }


def _with_group(template: PodTemplate, job: Job, _cluster: ClusterProfile) -> PodTemplate:
    return template._replace(labels={GROUP_LABEL: job.name, **template.labels})


def _scheduling_policy(job: Job, cluster: ClusterProfile) -> JsonDict:
    return {"minAvailable": job.min_pods, **_timeout(cluster)}


def _runtime_policy(_job: Job, cluster: ClusterProfile) -> JsonDict:
    return {"coscheduling": _timeout(cluster)}


def _timeout(cluster: ClusterProfile) -> JsonDict:
    return without_none({"scheduleTimeoutSeconds": cluster.spec.schedule_timeout_seconds})


GANGS = GangSystem(
    group=_group,
    with_group=_with_group,
    scheduling_policy=_scheduling_policy,
    runtime_policy=_runtime_policy,
)
