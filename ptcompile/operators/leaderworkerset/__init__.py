"""LeaderWorkerSet: groups of pods with one leader each, which ptcompile reads and does not
write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kinds.model import (
    Install,
    Kind,
    KindContext,
    LostPod,
    Operator,
    Rejections,
    RendezvousSettings,
    StartOrder,
)
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.unstructured import Json


class LeaderWorkerSet(Kind):
    """A LeaderWorkerSet."""

    api_version = "leaderworkerset.x-k8s.io/v1"
    name = "LeaderWorkerSet"
    rules = (*POD_RULES, *LAUNCH_RULES)
    rendezvous = RendezvousSettings(roles=True)
    restarts_finished = True

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.leaderworkerset.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.leaderworkerset.pods import expand

        return expand(manifest)

    def recreates(self, manifest: Json, template: Template) -> bool:
        return True

    def start_orders(self, manifest: Json) -> Iterator[StartOrder]:
        from ptcompile.operators.leaderworkerset.pods import start_orders

        return start_orders(manifest)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.leaderworkerset.pods import lost_pod

        return lost_pod(manifest)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.leaderworkerset.pods import describe_failures

        return describe_failures(manifest)

    def rejections(self) -> Rejections:
        from ptcompile.operators.leaderworkerset.admission import REJECTIONS

        return REJECTIONS


class LWSOperator(Operator):
    """Kubernetes' LeaderWorkerSet controller."""

    folder = "leaderworkerset"
    authority = "lws"
    release = "lws"
    kinds = (LeaderWorkerSet(),)
    install = Install("lws", ("leaderworkersets.leaderworkerset.x-k8s.io/v1",), images=("lws",))
