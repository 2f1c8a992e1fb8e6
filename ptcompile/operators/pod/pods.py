"""Templates, expansion, reading and behavior on failure of a Pod."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds import templates
from ptcompile.kinds.model import KindContext, LostPod, Retry, StartOrder, kubelet_retry
from ptcompile.kinds.pods import MAX_PODS_PER_ROLE, ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.reading import (
    MAIN_CONTAINER,
    Read,
    ReadRole,
    changed_names,
    main_container,
    restart_policy,
    without_empty,
)
from ptcompile.kinds.templates import (
    Template,
    find_headless_service,
    limit_sentences,
    restart_sentences,
    restarts_by_rule,
)
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_int,
    nested_map,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
    without_keys,
)


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Return the one pod. It has a DNS name if it has a hostname and its subdomain is a headless
    Service of the stream.

    A subdomain without a hostname gives it no record (Kubernetes 1.36, DNS for Services and pods).
    """
    metadata = nested_map(manifest, "metadata")
    spec = nested_map(manifest, "spec")
    name = object_name(manifest)
    namespace = namespace_of(manifest)
    labels = nested_string_map(metadata, "labels")
    hostname = nested_string(spec, "hostname") or None
    subdomain = nested_string(spec, "subdomain") or None
    service = find_headless_service(request.related, subdomain, labels, namespace)
    dns = None
    if service and subdomain and hostname:
        dns = templates.cluster_host_name(hostname, subdomain, namespace)
    view = PodView(
        name=name,
        role="pod",
        index=0,
        namespace=namespace,
        hostname=hostname,
        subdomain=subdomain,
        dns=dns,
        labels=labels,
        annotations=nested_string_map(metadata, "annotations"),
        spec=spec,
    )

    return Expansion((ExpandedRole("pod", 1, lambda _: view),), (service,) if service else ())


def expand_replicas(manifest: Json, request: KindContext) -> Expansion:
    """Return the pods of a Deployment or a StatefulSet.

    Those of a StatefulSet have host names, subdomain and index by their controller (Kubernetes
    1.36, pkg/controller/statefulset/stateful_set_utils.go: initIdentity).
    """
    spec = nested_map(manifest, "spec")
    name = object_name(manifest)
    namespace = namespace_of(manifest)
    metadata, pod = template_parts(spec.get("template"))
    count = min(max(0, nested_int(spec, "replicas", default=1)), MAX_PODS_PER_ROLE)
    is_stateful = manifest.get("kind") == "StatefulSet"
    if is_stateful:
        subdomain = nested_string(spec, "serviceName") or None
    else:
        subdomain = nested_string(pod, "subdomain") or None
    first = nested_int(spec, "ordinals", "start")
    labels = nested_string_map(metadata, "labels")

    def view(index: int) -> PodView:
        if is_stateful:
            pod_name = f"{name}-{first + index}"
            hostname = pod_name
            pod_labels = {**labels, _POD_NAME: pod_name}
        else:
            pod_name = name
            hostname = nested_string(pod, "hostname")
            pod_labels = labels

        dns = None
        if hostname and find_headless_service(request.related, subdomain, pod_labels, namespace):
            dns = templates.cluster_host_name(hostname, subdomain, namespace)

        return PodView(
            name=pod_name,
            role="pod",
            index=index,
            random_suffix=not is_stateful,
            namespace=namespace,
            hostname=hostname or None,
            subdomain=subdomain,
            dns=dns,
            labels=pod_labels,
            annotations=nested_string_map(metadata, "annotations"),
            spec={**pod, "subdomain": subdomain} if is_stateful else pod,
        )

    service = find_headless_service(request.related, subdomain, labels, namespace)

    return Expansion((ExpandedRole("pod", count, view),), (service,) if service else ())


def start_orders(manifest: Json) -> Iterator[StartOrder]:
    """Yield that a StatefulSet creates each pod when the one before it is ready, unless it is
    Parallel.
    """
    spec = nested_map(manifest, "spec")
    if spec.get("podManagementPolicy") != "Parallel":
        field = ("podManagementPolicy",) if "podManagementPolicy" in spec else ()
        yield StartOrder(
            ("spec", *field),
            "pod",
            1,
            "podManagementPolicy OrderedReady creates each pod when the one before it is ready",
            "set podManagementPolicy to Parallel",
        )


_POD_NAME = "statefulset.kubernetes.io/pod-name"


def replicated_templates(manifest: Json) -> Iterator[Template]:
    """Yield the template of the pods of a Deployment or a StatefulSet."""
    spec = nested_map(manifest, "spec")
    yield Template(
        ("spec", "template"), spec.get("template"), "", nested_int(spec, "replicas", default=1)
    )


def describe_replica_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about what a Deployment or a StatefulSet does on failure."""
    yield from restart_sentences(nested_map(manifest, "spec", "template", "spec"), "Always")
    yield f"a lost node: {REPLACED_POD.text}"


REPLACED_POD = LostPod("pod", "the pod is created again, however often it is lost")
"""What happens when a pod of a Deployment or a StatefulSet is lost."""


def read(manifest: Json, _related: Objects) -> Iterator[Read]:
    """Yield the pod as a job of one node, with the object's labels and annotations."""
    template = {"spec": nested_map(manifest, "spec")}
    main = main_container(template, MAIN_CONTAINER)
    run_policy = without_empty(
        {"activeDeadlineSeconds": nested_value(manifest, "spec", "activeDeadlineSeconds")}
    )
    spec = without_keys(template["spec"], "activeDeadlineSeconds")
    pods = ReadRole("node", 1, {"spec": spec}, (), main, restart_policy(template, "Always"))
    yield Read(
        "pod", (pods,), {"nodes": 1, "runPolicy": run_policy, **changed_names(container=main)}
    )


LOST_POD = LostPod("none", "no new pod is created")
"""What happens when the Pod is lost."""


def restarts(manifest: Json, exit_code: int | None) -> tuple[Retry, ...]:
    """Return what answers a failed Pod: the kubelet, unless the Pod is lost or its restartPolicy
    is Never.
    """
    policy = nested_string(manifest, "spec", "restartPolicy") or "Always"
    if restarts_by_rule(nested_map(manifest, "spec"), exit_code):
        return (kubelet_retry(None, "job", "restartPolicyRules"),)
    if exit_code is None or policy == "Never":
        return ()
    return (kubelet_retry(None, "job", f"restartPolicy {policy}"),)


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the Pod itself as its template."""
    yield Template((), manifest)


def describe_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about what a Pod does on failure."""
    spec = nested_map(manifest, "spec")
    yield from restart_sentences(spec, "Always")
    yield from limit_sentences(
        {"activeDeadlineSeconds": spec.get("activeDeadlineSeconds")}, "the pod"
    )
    yield f"a lost node: {LOST_POD.text}"
