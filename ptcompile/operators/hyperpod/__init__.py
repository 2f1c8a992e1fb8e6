"""SageMaker HyperPod's training operator: HyperPodPyTorchJob, which ptcompile reads and does not
write.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds.model import (
    Additions,
    Install,
    Kind,
    KindContext,
    Operator,
    Rejections,
    RendezvousSettings,
)
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.unstructured import Json


class HyperPodPyTorchJob(Kind):
    """A HyperPodPyTorchJob, by either spelling of its name that pages of AWS have.

    Its CRD is not public, so it has no schema, and a field that ptcompile does not know is not a
    finding.
    """

    api_version = "sagemaker.amazonaws.com/v1"
    rules = (*POD_RULES, *LAUNCH_RULES)
    rendezvous = RendezvousSettings(roles=True, open=True)
    additions = Additions(job_label="HPJob")

    def __init__(self, name: str) -> None:
        self.name = name

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.hyperpod.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.hyperpod.pods import expand

        return expand(manifest)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.hyperpod.pods import describe_failures

        return describe_failures(manifest)

    def rejections(self) -> Rejections:
        from ptcompile.operators.hyperpod.pods import REJECTIONS

        return REJECTIONS


class HyperPodOperator(Operator):
    """SageMaker HyperPod's training operator, an add-on of EKS."""

    folder = "hyperpod"
    authority = "kube-apiserver"
    release = "kubernetes"
    kinds = (HyperPodPyTorchJob("HyperPodPyTorchJob"), HyperPodPyTorchJob("HyperPodPytorchJob"))
    install = Install(
        "amazon-sagemaker-hyperpod-training-operator",
        ("hyperpodpytorchjobs.sagemaker.amazonaws.com/v1",),
    )
