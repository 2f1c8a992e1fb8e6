"""The pods of a JobSet: templates, expansion, restarts, and what happens on failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    as_strings,
    namespace_of,
    nested_map,
    object_name,
)
from ptcompile.operators.batch.pods import PodBuilder, job_summary, of_spec as of_job, pod_count
from ptcompile.registry.model import KindContext
from ptcompile.registry.pods import ExpandedRole, Expansion, PodView
from ptcompile.registry.templates import Template, indexed_mappings, limit_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


_PREFIX = "jobset.sigs.k8s.io/"


def expand(manifest: Json, request: KindContext, *, main: str | None = None) -> Expansion:
    """One role a replicatedJob. A pod's index counts on over the role's Jobs, its completion index does not.

    `main` names the container that trains (Trainer knows it).
    """
    spec = nested_map(manifest, "spec")
    jobs = [_defaulted(rj) for rj in as_mappings(spec.get("replicatedJobs"))]
    world = _World(manifest, spec, jobs, request, main)
    roles = tuple(world.role(position) for position in range(len(jobs)))
    notes = ("suspended: the pods are created when spec.suspend becomes false",) if spec.get("suspend") is True else ()
    return Expansion(roles, world.services(), jobs=world.jobs(), notes=notes)


def _defaulted(replicated: Json) -> Json:
    """The replicatedJob with what the mutating webhook and the controller put in (3.1, 3.3)."""
    template = nested_map(replicated, "template")
    job: dict[str, Any] = dict(nested_map(template, "spec"))
    pod_template = nested_map(job, "template")
    pod = dict(nested_map(pod_template, "spec"))
    job["completionMode"] = as_string(job.get("completionMode")) or "Indexed"
    pod["restartPolicy"] = as_string(pod.get("restartPolicy")) or "OnFailure"
    job["template"] = {**pod_template, "spec": pod}
    return {**replicated, "template": {**template, "spec": job}}


def _subdomain(spec: Json) -> str:
    return as_string(nested_map(spec, "network").get("subdomain"))


class _World:
    """What is computed once for all Jobs of one JobSet."""

    def __init__(self, manifest: Json, spec: Json, jobs: list[Json], request: KindContext, main: str | None) -> None:
        self.name, self.namespace = object_name(manifest), namespace_of(manifest)
        self.spec, self.replicated, self.request, self.main = spec, jobs, request, main
        self.subdomain = _subdomain(spec) or self.name
        self.dns = nested_map(spec, "network").get("enableDNSHostnames") is not False
        self.replicas = [max(0, as_int(rj.get("replicas"), 1)) for rj in jobs]
        self.groups = [as_string(rj.get("groupName")) or "default" for rj in jobs]
        self.before = list(accumulate(self.replicas, initial=0))
        self.in_group: Counter[str] = Counter()
        self.before_in_group: list[int] = []
        for group, replicas in zip(self.groups, self.replicas, strict=True):
            self.before_in_group.append(self.in_group[group])
            self.in_group[group] += replicas
        self.coordinator = _coordinator(self.name, self.subdomain, spec)

    def services(self) -> tuple[Json, ...]:
        """One headless Service for the whole JobSet."""
        if not self.dns:
            return ()
        publish = nested_map(self.spec, "network").get("publishNotReadyAddresses") is not False
        selector = {f"{_PREFIX}jobset-name": self.name}
        return (
            {
                "metadata": {"name": self.subdomain, "namespace": self.namespace},
                "spec": {"clusterIP": "None", "publishNotReadyAddresses": publish, "selector": selector},
            },
        )

    def jobs(self) -> tuple[Json, ...]:
        """The child Jobs, at most a hundred a replicatedJob: they differ by their index alone."""
        return tuple(
            {**job_summary(f"{self.name}-{name}-{i}", name, nested_map(rj, "template", "spec")),
             "replicatedJob": name, "index": i}
            for rj, count in zip(self.replicated, self.replicas, strict=True)
            for name in (as_string(rj.get("name")),)
            for i in range(min(count, 100))
        )  # fmt: skip

    def role(self, position: int) -> ExpandedRole:
        replicated = self.replicated[position]
        name = as_string(replicated.get("name"))
        spec = self._with_subdomain(nested_map(replicated, "template", "spec"))
        build = PodBuilder(name, spec, self.namespace, self.request, dns=self.dns, main=self.main)
        each = pod_count(spec)
        fixed = self._fixed(position)

        def pod(index: int) -> PodView:
            job = index // each
            full = f"{self.name}-{name}-{job}"
            return build(index, index % each, full, {**fixed, **self._of_job(position, job, full)})

        return ExpandedRole(name, self.replicas[position] * each, pod)

    def _with_subdomain(self, spec: Json) -> Json:
        if not self.dns:
            return spec
        template = nested_map(spec, "template")
        pod = {**nested_map(template, "spec"), "subdomain": self.subdomain}
        return {**spec, "template": {**template, "spec": pod}}

    def _fixed(self, position: int) -> dict[str, str]:
        group = self.groups[position]
        out = {
            "global-replicas": str(self.before[-1]),
            "group-name": group,
            "group-replicas": str(self.in_group[group]),
            "jobset-name": self.name,
            "replicatedjob-name": as_string(self.replicated[position].get("name")),
            "replicatedjob-replicas": str(self.replicas[position]),
            "restart-attempt": "0",
        }
        if self.coordinator:
            out["coordinator"] = self.coordinator
        return {_PREFIX + k: v for k, v in out.items()}

    def _of_job(self, position: int, job: int, full: str) -> dict[str, str]:
        key = _digest(f"{self.namespace}/{full}")
        return {
            f"{_PREFIX}job-index": str(job),
            f"{_PREFIX}job-key": key,
            f"{_PREFIX}job-global-index": str(self.before[position] + job),
            f"{_PREFIX}job-group-index": str(self.before_in_group[position] + job),
        }


def _digest(job_key: str) -> str:
    """The job-key label: a digest by JobSet's own rule; nothing is kept secret with it."""
    from hashlib import sha1  # loaded only for JobSets: it costs a millisecond

    return sha1(job_key.encode(), usedforsecurity=False).hexdigest()


