"""KubeRay: RayCluster, RayJob and RayService, which ptcompile reads and does not write."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds.model import Additions, Install, Kind, KindContext, Operator, Rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.unstructured import Json


class RayKind(Kind):
    """A kind of KubeRay, each with the specification of one cluster."""

    api_version = "ray.io/v1"
    rules = ("operators.ray.rules", "operators.kueue.rules")
    additions = Additions(mounts=("/dev/shm",))  # noqa: S108

    def __init__(self, name: str) -> None:
        self.name = name

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.ray.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.ray.pods import expand

        return expand(manifest)

    def rejections(self) -> Rejections:
        from ptcompile.operators.ray.admission import REJECTIONS

        return REJECTIONS


class RayOperator(Operator):
    """KubeRay's operator."""

    folder = "ray"
    authority = "kuberay"
    release = "kuberay"
    kinds = (RayKind("RayCluster"), RayKind("RayJob"), RayKind("RayService"))
    install = Install(
        "kuberay-operator",
        ("rayclusters.ray.io/v1", "rayjobs.ray.io/v1", "rayservices.ray.io/v1"),
        images=("kuberay/operator", "kuberay-operator"),
    )
