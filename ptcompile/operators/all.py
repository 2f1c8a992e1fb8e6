"""The operators, in the order of the targets: the one table that is keyed by kind. All others are views of it.

A new operator is a folder, a record here, and an authority in `findings.diagnostics`.
"""

from functools import lru_cache
from typing import Any, Final

from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.record import Key, Kind, Operator, resolve

_PODS: Final = ("linting.containers", "linting.pods", "linting.image")
_LAUNCH: Final = ("linting.launch", "operators.kueue.rules")
_TRAINER: Final = "trainer.kubeflow.org/v1alpha1"
_RUNTIME: Final[dict[str, Any]] = {
    "fixed": "update:FIXED_IN_RUNTIMES",
    "rules": (*_PODS, "operators.trainer.rules.runtime"),
    "templates": "templates:of_runtime",
    "crd": "crd_runtime:training_runtime_rules",
    "webhook": "webhook_runtime:check",
    "pod_checks": "pod_checks:runtime",
}

OPERATORS: Final = (
    Operator(
        "pod",
        authority="kube-apiserver",
        version="kubernetes",
        target="pod",
        emit="emit:POD",
        sentences="sentences:SENTENCES",
        kinds=(
            Kind(
                "v1",
                "Pod",
                rules=(*_PODS, *_LAUNCH),
                templates="templates:of",
                pods="pods:expand",
                read="read:read",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
            ),
        ),
    ),
    Operator(
        "batch",
        authority="kube-apiserver",
        version="kubernetes",
        target="job",
        emit="emit:JOB",
        sentences="sentences:SENTENCES",
        defaults="defaults:DEFAULTS",
        changes="changes:CHANGES",
        kinds=(
            Kind(
                "batch/v1",
                "Job",
                rules=(*_PODS, "operators.batch.rules", *_LAUNCH),
                templates="templates:of",
                pods="pods:expand",
                read="read:read",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
            ),
        ),
    ),
    Operator(
        "pytorchjob",
        authority="training-operator",
        version="training_operator",
        target="pytorchjob",
        emit="emit:PYTORCHJOB",
        sentences="sentences:SENTENCES",
        defaults="defaults:DEFAULTS",
        changes="changes:CHANGES",
        software="training-operator",
        kubernetes=(  # README, Version Matrix; from 1.8 on kubeflow.org, legacy v1, Installation
            ((1, 0), (1, 16)),
            ((1, 3), (1, 18)),
            ((1, 4), (1, 23)),
            ((1, 7), (1, 25)),
            ((1, 8), (1, 28)),
        ),
        crds=("pytorchjobs.kubeflow.org/v1",),
        kinds=(
            Kind(
                "kubeflow.org/v1",
                "PyTorchJob",
                schema="kubeflow.org/pytorchjob_v1.json",
                rules=(*_PODS, "operators.pytorchjob.rules", *_LAUNCH),
                templates="templates:of",
                pods="pods:expand",
                read="read:read",
                crd="crd:pytorch_job_rules",
                webhook="webhook:check",
                controller="webhook:later",
                pod_checks="pod_checks:check",
                fixed="update:FIXED",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
                gang="gang:counted",
                options="options:OPTIONS",
            ),
        ),
    ),
    Operator(
        "volcano",
        authority="volcano",
        version="volcano",
        target="volcano",
        emit="emit:VOLCANO",
        sentences="sentences:SENTENCES",
        defaults="defaults:DEFAULTS",
        changes="changes:CHANGES",
        software="volcano",
        kubernetes=(((1, 0), (1, 16)),),  # README: CRDs of apiextensions.k8s.io/v1
        crds=(
            "jobs.batch.volcano.sh/v1alpha1",
            "podgroups.scheduling.volcano.sh/v1beta1",
            "queues.scheduling.volcano.sh/v1beta1",
        ),
        kinds=(
            Kind(
                "batch.volcano.sh/v1alpha1",
                "Job",
                schema="batch.volcano.sh/job_v1alpha1.json",
                rules=(*_PODS, "operators.volcano.rules", *_LAUNCH),
                templates="templates:of",
                pods="pods:expand",
                read="read:read",
                default="webhook:default",
                webhook="webhook:check",
                controller="controller:later",
                pod_checks="pod_checks:check",
                update="update:check",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
                gang="gang:counted",
                crowded="pods:crowded",
            ),
            Kind("scheduling.volcano.sh/v1beta1", "PodGroup", schema="scheduling.volcano.sh/podgroup_v1beta1.json"),
        ),
    ),
    Operator(
        "trainer",
        authority="trainer",
        version="trainer",
        target="trainjob",
        emit="emit:TRAINJOB",
        sentences="sentences:SENTENCES",
        defaults="defaults:DEFAULTS",
        changes="changes:CHANGES",
        software="trainer",
        kubernetes=(((2, 0), (1, 31)),),  # kubeflow.org, Trainer, Installation
        crds=(
            "trainjobs.trainer.kubeflow.org/v1alpha1",
            "clustertrainingruntimes.trainer.kubeflow.org/v1alpha1",
            "trainingruntimes.trainer.kubeflow.org/v1alpha1",
        ),
        beside="jobset",
        kinds=(
            Kind(
                _TRAINER,
                "TrainJob",
                schema="trainer.kubeflow.org/trainjob_v1alpha1.json",
                rules=("operators.trainer.rules.trainjob", "linting.image", *_LAUNCH),
                pods="pods:expand",
                read="read:read",
                crd="crd:train_job_rules",
                default="webhook:default",
                webhook="webhook:check",
                controller="controller:later",
                pod_checks="pod_checks:train_job",
                fixed="update:FIXED",
                update="update:check",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
                in_newest_words="older_releases:today",
                in_written_words="older_releases:written",
                base="runtimes:base",
                options="options:OPTIONS",
            ),
            Kind(
                _TRAINER,
                "TrainingRuntime",
                schema="trainer.kubeflow.org/trainingruntime_v1alpha1.json",
                **_RUNTIME,
            ),
            Kind(
                _TRAINER,
                "ClusterTrainingRuntime",
                schema="trainer.kubeflow.org/clustertrainingruntime_v1alpha1.json",
                **_RUNTIME,
            ),
        ),
    ),
    Operator(
        "jobset",
        authority="jobset",
        version="jobset",
        target="jobset",
        emit="emit:JOBSET",
        sentences="sentences:SENTENCES",
        defaults="defaults:DEFAULTS",
        software="jobset",
        kubernetes=(((0, 1), (1, 21)),),  # site, Installation
        crds=("jobsets.jobset.x-k8s.io/v1alpha2",),
        kinds=(
            Kind(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                schema="jobset.x-k8s.io/jobset_v1alpha2.json",
                rules=(*_PODS, "operators.jobset.rules", *_LAUNCH),
                templates="templates:of",
                pods="pods:expand",
                read="read:read",
                crd="crd:jobset_rules",
                default="webhook:default",
                webhook="webhook:check",
                controller="webhook:later",
                pod_checks="pod_checks:check",
                fixed="update:FIXED",
                update="update:check",
                failure="failure:sentences",
                status="status:status",
                following="following:FOLLOWING",
            ),
        ),
    ),
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
                rules=(*_PODS, "operators.mpijob.rules", "operators.kueue.rules"),
                templates="templates:of",
                pods="pods:expand",
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
        admits="marks:QUEUED",
        admission="webhook:check",
        marks="kueue.x-k8s.io/",
        changes="changes:CHANGES",
        software="kueue",
        kubernetes=(((0, 11), (1, 29)),),  # site, Installation
        crds=("clusterqueues.{kueue_api}", "localqueues.{kueue_api}", "workloads.{kueue_api}"),
    ),
    Operator(
        "kai",
        authority="ptcompile",
        version="kai",
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
    Operator(
        "scheduler_plugins",
        authority="kube-apiserver",
        version="kubernetes",
        kinds=(Kind("scheduling.x-k8s.io/v1alpha1", "PodGroup", schema="scheduling.x-k8s.io/podgroup_v1alpha1.json"),),
    ),
)

BY_FOLDER: Final = {one.folder: one for one in OPERATORS}
BY_TARGET: Final = {one.target: one for one in OPERATORS if one.target}
KINDS: Final[dict[Key, tuple[Operator, Kind]]] = {kind.key: (one, kind) for one in OPERATORS for kind in one.kinds}


def having(field: str) -> frozenset[Key]:
    """The kinds whose records say something under a field, such as `pods`."""
    return frozenset(key for key, (_, kind) in KINDS.items() if getattr(kind, field))


def version(key: Key, versions: Versions) -> Version:
    """The release, among a cluster's, of the operator of a known kind."""
    found: Version = getattr(versions, KINDS[key][0].version)
    return found


@lru_cache(maxsize=1024)
def part(key: Key, field: str) -> Any:
    """What the record of a kind names under a field, imported; None where the kind is unknown or names nothing."""
    found = KINDS.get(key)
    reference = getattr(found[1], field) if found else ""
    return resolve(found[0].folder, reference) if found and reference else None
