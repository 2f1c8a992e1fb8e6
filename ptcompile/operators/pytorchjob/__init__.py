"""Kubeflow's training-operator: PyTorchJob."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kinds.model import (
    Additions,
    Conversion,
    Feature,
    Install,
    Kind,
    KindContext,
    KindDefaults,
    LaunchFields,
    LeftBehind,
    LostPod,
    Operator,
    Rejections,
    RendezvousSettings,
    Retry,
)
from ptcompile.kubernetes.unstructured import Json, nested_int
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES
from ptcompile.operators.queues.queue_systems import first_pods_of_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import ExpandedRole, Expansion, Shares
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects

_ELASTIC = ("spec", "elasticPolicy")


class PyTorchJob(Kind):
    """A PyTorchJob."""

    api_version = "kubeflow.org/v1"
    name = "PyTorchJob"
    schema = "kubeflow.org/pytorchjob_v1.json"
    rules = (*POD_RULES, "operators.pytorchjob.rules", *LAUNCH_RULES)
    rendezvous = RendezvousSettings(roles=True, all_pods=True, open=True)
    additions = Additions(env_of="training-operator", job_label="training.kubeflow.org/job-name")
    launch_fields = LaunchFields(  # training-operator 1.9
        options={
            "nproc-per-node": (("spec", "nprocPerNode"), (*_ELASTIC, "nProcPerNode")),
            "nnodes": ((*_ELASTIC, "maxReplicas"), (*_ELASTIC, "minReplicas")),
            "rdzv-backend": ((*_ELASTIC, "rdzvBackend"),),
            "rdzv-endpoint": ((*_ELASTIC, "rdzvHost"), (*_ELASTIC, "rdzvPort")),
            "rdzv-id": ((*_ELASTIC, "rdzvId"),),
            "rdzv-conf": ((*_ELASTIC, "rdzvConf"),),
            "max-restarts": ((*_ELASTIC, "maxRestarts"),),
            "standalone": ((*_ELASTIC, "standalone"),),
        }
    )
    gang_counts_limits = True

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.pytorchjob.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.pytorchjob.pods import expand

        return expand(manifest, request)

    def gang(self, group: Json, roles: tuple[ExpandedRole, ...]) -> Shares:
        return first_pods_of_roles(nested_int(group, "minMember"), roles)

    def gang_scheduler(self, manifest: Json, related: Sequence[Json]) -> str:
        from ptcompile.operators.pytorchjob.pods import gang_scheduler

        return gang_scheduler(manifest)

    def recreates(self, manifest: Json, template: Template) -> bool:
        from ptcompile.operators.pytorchjob.pods import is_recreated

        return is_recreated(manifest, template)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.pytorchjob.pods import lost_pod

        return lost_pod(manifest, role)

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.pytorchjob.pods import restarts

        return restarts(manifest, role, exit_code)

    def retries(self, manifest: Json) -> int:
        return nested_int(manifest, "spec", "runPolicy", "backoffLimit")

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.pytorchjob.pods import describe_failures

        return describe_failures(manifest, request.versions.training_operator)

    def lacks_rendezvous(self, manifest: Json, options: Mapping[str, str]) -> bool:
        from ptcompile.operators.pytorchjob.pods import lacks_rendezvous

        return lacks_rendezvous(manifest, options)

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.pytorchjob.read import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.pytorchjob.facts import FOLLOWING

        return FOLLOWING

    def rejections(self) -> Rejections:
        from ptcompile.operators.pytorchjob.admission import REJECTIONS

        return REJECTIONS


_METRICS = ("spec", "elasticPolicy", "metrics")


class TrainingOperator(Operator):
    """Kubeflow's training-operator."""

    folder = "pytorchjob"
    conversion = Conversion(
        left_behind={
            _METRICS: LeftBehind(
                "no autoscaler changes the number of nodes: the job keeps the number that it "
                "starts with",
                "remove it, or start the job with the number of nodes that it needs",
            )
        },
        without_effect=(
            *(
                ("spec", "pytorchReplicaSpecs", role, "template", "spec", "restartPolicy")
                for role in ("Master", "Worker")
            ),
            # convert compares the gangs and the endpoints themselves
            ("spec", "runPolicy", "schedulingPolicy", "minAvailable"),
            (*_ELASTIC, "rdzvHost"),
            (*_ELASTIC, "rdzvPort"),
        ),
        successor="trainjob",  # Kubeflow: training-operator 1.9 is followed by Trainer 2
        port_name="pytorchjob-port",
    )
    authority = "training-operator"
    release = "training_operator"
    kinds = (PyTorchJob(),)
    target_name = "pytorchjob"
    install = Install(
        "training-operator",
        ("pytorchjobs.kubeflow.org/v1",),
        kubernetes=(  # README, Version Matrix; from 1.8 on kubeflow.org, legacy v1, Installation
            ((1, 0), (1, 16)),
            ((1, 3), (1, 18)),
            ((1, 4), (1, 23)),
            ((1, 7), (1, 25)),
            ((1, 8), (1, 28)),
        ),
        images=("training-operator",),
    )
    features: Mapping[str, Feature] = {
        "nproc-per-node": Feature(
            "training_operator",
            (1, 7),
            "spec.nprocPerNode, PET_* variables, WORLD_SIZE counts processes",
            "training-operator 1.7, facts/training-operator",
        ),
        "nproc-without-master": Feature(
            "training_operator",
            (1, 8),
            "spec.nprocPerNode reaches workers without a Master",
            "training-operator 1.8, facts/training-operator",
        ),
        "training-webhook": Feature(
            "training_operator",
            (1, 8),
            "a validating webhook rejects PyTorchJobs",
            "training-operator 1.8, facts/training-operator",
        ),
        "training-managed-by": Feature(
            "training_operator",
            (1, 9),
            "runPolicy.managedBy",
            "training-operator 1.9, facts/training-operator",
        ),
    }

    def target(self) -> Target:
        from ptcompile.operators.pytorchjob.emit import PYTORCHJOB

        return PYTORCHJOB

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.pytorchjob.facts import DEFAULTS

        return DEFAULTS
