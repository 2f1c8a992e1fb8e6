"""Pods of a JobSet: templates, expansion, restarts, behavior on failure, and exclusive placement.

Exclusive placement is the annotation that gives each Job of a JobSet its own domain. Source: JobSet
0.12, pkg/webhooks/pod_mutating_webhook.go and pod_admission_webhook.go; see
docs/facts/jobset.md#exclusive-placement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from ptcompile.apiserver.admission.priority import priority_of
from ptcompile.diagnostics import Path
from ptcompile.kinds.model import KindContext, LostPod, Retry, StartOrder
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, unreadable_names
from ptcompile.kinds.templates import Template, indexed_mappings, limit_sentences, suspension_notes
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.operators.batch import pods as batch_pods
from ptcompile.operators.batch.pods import (
    PodBuilder,
    describe_spec_failures as of_job,
    job_summary,
    pod_count,
)

_PREFIX = "jobset.sigs.k8s.io/"
PREFIX = "alpha.jobset.sigs.k8s.io/"
EXCLUSIVE = f"{PREFIX}exclusive-topology"
NODE_SELECTOR = f"{PREFIX}node-selector"
"""Places the Jobs by a node selector instead of affinities; a script labels and taints the nodes
before.
"""


def expand(manifest: Json, request: KindContext, *, main: str | None = None) -> Expansion:
    """Expand a JobSet into one role per replicatedJob.

    A pod's index counts through all Jobs of the role; its completion index starts at 0 in each Job.
    `main` names the training container, which Trainer knows.
    """
    spec = nested_map(manifest, "spec")
    replicated_jobs = nested_maps(spec, "replicatedJobs")
    failures = unreadable_names(replicated_jobs)
    if failures:
        return Expansion(refused=failures)

    jobs = [_with_defaults(rj) for rj in replicated_jobs]
    jobset = _JobSetExpansion(manifest, spec, jobs, request, main)
    roles = tuple(jobset.role(position) for position in range(len(jobs)))
    notes = (*suspension_notes(spec), *placement_notes(manifest))

    return Expansion(roles, jobset.services(), jobs=jobset.jobs(), notes=notes)


def _with_defaults(replicated: Json) -> Json:
    """Return the replicatedJob with the fields that the mutating webhook and the controller set."""
    template = nested_map(replicated, "template")
    job: JsonDict = dict(nested_map(template, "spec"))
    pod_template = nested_map(job, "template")
    pod = dict(nested_map(pod_template, "spec"))
    job["completionMode"] = nested_string(job, "completionMode") or "Indexed"
    pod["restartPolicy"] = nested_string(pod, "restartPolicy") or "OnFailure"
    job["template"] = {**pod_template, "spec": pod}
    return {**replicated, "template": {**template, "spec": job}}


class _JobSetExpansion:
    """Values shared by all Jobs of one JobSet."""

    def __init__(
        self, manifest: Json, spec: Json, jobs: list[Json], request: KindContext, main: str | None
    ) -> None:
        self.name = object_name(manifest)
        self.namespace = namespace_of(manifest)
        self.spec = spec
        self.replicated = jobs
        self.request = request
        self.main = main
        self.subdomain = nested_string(spec, "network", "subdomain") or self.name
        self.dns = nested_value(spec, "network", "enableDNSHostnames") is not False
        self.replicas = [max(0, nested_int(rj, "replicas", default=1)) for rj in jobs]
        self.groups = [nested_string(rj, "groupName") or "default" for rj in jobs]
        self.before = list(accumulate(self.replicas, initial=0))

        self.in_group: Counter[str] = Counter()
        self.before_in_group: list[int] = []
        for group, replicas in zip(self.groups, self.replicas, strict=True):
            self.before_in_group.append(self.in_group[group])
            self.in_group[group] += replicas

        self.coordinator: str | None = None
        if nested_value(spec, "coordinator", "replicatedJob"):
            self.coordinator = coordinator_address(self.name, self.subdomain, spec)

    def services(self) -> tuple[Json, ...]:
        """Return the one headless Service of the JobSet."""
        if not self.dns:
            return ()

        publish = nested_value(self.spec, "network", "publishNotReadyAddresses") is not False
        selector = {f"{_PREFIX}jobset-name": self.name}

        return (
            {
                "metadata": {"name": self.subdomain, "namespace": self.namespace},
                "spec": {
                    "clusterIP": "None",
                    "publishNotReadyAddresses": publish,
                    "selector": selector,
                },
            },
        )

    def jobs(self) -> tuple[Json, ...]:
        """Return the child Jobs, at most 100 per replicatedJob; they differ only in their index."""
        jobs: list[Json] = []
        for replicated, count in zip(self.replicated, self.replicas, strict=True):
            name = nested_string(replicated, "name")
            spec = nested_map(replicated, "template", "spec")
            for i in range(min(count, 100)):
                summary = job_summary(f"{self.name}-{name}-{i}", name, spec)
                jobs.append({**summary, "replicatedJob": name, "index": i})

        return tuple(jobs)

    def role(self, position: int) -> ExpandedRole:
        replicated = self.replicated[position]
        name = nested_string(replicated, "name")
        spec = self._with_subdomain(nested_map(replicated, "template", "spec"))
        build = PodBuilder(name, spec, self.namespace, self.request, dns=self.dns, main=self.main)
        if NODE_SELECTOR not in build.annotations:
            build.labels[f"{_PREFIX}priority"] = self._priority(build.pod)
        pods_per_job = pod_count(spec)
        shared_labels = self._fixed_labels(position)

        def pod(index: int) -> PodView:
            job = index // pods_per_job
            job_name = f"{self.name}-{name}-{job}"
            labels = {
                **shared_labels,
                f"{_PREFIX}job-index": str(job),
                f"{_PREFIX}job-key": _digest(f"{self.namespace}/{job_name}"),
                f"{_PREFIX}job-global-index": str(self.before[position] + job),
                f"{_PREFIX}job-group-index": str(self.before_in_group[position] + job),
            }
            return build(index, index % pods_per_job, job_name, labels)

        return ExpandedRole(name, self.replicas[position] * pods_per_job, pod)

    def _priority(self, pod: Json) -> str:
        """Return the label that JobSet's pod webhook sets to the priority that the server gives
        the pod.
        """
        priority = priority_of(pod, self.request.related)
        if priority is None:
            return f"<priority of {pod['priorityClassName']}>"
        return str(priority)

    def _with_subdomain(self, spec: Json) -> Json:
        if not self.dns:
            return spec
        template = nested_map(spec, "template")
        pod = {**nested_map(template, "spec"), "subdomain": self.subdomain}
        return {**spec, "template": {**template, "spec": pod}}

    def _fixed_labels(self, position: int) -> dict[str, str]:
        group = self.groups[position]
        labels = {
            "global-replicas": str(self.before[-1]),
            "group-name": group,
            "group-replicas": str(self.in_group[group]),
            "jobset-name": self.name,
            "replicatedjob-name": nested_string(self.replicated[position], "name"),
            "replicatedjob-replicas": str(self.replicas[position]),
            "restart-attempt": "0",
        }
        if self.coordinator:
            labels["coordinator"] = self.coordinator

        return {_PREFIX + k: v for k, v in labels.items()}


def _digest(job_key: str) -> str:
    """Return the job-key label: a SHA-1 digest, as JobSet computes it. It protects no secret."""
    from hashlib import sha1  # loaded only for JobSets: it costs a millisecond

    return sha1(job_key.encode(), usedforsecurity=False).hexdigest()


def coordinator_address(name: str, subdomain: str, spec: Json) -> str:
    """Return the stable address of the coordinator pod of a JobSet's spec."""
    coordinator = nested_map(spec, "coordinator")
    job = f"{name}-{nested_string(coordinator, 'replicatedJob')}-{nested_int(coordinator, 'jobIndex')}"
    return f"{job}-{nested_int(coordinator, 'podIndex')}.{subdomain}"


