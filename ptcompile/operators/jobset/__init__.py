"""JobSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kinds.model import (
    Additions,
    Conversion,
    Install,
    JobTemplates,
    Kind,
    KindContext,
    KindDefaults,
    LostPod,
    Operator,
    Rejections,
    RendezvousSettings,
    Retry,
    StartOrder,
)
from ptcompile.kubernetes.unstructured import Json, nested_map
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import Expansion
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects


NO_RESTART = {
    "failurePolicy": {
        "rules": [
            {
                "name": "podFailurePolicy",
                "action": "FailJobSet",
                "onJobFailureReasons": ["PodFailurePolicy"],
            },
        ]
    }
}
"""JobSet 0.12, failurePolicy: the first rule whose reason is that of the failed Job decides."""


class JobSet(Kind):
    """A JobSet."""

    api_version = "jobset.x-k8s.io/v1alpha2"
    name = "JobSet"
    schema = "jobset.x-k8s.io/jobset_v1alpha2.json"
    rules = (*POD_RULES, "operators.jobset.rules", *LAUNCH_RULES)
    rendezvous = RendezvousSettings(
        roles=True,
        across_objects=True,
        nameless="the pods have no host names, since network.enableDNSHostnames is false",
        naming="set enableDNSHostnames to true",
    )
    additions = Additions(job_label="jobset.sigs.k8s.io/jobset-name")

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.jobset.pods import templates_of_spec

        return templates_of_spec(nested_map(manifest, "spec"), ("spec",))

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.jobset.pods import expand

        return expand(manifest, request)

    def start_orders(self, manifest: Json) -> Iterator[StartOrder]:
        from ptcompile.operators.jobset.pods import start_orders

        return start_orders(manifest)

    def recreates(self, manifest: Json, template: Template) -> bool:
        from ptcompile.operators.jobset.pods import is_recreated

        return is_recreated(manifest, template)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.jobset.pods import lost_pod

        return lost_pod(nested_map(manifest, "spec"), role)

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.jobset.pods import restarts

        return restarts(nested_map(manifest, "spec"), role, exit_code)

    def retries(self, manifest: Json) -> int:
        from ptcompile.operators.jobset.pods import retries

        return retries(manifest)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.jobset.pods import describe_spec_failures

        return describe_spec_failures(nested_map(manifest, "spec"))

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.jobset.read import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.jobset.facts import FOLLOWING

        return FOLLOWING

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        from ptcompile.operators.jobset.admission import default

        return default(manifest, complete=complete)

    def rejections(self) -> Rejections:
        from ptcompile.operators.jobset.admission import REJECTIONS

        return REJECTIONS


class JobSetOperator(Operator):
    """JobSet's controller."""

    folder = "jobset"
    authority = "jobset"
    release = "jobset"
    title = "JobSet"
    kinds = (JobSet(),)
    target_name = "jobset"
    install = Install(
        "jobset",
        ("jobsets.jobset.x-k8s.io/v1alpha2",),
        # https://jobset.sigs.k8s.io/docs/installation/
        kubernetes=(((0, 1), (1, 21)),),
        images=("jobset",),
    )
    modeled_since = (0, 8)
    conversion = Conversion(
        job_templates=JobTemplates("jobset", ("spec",), without_restart=NO_RESTART)
    )
    placing_annotations: Mapping[str, str] = {
        "alpha.jobset.sigs.k8s.io/exclusive-topology": "gives each Job its own domain",
        "alpha.jobset.sigs.k8s.io/node-selector": "places each Job by the labels of nodes",
    }
    older = ("jobset.x-k8s.io/v1alpha1",)

    def target(self) -> Target:
        from ptcompile.operators.jobset.emit import JOBSET

        return JOBSET

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.jobset.facts import DEFAULTS

        return DEFAULTS
