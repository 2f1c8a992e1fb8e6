"""Kubeflow Trainer: TrainJob, TrainingRuntime and ClusterTrainingRuntime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile.diagnostics import Path
from ptcompile.kinds.model import (
    Base,
    Conversion,
    Feature,
    Install,
    JobTemplates,
    Kind,
    KindContext,
    KindDefaults,
    LaunchFields,
    LostPod,
    Operator,
    Rejections,
    RendezvousSettings,
    Retry,
)
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_map
from ptcompile.operators.jobset import NO_RESTART
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.versions import Version, Versions

_API_VERSION = "trainer.kubeflow.org/v1alpha1"
_API = "Trainer {} pkg/apis/trainer/v1alpha1, facts/trainer"


class TrainJob(Kind):
    """A TrainJob."""

    api_version = _API_VERSION
    name = "TrainJob"
    schema = "trainer.kubeflow.org/trainjob_v1alpha1.json"
    rules = ("operators.trainer.rules.trainjob", *POD_RULES, *LAUNCH_RULES)
    rendezvous = RendezvousSettings(roles=True, fixed_size=True)
    launch_fields = LaunchFields(  # Trainer 2.3
        options={
            "nproc-per-node": (("spec", "trainer", "numProcPerNode"),),
            "nnodes": (("spec", "trainer", "numNodes"),),
        },
        container=("spec", "trainer"),
        alone_help="add torch: {} to mlPolicy of the runtime: without it no pod gets PET_* variables",
    )

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.trainer.pods import expand

        return expand(manifest, request)

    def gang_scheduler(self, manifest: Json, related: Sequence[Json]) -> str:
        from ptcompile.operators.trainer.pods import gang_scheduler

        return gang_scheduler(manifest, related)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.trainer.pods import lost_pod

        return lost_pod(manifest, role, related)

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.trainer.pods import restarts

        return restarts(manifest, role, related, exit_code)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.trainer.pods import describe_failures

        return describe_failures(manifest, request.related)

    def runtime(self, manifest: Json, related: Iterable[Json], versions: Versions) -> Base:
        from ptcompile.operators.trainer.runtimes import find_runtime

        return find_runtime(manifest, related, versions.trainer)

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.trainer.read import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.trainer.facts import FOLLOWING

        return FOLLOWING

    def in_current_fields(self, manifest: Json, release: Version) -> Json:
        from ptcompile.operators.trainer.patches import to_current_fields

        return to_current_fields(manifest, release)

    def written_path(self, path: Path, release: Version) -> Path:
        from ptcompile.operators.trainer.patches import written_path

        return written_path(path, release)

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        from ptcompile.operators.trainer.admission import default

        return default(manifest, complete=complete)

    def rejections(self) -> Rejections:
        from ptcompile.operators.trainer.admission import REJECTIONS

        return REJECTIONS


class TrainingRuntime(Kind):
    """A runtime of one namespace."""

    api_version = _API_VERSION
    name = "TrainingRuntime"
    schema = "trainer.kubeflow.org/trainingruntime_v1alpha1.json"
    rules = (*POD_RULES, "operators.trainer.rules.runtime")
    rendezvous = RendezvousSettings(roles=True)

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.trainer.pods import runtime_templates

        return runtime_templates(manifest)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.jobset.pods import lost_pod

        return lost_pod(nested_map(manifest, "spec", "template", "spec"), role)

    def rejections(self) -> Rejections:
        from ptcompile.operators.trainer.admission import REJECTIONS_OF_RUNTIMES

        return REJECTIONS_OF_RUNTIMES


class ClusterTrainingRuntime(TrainingRuntime):
    """A runtime of the whole cluster."""

    name = "ClusterTrainingRuntime"
    schema = "trainer.kubeflow.org/clustertrainingruntime_v1alpha1.json"
    namespaced = False


class KubeflowTrainer(Operator):
    """Kubeflow Trainer."""

    folder = "trainer"
    authority = "trainer"
    release = "trainer"
    kinds = (TrainJob(), TrainingRuntime(), ClusterTrainingRuntime())
    target_name = "trainjob"
    conversion = Conversion(
        job_templates=JobTemplates(
            "trainjob/TrainingRuntime",
            ("spec", "template", "spec"),
            container="node",
            without_restart=NO_RESTART,
        )
    )
    install = Install(
        "trainer",
        (
            "trainjobs.trainer.kubeflow.org/v1alpha1",
            "clustertrainingruntimes.trainer.kubeflow.org/v1alpha1",
            "trainingruntimes.trainer.kubeflow.org/v1alpha1",
        ),
        kubernetes=(((2, 0), (1, 31)),),  # kubeflow.org, Trainer, Installation
        brings=(("runtime", "torch-distributed", "a ClusterTrainingRuntime of Trainer's release"),),
        requires="jobset",
        images=("trainer-controller-manager",),
    )
    features: Mapping[str, Feature] = {
        "trainjob": Feature("trainer", (2, 0), "the kind TrainJob", _API.format("2.0")),
        "pod-spec-overrides": Feature(
            "trainer",
            (2, 0),
            "a TrainJob changes pods through podSpecOverrides",
            _API.format("2.0"),
            until=(2, 0),
        ),
        "pod-template-overrides": Feature(
            "trainer",
            (2, 1),
            "podTemplateOverrides; with metadata, affinity and imagePullSecrets",
            _API.format("2.1"),
            until=(2, 1),
        ),
        "runtime-patches": Feature(
            "trainer",
            (2, 2),
            "runtimePatches; with security contexts and terminationGracePeriodSeconds",
            _API.format("2.2"),
        ),
        "nproc-words": Feature(
            "trainer",
            (2, 0),
            "trainer.numProcPerNode may be auto, cpu or gpu",
            _API.format("2.1"),
            until=(2, 1),
        ),
        "trainjob-deadline": Feature(
            "trainer", (2, 2), "spec.activeDeadlineSeconds of a TrainJob", _API.format("2.2")
        ),
        "trainer-volcano": Feature(
            "trainer",
            (2, 1),
            "podGroupPolicy.volcano of a runtime",
            "Trainer 2.1 release notes, facts/trainer",
        ),
        "resources-merged": Feature(
            "trainer",
            (2, 3),
            "resourcesPerNode is merged with the runtime's by name",
            "Trainer 2.3, PR 3602, facts/trainer",
        ),
        "trainjob-managed-by": Feature(
            "trainer",
            (2, 3),
            "managedBy is honored by the controller",
            "Trainer 2.3, PR 3681, facts/trainer",
        ),
    }

    def target(self) -> Target:
        from ptcompile.operators.trainer.emit import TRAINJOB

        return TRAINJOB

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.trainer.facts import DEFAULTS

        return DEFAULTS

    def platform_objects(
        self, manifests: Sequence[JsonDict], versions: Versions
    ) -> Iterator[JsonDict]:
        from ptcompile.operators.trainer.runtimes import platform_objects

        return platform_objects(manifests, versions)
