"""Kubeflow's MPI Operator: MPIJob v2beta1, which ptcompile reads and does not write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.operators.record import POD_RULES, Install, Kind, Operator, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.diagnostics import Problem
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.defaults import Defaults
    from ptcompile.operators.common.expansion import Expansion
    from ptcompile.operators.common.templates import Template
    from ptcompile.operators.record import ApiServer


class MPIJob(Kind):
    """An MPIJob."""

    api_version = "kubeflow.org/v2beta1"
    name = "MPIJob"
    schema = "kubeflow.org/mpijob_v2beta1.json"
    rules = (*POD_RULES, "operators.mpijob.rules", "operators.kueue.rules")

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.mpijob.templates import of

        return of(manifest)

    def pods(self, manifest: Json, request: Request) -> Expansion:
        from ptcompile.operators.mpijob.pods import expand

        return expand(manifest, request)

    def on_failure(self, manifest: Json, others: Sequence[Json]) -> Iterator[str]:
        from ptcompile.operators.mpijob.failure import sentences

        return sentences(manifest, others)

    def controller_errors(self, manifest: Json, request: Request) -> Iterator[Problem]:
        from ptcompile.operators.mpijob.controller import later

        return later(manifest, request)

    def check_children(self, manifest: Json, spec: dict[str, Any], context: ApiServer, problems: list[Problem]) -> None:
        from ptcompile.operators.mpijob.pod_checks import check

        check(manifest, spec, context, problems)

    def unseen_changes(self, old: Json) -> tuple[tuple[tuple[str, ...], str], ...]:
        from ptcompile.operators.mpijob.update import later

        return later(old)


class MPIOperator(Operator):
    """Kubeflow's MPI Operator."""

    folder = "mpijob"
    authority = "mpi-operator"
    release = "mpi_operator"
    kinds = (MPIJob(),)
    install = Install("mpi-operator", ("mpijobs.kubeflow.org/v2beta1",))

    def defaults(self) -> Defaults:
        from ptcompile.operators.mpijob.defaults import DEFAULTS

        return DEFAULTS
