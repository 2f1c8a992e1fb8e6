"""Kubeflow's MPI Operator: MPIJob v2beta1, which ptcompile reads and does not write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kinds.model import (
    Install,
    Kind,
    KindContext,
    KindDefaults,
    LostPod,
    Operator,
    Rejections,
)
from ptcompile.operators.pod import POD_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.unstructured import Json


class MPIJob(Kind):
    """An MPIJob."""

    api_version = "kubeflow.org/v2beta1"
    name = "MPIJob"
    schema = "kubeflow.org/mpijob_v2beta1.json"
    rules = (*POD_RULES, "operators.mpijob.rules", "operators.kueue.rules")

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.mpijob.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.mpijob.pods import expand

        return expand(manifest, request)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.mpijob.pods import lost_pod

        return lost_pod(manifest, role)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.mpijob.pods import describe_failures

        return describe_failures(manifest)

    def rejections(self) -> Rejections:
        from ptcompile.operators.mpijob.admission import REJECTIONS

        return REJECTIONS


class MPIOperator(Operator):
    """Kubeflow's MPI Operator."""

    folder = "mpijob"
    authority = "mpi-operator"
    release = "mpi_operator"
    kinds = (MPIJob(),)
    install = Install("mpi-operator", ("mpijobs.kubeflow.org/v2beta1",), images=("mpi-operator",))

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.mpijob.pods import DEFAULTS

        return DEFAULTS
