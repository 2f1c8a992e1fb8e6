"""Pods of a Job: templates, expansion, restarts and behavior on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.kinds.model import KindContext, LostPod, Retry, kubelet_retry
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import (
    COMPLETION_INDEX,
    Template,
    cluster_host_name,
    env_from_field,
    find_headless_service,
    job_labels,
    limit_sentences,
    restart_sentences,
    restarts_by_rule,
    suspension_notes,
    with_containers,
    with_env,
)
from ptcompile.kubernetes.pod_spec import grace_seconds
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    as_list,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


_INDEX_ENV = env_from_field("JOB_COMPLETION_INDEX", f"metadata.labels['{COMPLETION_INDEX}']")
_INDEX_ENV_OLD = env_from_field(
    "JOB_COMPLETION_INDEX", f"metadata.annotations['{COMPLETION_INDEX}']"
)


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Return one pod per index of an Indexed Job, or the completions of another Job."""
    spec = nested_map(manifest, "spec")
    name = object_name(manifest)
    namespace = namespace_of(manifest)
    metadata, pod = template_parts(spec.get("template"))
    labels = {**nested_string_map(metadata, "labels"), **job_labels(name)}
    service = find_headless_service(
        request.related, nested_string(pod, "subdomain") or None, labels, namespace
    )
    role = job_role("job", name, spec, namespace, request, dns=service is not None)
    services = (service,) if service else ()

    return Expansion(
        (role,),
        services,
        jobs=(job_summary(name, "job", spec),),
        notes=suspension_notes(spec),
    )


def pod_count(spec: Json) -> int:
    """Return how many pods must succeed to complete the Job; `parallelism` is how many run at
    once.
    """
    completions = spec.get("completions")
    return max(0, as_int(spec.get("parallelism") if completions is None else completions, 1))


def job_summary(name: str, role: str, spec: Json) -> Json:
    """Return the main fields of the Job with their defaults."""
    mode = nested_string(spec, "completionMode") or "NonIndexed"
    completions = spec.get("completions")

    return {
        "name": name,
        "role": role,
        "completionMode": mode,
        "parallelism": nested_int(spec, "parallelism", default=1),
        "completions": completions if completions is not None or mode == "Indexed" else 1,
        "backoffLimit": nested_int(spec, "backoffLimit", default=6),
    }


def job_role(
    role: str, name: str, spec: Json, space: str, request: KindContext, *, dns: bool
) -> ExpandedRole:
    """Return the pods of one Job as a role. `dns` tells whether a Service resolves their
    subdomain.
    """
    build = PodBuilder(role, spec, space, request, dns=dns)
    return ExpandedRole(role, pod_count(spec), lambda index: build(index, index, name, {}))


class PodBuilder:
    """Builder of the pods of Jobs with one template, including JobSet's; shared values are
    computed once.
    """

    def __init__(
        self,
        role: str,
        spec: Json,
        space: str,
        request: KindContext,
        *,
        dns: bool,
        main: str | None = None,
    ) -> None:
        metadata, pod = template_parts(spec.get("template"))
        self.role = role
        self.space = space
        self.dns = dns
        self.main = main
        self.indexed = nested_string(spec, "completionMode") == "Indexed"
        self.labelled = request.versions.kubernetes >= (1, 28)
        self.labels = nested_string_map(metadata, "labels")
        self.annotations = nested_string_map(metadata, "annotations")
        self.subdomain = nested_string(pod, "subdomain") or None
        self.pod = _with_index(pod, labelled=self.labelled) if self.indexed else pod

    def __call__(self, index: int, within: int, job: str, extra: Mapping[str, str]) -> PodView:
        """Return the pod with this index in the role; `within` is its index in the Job."""
        hostname = nested_string(self.pod, "hostname") or None
        labels = {**self.labels, **extra, **job_labels(job)}
        # JobSet adds its keys as labels and as annotations
        annotations = {**self.annotations, **extra}
        if self.indexed:
            hostname = f"{job}-{within}"
            annotations = {**annotations, COMPLETION_INDEX: str(within)}
            if self.labelled:
                labels[COMPLETION_INDEX] = str(within)

        resolvable = hostname if self.dns and self.subdomain else None
        return PodView(
            name=hostname if self.indexed and hostname else job,
            role=self.role,
            index=index,
            namespace=self.space,
            random_suffix=True,
            hostname=hostname,
            subdomain=self.subdomain,
            dns=cluster_host_name(resolvable, self.subdomain, self.space) if resolvable else None,
            job=job,
            labels=labels,
            annotations=annotations,
            main=self.main,
            spec=self.pod,
        )