def start_orders(manifest: Json) -> Iterator[StartOrder]:
    """Yield which replicatedJobs are created when another is ready."""
    spec = nested_map(manifest, "spec")
    replicated = [*indexed_mappings(spec.get("replicatedJobs"))]
    names = [nested_string(job, "name") for _, job in replicated]
    pods: dict[str, int] = {}
    for name, (_, job) in zip(names, replicated, strict=True):
        pods_per_job = pod_count(nested_map(job, "template", "spec"))
        pods[name] = nested_int(job, "replicas", default=1) * pods_per_job

    if nested_value(spec, "startupPolicy", "startupPolicyOrder") == "InOrder":
        path: Path = ("spec", "startupPolicy", "startupPolicyOrder")
        existing = 0
        for name, following in pairwise(names):
            existing += pods[name]
            text = f"InOrder creates {following} when {name} is ready"
            yield StartOrder(path, name, existing, text, "remove it")

    for index, job in replicated:
        for position, dependency in enumerate(nested_maps(job, "dependsOn")):
            first = nested_string(dependency, "name")
            if dependency.get("status") == "Ready" and first in pods:
                later = _started_after(first, replicated)
                existing = sum(count for name, count in pods.items() if name not in later)
                path = ("spec", "replicatedJobs", index, "dependsOn", position)
                text = f"{nested_string(job, 'name')} is created when {first} is ready"
                yield StartOrder(path, first, existing, text, "remove it")


