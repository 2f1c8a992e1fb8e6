"""JobSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.operators.record import (
    LAUNCH_RULES,
    POD_RULES,
    Additions,
    Install,
    Kind,
    Meeting,
    Operator,
    Request,
    Update,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.diagnostics import Problem
    from ptcompile.job.model import Target
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.defaults import Defaults
    from ptcompile.operators.common.expansion import Expansion
    from ptcompile.operators.common.following import Following
    from ptcompile.operators.common.read import Read
    from ptcompile.operators.common.status import Status
    from ptcompile.operators.common.templates import Template
    from ptcompile.operators.record import ApiServer


class JobSet(Kind):
    """A JobSet."""

    api_version = "jobset.x-k8s.io/v1alpha2"
    name = "JobSet"
    schema = "jobset.x-k8s.io/jobset_v1alpha2.json"
    rules = (*POD_RULES, "operators.jobset.rules", *LAUNCH_RULES)
    meeting = Meeting(roles=True, across_objects=True)
    additions = Additions(job_label="jobset.sigs.k8s.io/jobset-name")

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.jobset.templates import of

        return of(manifest)

    def pods(self, manifest: Json, request: Request) -> Expansion:
        from ptcompile.operators.jobset.pods import expand

        return expand(manifest, request)

    def recreates(self, manifest: Json, template: Template) -> bool:
        from ptcompile.operators.jobset.retries import recreated

        return recreated(manifest, template)

    def retries(self, manifest: Json) -> int:
        from ptcompile.operators.jobset.retries import retries

        return retries(manifest)

    def on_failure(self, manifest: Json, others: Sequence[Json]) -> Iterator[str]:
        from ptcompile.operators.jobset.failure import sentences

        return sentences(manifest, others)

    def read(self, manifest: Json, others: tuple[Json, ...]) -> Iterator[Read]:
        from ptcompile.operators.jobset.read import read

        return read(manifest, others)

    def status(self, live: Json) -> Status:
        from ptcompile.operators.jobset.status import status

        return status(live)

    def following(self) -> Following:
        from ptcompile.operators.jobset.following import FOLLOWING

        return FOLLOWING

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        from ptcompile.operators.jobset.webhook import default

        return default(manifest, complete=complete)

    def crd_rules(self, manifest: Json) -> Iterator[Problem]:
        from ptcompile.operators.jobset.crd import jobset_rules

        return jobset_rules(manifest)

    def validate(self, manifest: Json, request: Request) -> Iterator[Problem]:
        from ptcompile.operators.jobset.webhook import check

        return check(manifest, request)

    def controller_errors(self, manifest: Json, request: Request) -> Iterator[Problem]:
        from ptcompile.operators.jobset.webhook import later

        return later(manifest, request)

    def check_children(self, manifest: Json, spec: dict[str, Any], context: ApiServer, problems: list[Problem]) -> None:
        from ptcompile.operators.jobset.pod_checks import check

        check(manifest, spec, context, problems)

    def immutable_fields(self) -> tuple[tuple[str, str], ...]:
        from ptcompile.operators.jobset.update import FIXED

        return FIXED

    def validate_update(self, update: Update) -> Iterator[Problem]:
        from ptcompile.operators.jobset.update import check

        return check(update)


class JobSetOperator(Operator):
    """JobSet's controller."""

    folder = "jobset"
    authority = "jobset"
    release = "jobset"
    kinds = (JobSet(),)
    target_name = "jobset"
    install = Install(
        "jobset",
        ("jobsets.jobset.x-k8s.io/v1alpha2",),
        kubernetes=(((0, 1), (1, 21)),),  # site, Installation
    )
    older = ("jobset.x-k8s.io/v1alpha1",)

    def target(self) -> Target:
        from ptcompile.operators.jobset.emit import JOBSET

        return JOBSET

    def sentences(self) -> Mapping[str, str]:
        from ptcompile.operators.jobset.sentences import SENTENCES

        return SENTENCES

    def defaults(self) -> Defaults:
        from ptcompile.operators.jobset.defaults import DEFAULTS

        return DEFAULTS
