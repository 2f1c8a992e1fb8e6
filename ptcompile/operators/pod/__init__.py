"""The plain v1 Pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kinds.model import (
    Kind,
    KindContext,
    LostPod,
    Operator,
    RendezvousSettings,
    Retry,
    StartOrder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.unstructured import Json


POD_RULES = (
    "linter.rules.containers",
    "linter.rules.pods",
    "linter.rules.checkpoints",
    "linter.rules.image",
    "operators.kube_scheduler.rules.pods",
)
"""The packages of lint rules for every kind with a pod template."""

LAUNCH_RULES = (
    "linter.rules.launch",
    "operators.kueue.rules",
    "operators.volcano.rules.annotations",
)
"""Packages of lint rules for every kind that a target emits and whose pods train."""


class BarePod(Kind):
    """A Pod."""

    api_version = "v1"
    name = "Pod"
    rules = (*POD_RULES, *LAUNCH_RULES)
    rendezvous = RendezvousSettings(across_objects=True, open=True)

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.pod.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.pod.pods import expand

        return expand(manifest, request)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.pod.pods import LOST_POD

        return LOST_POD

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.pod.pods import restarts

        return restarts(manifest, exit_code)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.pod.pods import describe_failures

        return describe_failures(manifest)

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.pod.pods import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.pod.facts import FOLLOWING

        return FOLLOWING


class Deployment(Kind):
    """A Deployment, whose pods have random names."""

    api_version = "apps/v1"
    name = "Deployment"
    rules = (*POD_RULES[:-1], "linter.rules.launch", "operators.kueue.rules")
    trains = False
    restarts_finished = True

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.pod.pods import replicated_templates

        return replicated_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.pod.pods import expand_replicas

        return expand_replicas(manifest, request)

    def recreates(self, manifest: Json, template: Template) -> bool:
        return True

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.pod.pods import REPLACED_POD

        return REPLACED_POD

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.pod.pods import describe_replica_failures

        return describe_replica_failures(manifest)


class StatefulSet(Deployment):
    """A StatefulSet, whose pods have its name and their index."""

    name = "StatefulSet"

    def start_orders(self, manifest: Json) -> Iterator[StartOrder]:
        from ptcompile.operators.pod.pods import start_orders

        return start_orders(manifest)


class ReplicaSet(Deployment):
    """A ReplicaSet, whose pods have random names."""

    name = "ReplicaSet"


class PodOperator(Operator):
    """Kubernetes itself, for the target pod."""

    folder = "pod"
    authority = "kube-apiserver"
    release = "kubernetes"
    kinds = (BarePod(), Deployment(), StatefulSet(), ReplicaSet())
    target_name = "pod"

    def target(self) -> Target:
        from ptcompile.operators.pod.emit import POD

        return POD