def _started_after(first: str, replicated: Sequence[tuple[int, Json]]) -> set[str]:
    """Return the replicatedJobs that are created after `first`, directly or through others; each
    names earlier ones.
    """
    later = {first}
    for _, job in replicated:
        required_jobs = {nested_string(item, "name") for item in nested_maps(job, "dependsOn")}
        if not later.isdisjoint(required_jobs):
            later.add(nested_string(job, "name"))
    return later - {first}


def is_recreated(manifest: Json, _template: Template) -> bool:
    """Return whether a lost pod is recreated."""
    return any(limit > 0 for limit in _backoff_limits(manifest)) or _max_restarts(manifest) > 0


_RECREATION: dict[str, LostPod] = {
    "FailJobSet": LostPod("none", "the JobSet fails"),
    "RestartJobSet": LostPod("job", "all Jobs are recreated"),
    "RestartJobSetAndIgnoreMaxRestarts": LostPod(
        "job", "all Jobs are recreated, which is not counted"
    ),
    "RestartJob": LostPod("role", "its Job is recreated"),
    "RestartJobAndIgnoreMaxRestarts": LostPod("role", "its Job is recreated, which is not counted"),
}
"""By the action of failurePolicy (JobSet 0.12)."""


def _replicated_job(spec: Json, role: str) -> Json:
    """Return the replicatedJob of a role, or an empty one."""
    return next((job for job in nested_maps(spec, "replicatedJobs") if job.get("name") == role), {})


def lost_pod(spec: Json, role: str) -> LostPod:
    """Return what a JobSet of this spec does when it loses a pod: the child Job decides, then
    failurePolicy.
    """
    child = nested_map(_replicated_job(spec, role), "template", "spec")
    by_job = batch_pods.lost_pod(child)
    if by_job.recreated != "none" or spec.get("failurePolicy") is None:
        return by_job

    action = _job_failure_action(spec, role, batch_pods.failure_reason(child))
    if action in _COUNTED_ACTIONS and nested_int(spec, "failurePolicy", "maxRestarts") == 0:
        action = "FailJobSet"

    return _RECREATION.get(action, LostPod("none", "unknown action"))


_COUNTED_ACTIONS = ("RestartJobSet", "RestartJob")
"""Actions that maxRestarts limits."""


def _job_failure_action(spec: Json, role: str, reason: str) -> str:
    """Return the action of failurePolicy for a Job of a role that fails for this reason."""
    return next(
        (
            nested_string(rule, "action")
            for rule in nested_maps(spec, "failurePolicy", "rules")
            if reason in (nested_strings(rule, "onJobFailureReasons") or [reason])
            and role in (nested_strings(rule, "targetReplicatedJobs") or [role])
        ),
        "RestartJobSet",
    )


def restarts(spec: Json, role: str, exit_code: int | None) -> tuple[Retry, ...]:
    """Return what answers a failed pod of a JobSet: its child Job, then failurePolicy; see
    `Kind.restarts`.
    """
    replicated = _replicated_job(spec, role)
    child = nested_map(replicated, "template", "spec")
    has_several_jobs = nested_int(replicated, "replicas", default=1) > 1
    size = nested_int(child, "parallelism", default=1) if has_several_jobs else 0
    by_job = batch_pods.restarts(child, exit_code, "OnFailure", size)
    if spec.get("failurePolicy") is None:
        return by_job

    # a Job that recreates pods fails when its retries are used up
    find_reason = batch_pods.limit_reason if by_job else batch_pods.failure_reason
    action = _job_failure_action(spec, role, find_reason(child))
    scope = _RECREATION.get(action, LostPod("none", "")).recreated
    if scope == "none":
        return by_job

    if action not in _COUNTED_ACTIONS:
        return (*by_job, Retry(scope, None, "job", f"failurePolicy {action}", size=size))
    limit = nested_int(spec, "failurePolicy", "maxRestarts")
    return (*by_job, Retry(scope, limit, "job", f"maxRestarts {limit}", size=size))


def retries(manifest: Json) -> int:
    """Return the maximum number of times that a pod is restarted."""
    return (max(_backoff_limits(manifest), default=0) + 1) * (_max_restarts(manifest) + 1) - 1


