"""batch/v1 Job -> the pods of the Kubernetes 1.36 Job controller."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.untyped import at, integer, items, namespace, object_name, string_map, text
from ptcompile.operators.common import podspec
from ptcompile.operators.common.expansion import Expansion, PodView, Role, template_parts
from ptcompile.operators.common.job_labels import job_labels
from ptcompile.operators.common.services import headless_for
from ptcompile.operators.record import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_INDEX_ENV = podspec.field("JOB_COMPLETION_INDEX", f"metadata.labels['{podspec.COMPLETION_INDEX}']")
_INDEX_ENV_OLD = podspec.field("JOB_COMPLETION_INDEX", f"metadata.annotations['{podspec.COMPLETION_INDEX}']")


def expand(manifest: Json, request: Request) -> Expansion:
    """One pod an index of an Indexed Job; of another Job as many as it wants to complete."""
    spec = at(manifest, "spec")
    name, space = object_name(manifest), namespace(manifest)
    metadata = template_parts(spec.get("template"))[0]
    labels = {**string_map(metadata.get("labels")), **job_labels(name)}
    service = headless_for(request.others, text(_spec(spec).get("subdomain")) or None, labels, space)
    role = job_role("job", name, spec, space, request, dns=service is not None)
    notes: tuple[str, ...] = ()
    if spec.get("suspend") is True:
        notes = ("suspended: the pods are created when spec.suspend becomes false",)
    return Expansion((role,), (service,) if service else (), jobs=(job_summary(name, "job", spec),), notes=notes)


def _spec(job_spec: Json) -> Json:
    return template_parts(job_spec.get("template"))[1]


def pod_count(spec: Json) -> int:
    """How many pods succeed before the Job is complete; those that run at once are `parallelism`."""
    completions = spec.get("completions")
    return max(0, integer(spec.get("parallelism") if completions is None else completions, 1))


def job_summary(name: str, role: str, spec: Json) -> Json:
    """The Job in a few words, its defaults filled in."""
    mode = text(spec.get("completionMode")) or "NonIndexed"
    completions = spec.get("completions")
    return {
        "name": name,
        "role": role,
        "completionMode": mode,
        "parallelism": integer(spec.get("parallelism"), 1),
        "completions": completions if completions is not None or mode == "Indexed" else 1,
        "backoffLimit": integer(spec.get("backoffLimit"), 6),
    }


def job_role(role: str, name: str, spec: Json, space: str, request: Request, *, dns: bool) -> Role:
    """The pods of one Job as a role. `dns` says whether a Service answers for their subdomain."""
    build = PodBuilder(role, spec, space, request, dns=dns)
    return Role(role, pod_count(spec), lambda index: build(index, index, name, {}))


class PodBuilder:
    """Builds the pods of Jobs with one template: what they share is computed once. JobSet makes such Jobs too."""

    def __init__(
        self, role: str, spec: Json, space: str, request: Request, *, dns: bool, main: str | None = None
    ) -> None:
        metadata, pod = template_parts(spec.get("template"))
        self.role, self.space, self.dns, self.main = role, space, dns, main
        self.indexed = text(spec.get("completionMode")) == "Indexed"
        self.labelled = request.versions.kubernetes >= (1, 28)
        self.labels, self.annotations = string_map(metadata.get("labels")), string_map(metadata.get("annotations"))
        self.subdomain = text(pod.get("subdomain")) or None
        self.pod = _with_index(pod, labelled=self.labelled) if self.indexed else pod

    def __call__(self, index: int, within: int, job: str, extra: Mapping[str, str]) -> PodView:
        """The pod with this index in the role; `within` is its index in the Job."""
        hostname = text(self.pod.get("hostname")) or None
        labels = {**self.labels, **extra, **job_labels(job)}
        annotations = {**self.annotations, **extra}  # what JobSet adds it adds as both
        if self.indexed:
            hostname = f"{job}-{within}"
            annotations = {**annotations, podspec.COMPLETION_INDEX: str(within)}
            if self.labelled:
                labels[podspec.COMPLETION_INDEX] = str(within)
        resolvable = hostname if self.dns and self.subdomain else None
        return PodView(
            name=hostname if self.indexed and hostname else job,
            role=self.role,
            index=index,
            namespace=self.space,
            random_suffix=True,
            hostname=hostname,
            subdomain=self.subdomain,
            dns=podspec.fqdn(resolvable, self.subdomain, self.space) if resolvable else None,
            job=job,
            labels=labels,
            annotations=annotations,
            main=self.main,
            spec=self.pod,
        )


def _with_index(pod: Json, *, labelled: bool) -> dict[str, Any]:
    """The pod spec with JOB_COMPLETION_INDEX behind the env of each container that has no such variable."""
    entry = _INDEX_ENV if labelled else _INDEX_ENV_OLD

    def add(container: Json) -> Json:
        present = any(e.get("name") == entry["name"] for e in items(container.get("env")))
        return container if present else podspec.with_env(container, [entry])

    return podspec.with_containers(podspec.with_containers(pod, add, init=True), add, init=False)