def _with_index(pod: Json, *, labelled: bool) -> JsonDict:
    """Append JOB_COMPLETION_INDEX to the env of each container that lacks it."""
    entry = _INDEX_ENV if labelled else _INDEX_ENV_OLD

    def add(container: Json) -> Json:
        present = any(e.get("name") == entry["name"] for e in nested_maps(container, "env"))
        return container if present else with_env(container, [entry])

    return with_containers(pod, add, init=True)


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the template of all pods."""
    spec = nested_map(manifest, "spec")
    yield Template(
        ("spec", "template"), spec.get("template"), "", nested_int(spec, "parallelism", default=1)
    )


def describe_spec_failures(spec: Json, restart: str = "Never") -> Iterator[str]:
    """Yield sentences about what a Job of this spec does on failure and at its end.

    `restart` is the restartPolicy of pods that set none.
    """
    template = nested_map(spec, "template", "spec")
    yield from restart_sentences(template, restart)
    if spec.get("backoffLimitPerIndex") is not None:
        yield f"backoffLimitPerIndex {spec.get('backoffLimitPerIndex')}: retries of each index"
    else:
        limit = nested_int(spec, "backoffLimit", default=6)
        if limit == 0:
            effect = "the first failure fails the Job"
        else:
            effect = (
                "that many failures are retried, then the Job fails; only the failed pod is "
                "recreated"
            )
        yield f"backoffLimit {limit}: {effect}"

    if rules := nested_maps(spec, "podFailurePolicy", "rules"):
        actions = ", ".join(nested_string(rule, "action") for rule in rules)
        yield f"podFailurePolicy: the first rule that matches decides ({actions})"
    yield f"a lost node: {lost_pod(spec).text}; one whose process exits 0 on SIGTERM has succeeded"
    for rule in nested_maps(spec, "successPolicy", "rules")[:1]:
        indexes = nested_string(rule, "succeededIndexes")
        grace = grace_seconds(template)
        done = f"done when index {indexes} succeeds" if indexes else "done by count"
        yield (
            f"successPolicy: {done}, and complete when the other pods have ended, at most {grace} "
            "seconds later"
        )

    yield from limit_sentences(spec, "the Job")


_DISRUPTIONS: dict[str, LostPod] = {
    "Ignore": LostPod("pod", "the pod is recreated and not counted"),
    "Count": LostPod("pod", "the pod counts as failed"),
    "FailJob": LostPod("none", "the Job fails"),
    "FailIndex": LostPod("none", "the pod's index fails"),
}
"""A Job's actions for a lost pod, which has the condition DisruptionTarget (Kubernetes 1.36)."""


def lost_pod(spec: Json) -> LostPod:
    """Return what a Job of this spec does about a lost pod: the first rule for it decides, else
    backoffLimit.
    """
    action = _disruption_action(spec)
    if action == "Count" and _retry_limit(spec) == 0:
        return _DISRUPTIONS["Count"]._replace(recreated="none")
    return _DISRUPTIONS.get(action, LostPod("none", "unknown action"))


def _retry_limit(spec: Json) -> int:
    """Return the number of failures that the Job, or each of its indexes, may have."""
    per_index = spec.get("backoffLimitPerIndex")
    if per_index is None:
        return nested_int(spec, "backoffLimit", default=6)
    return as_int(per_index)


def _disruption_action(spec: Json) -> str:
    rules = nested_maps(spec, "podFailurePolicy", "rules")
    return next(
        (nested_string(rule, "action") for rule in rules if _matches_disruption(rule)), "Count"
    )


_POD_BACKOFF_SECONDS = 10
_LONGEST_BACKOFF_SECONDS = 600
"""Delay before a Job's controller recreates a failed pod, and its maximum (Kubernetes 1.36,
DefaultJobPodFailureBackOff).
"""


def restarts(
    spec: Json, exit_code: int | None, restart: str = "Never", size: int = 0
) -> tuple[Retry, ...]:
    """Return what answers a failed pod of a Job of this spec; see `Kind.restarts`.

    `restart` is the restartPolicy of pods that set none. `size` is the number of pods per Job, if a
    role has several. With OnFailure the controller counts restarts of containers, and fails the Job
    at the one that reaches the limit (Kubernetes 1.36, pastBackoffLimitOnFailure).
    """
    template = nested_map(spec, "template", "spec")
    policy = nested_string(template, "restartPolicy") or restart
    if policy != "OnFailure" and restarts_by_rule(template, exit_code):
        return (kubelet_retry(None, "job", "restartPolicyRules"),)

    action = _disruption_action(spec) if exit_code is None else _exit_action(spec, exit_code)
    if action == "Ignore":
        return (Retry("pod", None, "pod", "podFailurePolicy Ignore"),)
    if action != "Count":
        return ()

    per_index = spec.get("backoffLimitPerIndex")
    limit = _retry_limit(spec)
    text = f"backoffLimit {limit}" if per_index is None else f"backoffLimitPerIndex {limit}"
    if exit_code is not None and policy == "OnFailure":
        return (kubelet_retry(max(limit - 1, 0), "role", text, size),)

    counted: Literal["pod", "role"] = "role" if per_index is None else "pod"
    return (
        Retry(
            "pod", limit, counted, text, _POD_BACKOFF_SECONDS, _LONGEST_BACKOFF_SECONDS, size=size
        ),
    )


def _exit_action(spec: Json, exit_code: int) -> str:
    """Return the action of the first rule of podFailurePolicy for an exit status, or Count."""
    for rule in nested_maps(spec, "podFailurePolicy", "rules"):
        on_codes = nested_map(rule, "onExitCodes")
        is_listed = exit_code in as_list(on_codes.get("values"))
        if on_codes and is_listed == (on_codes.get("operator") == "In"):
            return nested_string(rule, "action")
    return "Count"


def failure_reason(spec: Json) -> str:
    """Return the reason with which a Job of this spec fails when it loses a pod that it does not
    recreate.
    """
    if _disruption_action(spec) == "FailJob":
        return "PodFailurePolicy"
    return limit_reason(spec)


def limit_reason(spec: Json) -> str:
    """Return the reason with which a Job of this spec fails when its retries are used up."""
    if spec.get("backoffLimitPerIndex") is None:
        return "BackoffLimitExceeded"
    return "FailedIndexes"


def _matches_disruption(rule: Json) -> bool:
    conditions = nested_maps(rule, "onPodConditions")
    return any(
        condition.get("type") == "DisruptionTarget"
        and (nested_string(condition, "status") or "True") == "True"
        for condition in conditions
    )