def _backoff_limits(manifest: Json) -> Iterator[int]:
    for replicated in nested_maps(manifest, "spec", "replicatedJobs"):
        yield nested_int(replicated, "template", "spec", "backoffLimit", default=6)


def _max_restarts(manifest: Json) -> int:
    return nested_int(manifest, "spec", "failurePolicy", "maxRestarts")


def templates_of_spec(spec: Json, path: Path) -> Iterator[Template]:
    """Yield the pod templates of a JobSet spec at `path`; `replicas` counts the pods of all
    Jobs.
    """
    for i, job in indexed_mappings(spec.get("replicatedJobs")):
        child = nested_map(job, "template", "spec")
        count = nested_int(job, "replicas", default=1) * nested_int(child, "parallelism", default=1)
        yield Template(
            (*path, "replicatedJobs", i, "template", "spec", "template"),
            child.get("template"),
            nested_string(job, "name"),
            count,
        )


def describe_spec_failures(spec: Json) -> Iterator[str]:
    """Yield sentences about what a JobSet spec does on failure and at its end."""
    for replicated in nested_maps(spec, "replicatedJobs"):
        name = nested_string(replicated, "name")
        yield from (
            f"{name}: {sentence}"
            for sentence in of_job(nested_map(replicated, "template", "spec"), "OnFailure")
        )

    for replicated in nested_maps(spec, "replicatedJobs"):
        name = nested_string(replicated, "name")
        lost = lost_pod(spec, name)
        if lost in _RECREATION.values():
            yield f"{name}, a lost node: {lost.text}"

    policy = spec.get("failurePolicy")
    if policy is None:
        yield "no failurePolicy: the first Job that fails fails the JobSet"
    else:
        rules = "; ".join(_describe_rule(rule) for rule in nested_maps(policy, "rules"))
        limit = nested_int(policy, "maxRestarts")
        effect = f"starts all Jobs again, at most {limit} times" if limit else "fails the JobSet"
        exceptions = f"; rules before that: {rules}" if rules else ""
        yield f"failurePolicy: a failed Job {effect}{exceptions}"
    if nested_value(policy, "restartStrategy") == "InPlaceRestart":
        yield (
            "restartStrategy InPlaceRestart: the pods stay, and the agent in each of them restarts "
            "its containers, once all pods are to restart"
        )

    success = nested_map(spec, "successPolicy")
    target_jobs = nested_strings(success, "targetReplicatedJobs")
    operator = nested_string(success, "operator") or "All"
    yield (
        f"successPolicy {operator}: done when {operator.lower()} of "
        f"{', '.join(target_jobs) or 'the Jobs'} succeeded"
    )
    yield from limit_sentences(
        {"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the JobSet"
    )


def _describe_rule(rule: Json) -> str:
    reasons = " or ".join(nested_strings(rule, "onJobFailureReasons")) or "any failure"
    targets = ""
    if rule.get("targetReplicatedJobs"):
        targets = f" of {', '.join(nested_strings(rule, 'targetReplicatedJobs'))}"
    return f"{reasons}{targets} -> {nested_string(rule, 'action')}"


def annotated_parts(manifest: Json) -> Iterator[tuple[Path, dict[str, str], list[int]]]:
    """Yield the annotations of the JobSet and of each replicatedJob, with the replicatedJobs
    that they are about.
    """
    jobs = nested_maps(manifest, "spec", "replicatedJobs")
    shared = nested_string_map(manifest, "metadata", "annotations")
    yield ("metadata", "annotations"), shared, list(range(len(jobs)))
    for index, job in enumerate(jobs):
        path = ("spec", "replicatedJobs", index, "template", "metadata", "annotations")
        yield path, nested_string_map(job, "template", "metadata", "annotations"), [index]


def placement_notes(manifest: Json) -> Iterator[str]:
    """Yield a sentence for each annotation that places Jobs exclusively."""
    jobs = nested_maps(manifest, "spec", "replicatedJobs")
    for path, values, indexes in annotated_parts(manifest):
        label = values.get(EXCLUSIVE)
        if label:
            if path[0] == "metadata":
                subject = "each Job"
            else:
                subject = f"each Job of {jobs[indexes[0]].get('name')}"
            how = "the nodes must be labeled for it" if NODE_SELECTOR in values else _FOLLOWERS
            yield f"{subject} runs alone in one domain of {label}: {how}"


_FOLLOWERS = "its other pods are created when pod 0 has a node, and go to nodes with the same value"
