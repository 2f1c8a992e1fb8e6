"""The operators, in the order of the targets: the one table that is keyed by kind. All others are views of it.

A new operator is a folder, a record here, and an authority in `findings.diagnostics`.
"""

from functools import lru_cache
from typing import Any, Final

from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.beside import BESIDE
from ptcompile.operators.record import PODS, Key, Kind, Operator, resolve

_LAUNCH: Final = ("linting.launch", "operators.kueue.rules")
_TRAINER: Final = "trainer.kubeflow.org/v1alpha1"
_JOB: Final[dict[str, Any]] = {
    "pods": "pods:expand",
    "failure": "failure:sentences",
    "status": "status:status",
    "following": "following:FOLLOWING",
    "read": "read:read",
}
"""What every kind that a target writes has."""
_RUNTIME: Final[dict[str, Any]] = {
    "fixed": "update:FIXED_IN_RUNTIMES",
    "later": "update:later_jobs",
    "rules": (*PODS, "operators.trainer.rules.runtime"),
    "templates": "templates:of_runtime",
    "several": True,
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
                shared=True,
                more_pods=True,
                rules=(*PODS, *_LAUNCH),
                templates="templates:of",
                **_JOB,
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
                shared=True,
                recreated="retries:recreated",
                retries="retries:retries",
                rules=(*PODS, "operators.batch.rules", *_LAUNCH),
                templates="templates:of",
                **_JOB,
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
                several=True,
                together=True,
                more_pods=True,
                overrides="training-operator",
                limits_count=True,
                later="update:later",
                labels=("training.kubeflow.org/job-name",),
                recreated="retries:recreated",
                retries="retries:retries",
                rules=(*PODS, "operators.pytorchjob.rules", *_LAUNCH),
                templates="templates:of",
                crd="crd:pytorch_job_rules",
                webhook="webhook:check",
                controller="webhook:later",
                pod_checks="pod_checks:check",
                fixed="update:FIXED",
                **_JOB,
                gang="gang:counted",
                options="options:OPTIONS",
                meets_nowhere="meeting:meets_nowhere",
            ),
        ),
    ),
    Operator(
        "volcano",
        authority="volcano",
        version="volcano",
        title="Volcano",
        queue_system="volcano",
        gang_scheduler="volcano",
        queues="queues:QUEUES",
        probes=(("gang of Volcano, range of nodes", {"elastic": {"nnodes": "2:4"}}, {"gangScheduler": "volcano"}),),
        of_roles="vc-",  # VC_X_HOSTS of a task x (Volcano 1.16)
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
                word="volcano",
                several=True,
                ranked_by=("RANK", "MASTER_ADDR"),
                shared=True,
                overrides="Volcano",
                resolves=True,
                mounts=("/etc/volcano",),
                as_written=True,
                labels=("volcano.sh/job-name",),
                recreated="retries:recreated",
                rules=(*PODS, "operators.volcano.rules", *_LAUNCH),
                templates="templates:of",
                default="webhook:default",
                webhook="webhook:check",
                controller="controller:later",
                pod_checks="pod_checks:check",
                update="update:check",
                **_JOB,
                gang="gang:counted",
                crowded="pods:crowded",
                too_wide="width:too_wide",
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
        brings=(("runtime", "torch-distributed", "a ClusterTrainingRuntime of Trainer's release"),),
        objects="platform:objects",
        kinds=(
            Kind(
                _TRAINER,
                "TrainJob",
                schema="trainer.kubeflow.org/trainjob_v1alpha1.json",
                trainer=("spec", "trainer"),
                several=True,
                fixed_size=True,
                rules=("operators.trainer.rules.trainjob", "linting.image", *_LAUNCH),
                crd="crd:train_job_rules",
                default="webhook:default",
                webhook="webhook:check",
                controller="controller:later",
                pod_checks="pod_checks:train_job",
                fixed="update:FIXED",
                update="update:check",
                **_JOB,
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
                namespaced=False,
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
        older=("jobset.x-k8s.io/v1alpha1",),
        kinds=(
            Kind(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                schema="jobset.x-k8s.io/jobset_v1alpha2.json",
                several=True,
                shared=True,
                labels=("jobset.sigs.k8s.io/jobset-name",),
                recreated="retries:recreated",
                retries="retries:retries",
                rules=(*PODS, "operators.jobset.rules", *_LAUNCH),
                templates="templates:of",
                crd="crd:jobset_rules",
                default="webhook:default",
                webhook="webhook:check",
                controller="webhook:later",
                pod_checks="pod_checks:check",
                fixed="update:FIXED",
                update="update:check",
                **_JOB,
            ),
        ),
    ),
    *BESIDE,
)

_UNKNOWN: Final = Kind("", "")
BY_FOLDER: Final = {one.folder: one for one in OPERATORS}
BY_QUEUE_SYSTEM: Final = {one.queue_system: one for one in OPERATORS if one.queue_system}
BY_GANG_SCHEDULER: Final = {one.gang_scheduler: one for one in OPERATORS if one.gang_scheduler}
BY_TARGET: Final = {one.target: one for one in OPERATORS if one.target}
KINDS: Final[dict[Key, tuple[Operator, Kind]]] = {kind.key: (one, kind) for one in OPERATORS for kind in one.kinds}


def record(key: Key) -> Kind:
    """The record of a kind; an empty one of a kind that is unknown."""
    found = KINDS.get(key)
    return found[1] if found else _UNKNOWN


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
