"""Kueue: its queues and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Problems
from ptcompile.kinds.model import (
    Feature,
    Foreign,
    Install,
    Kind,
    KindContext,
    Operator,
    QueueSystem,
    Rejections,
    RuleHelp,
)
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import Json
from ptcompile.kubernetes.versions import Versions


class KueueKind(Kind):
    """A kind of Kueue's own, whose CRD is shipped. Its pods are those of the jobs that it
    queues.
    """

    def __init__(self, api_version: str, name: str, *, namespaced: bool = False) -> None:
        self.api_version = api_version
        self.name = name
        self.namespaced = namespaced

    @property
    def rules(self) -> tuple[str, ...]:  # type: ignore[override]
        """The package of the rules of kinds that refer to other objects of Kueue."""
        is_referring = self.name in ("ClusterQueue", "LocalQueue", "ResourceFlavor")
        if is_referring:
            return ("operators.kueue.rules.references",)
        return ()

    @property
    def rule_helps(self) -> Mapping[str, RuleHelp]:  # type: ignore[override]
        """What to do about each CEL rule, loaded when one is violated."""
        rows = load_table("operators/kueue/objects/rule_helps.json")["helps"]
        return {message: (tuple(row["field"]), row["help"]) for message, row in rows.items()}

    @property
    def repeated_rules(self) -> frozenset[str]:  # type: ignore[override]
        """The CEL rules that the webhook repeats, loaded when one is violated."""
        return frozenset(load_table("operators/kueue/objects/rule_helps.json")["repeated"])

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        from ptcompile.operators.kueue.objects import default

        return default(manifest)

    def rejections(self) -> Rejections:
        from ptcompile.operators.kueue.objects import REJECTIONS

        return REJECTIONS


def _kinds() -> Iterator[Kind]:
    """Yield the kinds that Kueue's webhooks or the CEL rules of its CRDs check, in both
    versions.
    """
    for version in ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"):
        for name in (
            "AdmissionCheck",
            "ClusterQueue",
            "Cohort",
            "MultiKueueCluster",
            "ResourceFlavor",
            "Topology",
        ):
            yield KueueKind(version, name)

        for name in ("LocalQueue", "Workload"):
            yield KueueKind(version, name, namespaced=True)


class Kueue(Operator):
    """Kueue."""

    folder = "kueue"
    authority = "kueue"
    release = "kueue"
    title = "Kueue"
    kinds = tuple(_kinds())
    install = Install(
        "kueue",
        ("clusterqueues.{api}", "localqueues.{api}", "workloads.{api}"),
        # https://kueue.sigs.k8s.io/docs/installation/
        kubernetes=(((0, 11), (1, 29)),),
        images=("kueue",),
    )
    features: Mapping[str, Feature] = {
        "kueue-runtime-patches": Feature(
            "kueue",
            (0, 17),
            "a TrainJob is started through its runtimePatches",
            "Kueue issue 14722, facts/kueue",
        ),
        "kueue-topology-gate": Feature(
            "kueue",
            (0, 14),
            "a queued Pod has the gate of its topology too",
            "Kueue 0.17, pod_webhook.go, Default",
        ),
        "kueue-queue-labels": Feature(
            "kueue",
            (0, 17),
            "admitted pods have labels with their queues",
            "Kueue 0.17, AssignQueueLabelsForPods",
        ),
        "kueue-v1beta2": Feature(
            "kueue", (0, 15), "kueue.x-k8s.io/v1beta2", "Kueue 0.15 release notes"
        ),
    }
    modeled_since = (0, 18)
    older = ("kueue.x-k8s.io/v1beta1",)
    queue_system = "kueue"
    foreign = Foreign(
        marks="kueue.x-k8s.io/",
        kinds=frozenset(  # Volcano Jobs have their own queues
            {
                ("v1", "Pod"),
                ("apps/v1", "Deployment"),
                ("apps/v1", "StatefulSet"),
                ("batch/v1", "Job"),
                ("jobset.x-k8s.io/v1alpha2", "JobSet"),
                ("kubeflow.org/v1", "JAXJob"),
                ("kubeflow.org/v1", "PaddleJob"),
                ("kubeflow.org/v1", "PyTorchJob"),
                ("kubeflow.org/v1", "TFJob"),
                ("kubeflow.org/v1", "XGBoostJob"),
                ("kubeflow.org/v2beta1", "MPIJob"),
                ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
                ("ray.io/v1", "RayCluster"),
                ("ray.io/v1", "RayJob"),
                ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
                ("workload.codeflare.dev/v1beta2", "AppWrapper"),
            }
        ),
        related=frozenset(
            {
                ("kueue.x-k8s.io/v1beta1", "LocalQueue"),
                ("kueue.x-k8s.io/v1beta2", "LocalQueue"),
                ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"),
                ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
            }
        ),
        rules=("operators.kueue.rules",),
    )

    def queues(self) -> QueueSystem:
        from ptcompile.operators.kueue.queues import QUEUES

        return QUEUES

    def default_foreign(self, manifest: Json, related: Sequence[Json], versions: Versions) -> Json:
        from ptcompile.operators.kueue.webhooks.creation import default

        return default(manifest, related, versions)

    def validate_foreign(self, manifest: Json, request: KindContext) -> Problems:
        from ptcompile.operators.kueue.webhooks.creation import check_created

        return check_created(manifest, request)

    def validate_foreign_update(self, update: Update) -> Problems:
        from ptcompile.operators.kueue.webhooks.updates import check_update

        return iter(check_update(update))
