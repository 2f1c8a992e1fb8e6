"""A PodDisruptionBudget, NetworkPolicy or headless Service selects no pod of its stream.

PTC279 selects-no-pod: warning at run (differs), by ptcompile.
Needs: selector/podSelector

What: the stream has workloads in the same namespace, and the selector matches the labels of none of
their pods: neither those of the templates nor those that the operators add. Streams without
workloads are not checked.

Why: the object has no effect. A drain evicts the pods that the budget should protect, the policy
restricts nothing, and the Service gives no pod a name. Labels of the job itself are not those of
its pods.

Example: job.yaml with

      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: train}
      spec:
        maxUnavailable: 0
    -   selector: {matchLabels: {app: train}}  # <--
    +   selector: {matchLabels: {batch.kubernetes.io/job-name: train}}
      ---
      metadata: {name: train, labels: {app: train}}

Fix: select labels that the pods have, such as the operator's label with the job's name.

Source: Kubernetes 1.36, PodDisruptionBudgets, network policies and Services: label selectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.index import is_headless
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
    without_keys,
)
from ptcompile.linter.references import service_users
from ptcompile.linter.rule import Findings, Subject, found_at, subject_of
from ptcompile.operators.table import RUNS_PODS, kind_named
from ptcompile.world.workload import Stream

_PATHS = {
    "PodDisruptionBudget": ("spec", "selector"),
    "NetworkPolicy": ("spec", "podSelector"),
    "Service": ("spec", "selector"),
}
_MAX_DEPTH = 12
_MAX_LABEL_SETS = 64
"""Different sets of labels in a namespace; a selector is not compared with more."""


class _PodLabels(NamedTuple):
    """The labels of a workload's pods."""

    title: str
    labels: Mapping[str, str]
    name_label: str
    """The operator's label with the job's name, or ""."""
    is_complete: bool
    """Whether the operator adds no other labels."""
    is_related: bool
    """Whether the workload is in another file."""


def check(subject: Subject) -> Findings:
    _, kind = subject.kind
    path = _PATHS[kind]
    selector = nested_map(subject.manifest, *path)
    if kind == "Service":
        if not is_headless(subject.manifest) or _is_checked_elsewhere(subject):
            return
        selector = {"matchLabels": selector} if selector else {}
    if not selector:
        return

    pods = subject.stream.cached(_pod_labels).get(subject.namespace, [])
    local_pods = [item for item in pods if not item.is_related]
    if (
        not local_pods
        or len(pods) > _MAX_LABEL_SETS
        or any(_may_select(selector, item) for item in pods)
    ):
        return

    selector_text = ", ".join(
        f"{key}={value}" for key, value in nested_string_map(selector, "matchLabels").items()
    )
    example = next((f", such as {item.name_label}" for item in local_pods if item.name_label), "")
    yield found_at(
        path,
        f"no pod of this stream has {selector_text or 'such labels'}: not those of {local_pods[0].title}",
        f"select labels of the pods{example}",
        on_key=True,
    )


def _is_checked_elsewhere(subject: Subject) -> bool:
    """Return whether selector-misses-pods or endpoint-misses-pods compares this Service with
    pods.
    """
    if subject.cached(service_users):
        return True
    hosts = subject.stream.cached(_rendezvous_hosts)
    return any(subject.name in host.split(".") for host in hosts)


def _rendezvous_hosts(stream: Stream) -> frozenset[str]:
    """Return the hosts at which the jobs of the stream meet."""
    jobs = [manifest for manifest in stream.objects if kind_of(manifest) in RUNS_PODS]
    rendezvous = [subject_of(manifest, stream).rendezvous for manifest in jobs]
    return frozenset(item.host for item in rendezvous if item is not None and item.host)


def _pod_labels(stream: Stream) -> dict[str, list[_PodLabels]]:
    """Return the labels of all pods of the stream, by namespace; equal ones of several pods
    once.
    """
    pods: dict[str, dict[object, _PodLabels]] = {}
    for manifest in stream.objects:
        kind = kind_of(manifest)
        is_related = id(manifest) in stream.related_ids
        title = f"{kind.name}/{object_name(manifest)}"
        local_pods = pods.setdefault(namespace_of(manifest), {})
        if kind in RUNS_PODS:
            job = subject_of(manifest, stream).job
            label = kind_named(kind).additions.job_label
            name_label = f"{label}={object_name(manifest)}" if label else ""
            if job is not None:
                for _, pod in job.first_pods:
                    key = (frozenset(pod.view.labels.items()), True, is_related)
                    local_pods.setdefault(
                        key, _PodLabels(title, pod.view.labels, name_label, True, is_related)
                    )
        else:
            for template in _templates(manifest, 0):
                labels = nested_string_map(template, "metadata", "labels")
                key = (frozenset(labels.items()), False, is_related)
                local_pods.setdefault(key, _PodLabels(title, labels, "", False, is_related))

    return {namespace: list(by_key.values()) for namespace, by_key in pods.items()}


def _templates(value: object, depth: int) -> Iterator[Json]:
    """Yield the pod templates anywhere in an object of a kind that is not simulated."""
    mapping = as_mapping(value)
    if nested_maps(mapping, "spec", "containers") and depth:
        yield mapping
        return
    if depth >= _MAX_DEPTH:
        return
    for item in value if isinstance(value, list) else mapping.values():
        if isinstance(item, (dict, list)):
            yield from _templates(item, depth + 1)


def _may_select(selector: Json, pod: _PodLabels) -> bool:
    """Return whether the selector may match the pod. Its controllers may add labels of their
    domains.
    """
    if selects(selector, pod.labels):
        return True

    match_labels = nested_string_map(selector, "matchLabels")
    keys = [
        nested_string(expression, "key") for expression in nested_maps(selector, "matchExpressions")
    ]
    domains = {key.partition("/")[0] for key in pod.labels if "/" in key}
    absent = [key for key in (*match_labels, *keys) if key not in pod.labels]
    added = [key for key in absent if _is_added(key, domains, pod)]
    user_labels = without_keys(match_labels, *added)
    expressions = [
        item for item in nested_maps(selector, "matchExpressions") if item.get("key") not in added
    ]

    return bool(added) and selects(
        {"matchLabels": user_labels, "matchExpressions": expressions}, pod.labels
    )


def _is_added(key: str, domains: set[str], pod: _PodLabels) -> bool:
    """Return whether a controller may add the label: one of its domain, a hash or a UID."""
    domain = key.partition("/")[0] if "/" in key else ""
    if not pod.is_complete:
        return bool(domain) or key.endswith(("-hash", "-uid", "-index"))
    return domain in domains or domain.endswith(".x-k8s.io") or key.endswith(("-hash", "-uid"))