def _coordinator(name: str, subdomain: str, spec: Json) -> str | None:
    """The stable address of the coordinator pod."""
    given = spec.get("coordinator")
    if not nested_map(spec, "coordinator").get("replicatedJob"):
        return None
    wanted = nested_map({"coordinator": given}, "coordinator")
    pod = f"{name}-{as_string(wanted.get('replicatedJob'))}-{as_int(wanted.get('jobIndex'))}"
    return f"{pod}-{as_int(wanted.get('podIndex'))}.{subdomain}"


def recreated(manifest: Json, _template: Template) -> bool:
    """Whether a lost pod is recreated."""
    return any(limit > 0 for limit in _of_jobs(manifest)) or _of_all(manifest) > 0


def retries(manifest: Json) -> int:
    """How often a pod is restarted at most."""
    return (max(_of_jobs(manifest), default=0) + 1) * (_of_all(manifest) + 1) - 1


def _of_jobs(manifest: Json) -> Iterator[int]:
    for one in as_mappings(nested_map(manifest, "spec").get("replicatedJobs")):
        yield as_int(nested_map(one, "template", "spec").get("backoffLimit"), 6)


def _of_all(manifest: Json) -> int:
    return as_int(nested_map(manifest, "spec", "failurePolicy").get("maxRestarts"))


def pod_templates(manifest: Json) -> Iterator[Template]:
    """The templates of the replicatedJobs."""
    return templates_of_spec(nested_map(manifest, "spec"), ("spec",))


def templates_of_spec(spec: Json, path: Path) -> Iterator[Template]:
    """The templates of a JobSet spec that stands at a path. The replicas are the pods of all its Jobs."""
    for i, job in indexed_mappings(spec.get("replicatedJobs")):
        child = nested_map(job, "template", "spec")
        count = as_int(job.get("replicas"), 1) * as_int(child.get("parallelism"), 1)
        here = (*path, "replicatedJobs", i, "template", "spec", "template")
        yield Template(here, child.get("template"), as_string(job.get("name")), count)


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a JobSet."""
    yield from failures_of_spec(nested_map(manifest, "spec"))


def failures_of_spec(spec: Json) -> Iterator[str]:
    """The sentences for a JobSet's spec, wherever it stands."""
    for replicated in as_mappings(spec.get("replicatedJobs")):
        name = as_string(replicated.get("name"))
        yield from (f"{name}: {one}" for one in of_job(nested_map(replicated, "template", "spec"), "OnFailure"))
    policy = spec.get("failurePolicy")
    if policy is None:
        yield "no failurePolicy: the first Job that fails fails the JobSet"
    else:
        rules = "; ".join(_rule(rule) for rule in as_mappings(as_mapping(policy).get("rules")))
        limit = as_int(as_mapping(policy).get("maxRestarts"))
        again = f"starts all Jobs again, at most {limit} times" if limit else "fails the JobSet"
        yield f"failurePolicy: a failed Job {again}" + (f"; rules before that: {rules}" * bool(rules))
    success = nested_map(spec, "successPolicy")
    some = as_strings(success.get("targetReplicatedJobs"))
    operator = as_string(success.get("operator")) or "All"
    yield f"successPolicy {operator}: done when {operator.lower()} of {', '.join(some) or 'the Jobs'} succeeded"
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from limit_sentences({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the JobSet")


def _rule(rule: Json) -> str:
    why = " or ".join(as_strings(rule.get("onJobFailureReasons"))) or "any failure"
    where = f" of {', '.join(as_strings(rule.get('targetReplicatedJobs')))}" if rule.get("targetReplicatedJobs") else ""
    return f"{why}{where} -> {as_string(rule.get('action'))}"
