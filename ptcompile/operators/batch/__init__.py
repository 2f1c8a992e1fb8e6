"""The batch/v1 Job of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kinds.model import (
    Conversion,
    Feature,
    Install,
    Kind,
    KindContext,
    KindDefaults,
    LostPod,
    Operator,
    RendezvousSettings,
    Retry,
)
from ptcompile.kubernetes.unstructured import Json, nested_int, nested_map
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES
from ptcompile.operators.queues.queue_systems import PARTIAL_ADMISSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects


class BatchJob(Kind):
    """An Indexed Job."""

    api_version = "batch/v1"
    name = "Job"
    rules = (*POD_RULES, "operators.batch.rules", *LAUNCH_RULES)
    rendezvous = RendezvousSettings(across_objects=True)

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.batch.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.batch.pods import expand

        return expand(manifest, request)

    def recreates(self, manifest: Json, template: Template) -> bool:
        return self.retries(manifest) > 0

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.batch.pods import lost_pod

        return lost_pod(nested_map(manifest, "spec"))

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.batch.pods import restarts

        return restarts(nested_map(manifest, "spec"), exit_code)

    def retries(self, manifest: Json) -> int:
        return nested_int(manifest, "spec", "backoffLimit", default=6)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.batch.pods import describe_spec_failures

        return describe_spec_failures(nested_map(manifest, "spec"))

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.batch.read import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.batch.facts import FOLLOWING

        return FOLLOWING


class BatchOperator(Operator):
    """Kubernetes itself, for the target job."""

    folder = "batch"
    conversion = Conversion(
        endings=(("spec", "completionMode"),),
        without_effect=(("spec", "template", "spec", "subdomain"),),
    )
    authority = "kube-apiserver"
    release = "kubernetes"
    kinds = (BatchJob(),)
    target_name = "job"
    placing_annotations = PARTIAL_ADMISSION
    install = Install(images=("kube-apiserver",))
    features: Mapping[str, Feature] = {
        "job-success-policy": Feature(
            "kubernetes",
            (1, 33),
            "spec.successPolicy of a Job is stable",
            "Kubernetes 1.33, facts/kubernetes",
        ),
        "digit-first-service": Feature(
            "kubernetes",
            (1, 36),
            "the name of a Service may begin with a digit",
            "Kubernetes 1.36, facts/kubernetes",
        ),
        "job-managed-by": Feature(
            "kubernetes",
            (1, 32),
            "managedBy of a Job is honored",
            "Kubernetes 1.32, Kueue's page on Jobs in MultiKueue",
        ),
    }

    def target(self) -> Target:
        from ptcompile.operators.batch.emit import JOB

        return JOB

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.batch.facts import DEFAULTS

        return DEFAULTS
