"""The plain v1 Pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.operators.record import LAUNCH_RULES, POD_RULES, Kind, Meeting, Operator, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.job.model import Target
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.expansion import Expansion
    from ptcompile.operators.common.following import Following
    from ptcompile.operators.common.read import Read
    from ptcompile.operators.common.status import Status
    from ptcompile.operators.common.templates import Template


class Pod(Kind):
    """A Pod."""

    api_version = "v1"
    name = "Pod"
    rules = (*POD_RULES, *LAUNCH_RULES)
    meeting = Meeting(across_objects=True, open=True)

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.pod.templates import of

        return of(manifest)

    def pods(self, manifest: Json, request: Request) -> Expansion:
        from ptcompile.operators.pod.pods import expand

        return expand(manifest, request)

    def on_failure(self, manifest: Json, others: Sequence[Json]) -> Iterator[str]:
        from ptcompile.operators.pod.failure import sentences

        return sentences(manifest, others)

    def read(self, manifest: Json, others: tuple[Json, ...]) -> Iterator[Read]:
        from ptcompile.operators.pod.read import read

        return read(manifest, others)

    def status(self, live: Json) -> Status:
        from ptcompile.operators.pod.status import status

        return status(live)

    def following(self) -> Following:
        from ptcompile.operators.pod.following import FOLLOWING

        return FOLLOWING


class PodOperator(Operator):
    """Kubernetes itself, for the target pod."""

    folder = "pod"
    authority = "kube-apiserver"
    release = "kubernetes"
    kinds = (Pod(),)
    target_name = "pod"

    def target(self) -> Target:
        from ptcompile.operators.pod.emit import POD

        return POD

    def sentences(self) -> Mapping[str, str]:
        from ptcompile.operators.pod.sentences import SENTENCES

        return SENTENCES
