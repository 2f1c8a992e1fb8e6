"""The operators that no target writes for: MPIJobs are read, the others admit, place or serve the jobs of targets."""

from __future__ import annotations

from ptcompile.operators.record import PODS, Kind, Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

BESIDE: Final = (
    Operator(
        "mpijob",
        authority="mpi-operator",
        version="mpi_operator",
        defaults="defaults:DEFAULTS",
        software="mpi-operator",
        crds=("mpijobs.kubeflow.org/v2beta1",),
        kinds=(
            Kind(
                "kubeflow.org/v2beta1",
                "MPIJob",
                schema="kubeflow.org/mpijob_v2beta1.json",
                rules=(*PODS, "operators.mpijob.rules", "operators.kueue.rules"),
                templates="templates:of",
                pods="pods:expand",
                later="update:later",
                controller="controller:later",
                pod_checks="pod_checks:check",
                failure="failure:sentences",
            ),
        ),
    ),
    Operator(
        "kueue",
        authority="kueue",
        version="kueue",
        title="Kueue",
        queue_system="kueue",
        queues="queues:QUEUES",
        queue_of="marks:queue",
        probes=(("queue of Kueue, in another cluster", {"queue": "q"}, {"multiKueue": True, "queueSystem": "kueue"}),),
        admits="marks:QUEUED",
        admission="webhook:check",
        marks="kueue.x-k8s.io/",
        admission_on_update="update:kueue_update",
        older=("kueue.x-k8s.io/v1beta1",),
        changes="changes:CHANGES",
        software="kueue",
        kubernetes=(((0, 11), (1, 29)),),  # site, Installation
        crds=("clusterqueues.{api}", "localqueues.{api}", "workloads.{api}"),
    ),
    Operator(
        "scheduler_plugins",
        authority="kube-apiserver",
        version="kubernetes",  # its own releases are not told apart
        gang_scheduler="scheduler-plugins",
        software="scheduler-plugins",
        purpose="schedules the pods of a job together",
        crds=("podgroups.scheduling.x-k8s.io/v1alpha1",),
        kinds=(Kind("scheduling.x-k8s.io/v1alpha1", "PodGroup", schema="scheduling.x-k8s.io/podgroup_v1alpha1.json"),),
    ),
    Operator(
        "kai",
        authority="ptcompile",
        version="kai",
        title="KAI",
        queue_system="kai",
        queues="queues:QUEUES",
        gang_scheduler="kai",
        changes="changes:CHANGES",
        software="kai-scheduler",
        crds=("queues.scheduling.run.ai/v2", "podgroups.scheduling.run.ai/v2alpha2"),
    ),
    Operator(
        "nvidia_dra",
        authority="kube-apiserver",
        version="nvidia_dra",
        software="nvidia-dra-driver-gpu",
        kubernetes=(((25, 3), (1, 32)), ((25, 12), (1, 34))),  # site, Prerequisites; the chart: kubeVersion
        crds=("computedomains.resource.nvidia.com/v1beta1",),
        kinds=(
            Kind(
                "resource.nvidia.com/v1beta1",
                "ComputeDomain",
                schema="resource.nvidia.com/computedomain_v1beta1.json",
                rules=("operators.nvidia_dra.rules",),
                fixed="update:FIXED",
            ),
        ),
    ),
)
