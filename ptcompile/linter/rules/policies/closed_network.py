"""A network policy separates the pods of a training job.

PTC278 closed-network: error at run (fails), by ptcompile.
Needs: NetworkPolicy

What: a NetworkPolicy selects the pods of a job of several nodes, and no rule of the stream's
policies lets them reach each other on all ports: it has other ports, other pods or another
namespace. Reported as a warning if the policy selects all pods: other policies probably allow more.
So is a policy for egress that does not let them reach the cluster's DNS.

Why: the pods wait for a rendezvous that none can reach. After the rendezvous NCCL and Gloo open
ports of their choice, so a rule for one port is not enough. Without DNS they do not find the host
of the rendezvous.

Example: jobset.yaml with

      apiVersion: networking.k8s.io/v1
      kind: NetworkPolicy
      metadata: {name: train}
      spec:
        podSelector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: train}}
        policyTypes: [Ingress]
    -   ingress: []  # <--
    +   ingress: [{from: [{podSelector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: train}}}]}]
      ---
      kind: JobSet

Fix: allow the pods of the job from and to each other, on all ports.

Source: Kubernetes 1.36, network policies: traffic of a selected pod that no policy allows is
denied.
"""

from __future__ import annotations

from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
)
from ptcompile.linter.rule import Findings, Subject, found_at, subject_of
from ptcompile.linter.training_roles import count_nodes
from ptcompile.world.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.pod import Pod

POLICY = ("networking.k8s.io/v1", "NetworkPolicy")
_NAMESPACE = ("v1", "Namespace")
_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its name that the API server gives every namespace."""


def check(subject: Subject) -> Findings:
    pods = subject.stream.cached(_training_pods).get(subject.namespace, [])
    for direction, peers in (("Ingress", "from"), ("Egress", "to")):
        for pod in pods:
            policies = [
                policy
                for policy in subject.neighbors.of_kind(POLICY)
                if _restricts(policy, direction, pod)
            ]
            is_concerned = any(policy is subject.manifest for policy in policies)

            if is_concerned and not any(
                _allows_peers(policy, direction, peers, pod, subject.stream) for policy in policies
            ):
                yield found_at(
                    ("spec", direction.lower()) if direction.lower() in subject.spec else ("spec",),
                    f"the pods of {pod.job.title} cannot reach one another, but training needs "
                    "all their ports",
                    f"allow them {peers} each other, on all ports",
                    on_key=True,
                    severity=None if nested_map(subject.spec, "podSelector") else "warning",
                )
                break
            if (
                is_concerned
                and direction == "Egress"
                and not any(_allows_dns(policy) for policy in policies)
            ):
                yield found_at(
                    ("spec", "egress") if "egress" in subject.spec else ("spec",),
                    f"the pods of {pod.job.title} cannot reach the cluster's DNS, so no host name "
                    "resolves",
                    "allow port 53, UDP and TCP, to the namespace kube-system",
                    on_key=True,
                    severity="warning",
                )
                break


def _training_pods(stream: Stream) -> dict[str, list[Pod]]:
    """Return the first pod of each rendezvous group of several nodes, by namespace."""
    pods: dict[str, list[Pod]] = {}
    for manifest in stream.objects:
        subject = subject_of(manifest, stream)
        for group in (*subject.rendezvous_groups, *subject.env_groups):
            first = group[0]
            if count_nodes(group) > 1 and not first.is_local and not first.pod.on_host:
                pods.setdefault(namespace_of(manifest), []).append(first.pod)
    return pods


def _restricts(policy: Json, direction: str, pod: Pod) -> bool:
    """Return whether a policy restricts traffic to or from a pod."""
    spec = nested_map(policy, "spec")
    directions = nested_strings(spec, "policyTypes") or [
        "Ingress",
        *(["Egress"] if "egress" in spec else []),
    ]
    return direction in directions and selects(nested_map(spec, "podSelector"), pod.view.labels)


def _allows_peers(policy: Json, direction: str, peers: str, pod: Pod, stream: Stream) -> bool:
    """Return whether a rule allows all ports between the job's pods."""
    for rule in nested_maps(policy, "spec", direction.lower()):
        ports = nested_maps(rule, "ports")
        allowed_peers = nested_maps(rule, peers)
        all_ports = not ports or any(
            port.get("endPort") is not None or "port" not in port for port in ports
        )
        if all_ports and (
            not allowed_peers or any(_can_match(peer, pod, stream) for peer in allowed_peers)
        ):
            return True

    return False


def _can_match(peer: Json, pod: Pod, stream: Stream) -> bool:
    """Return whether a peer may be a pod of the job. The files do not show the pods' addresses."""
    if "ipBlock" in peer:
        return True
    space = peer.get("namespaceSelector")
    if space is not None and not _may_be_in(as_mapping(space), pod, stream):
        return False
    return peer.get("podSelector") is None or selects(
        nested_map(peer, "podSelector"), pod.view.labels
    )


def _may_be_in(selector: Json, pod: Pod, stream: Stream) -> bool:
    """Return whether a selector of namespaces may match the pod's: its labels are known if the
    stream has it.
    """
    name = nested_string(pod.job.manifest, "metadata", "namespace")
    if not name:
        return True
    spaces = stream.objects.by_name(_NAMESPACE, name)
    labels = {
        _NAME_LABEL: name,
        **(nested_string_map(spaces[-1], "metadata", "labels") if spaces else {}),
    }
    return selects(selector, labels, partly=not spaces)


def _allows_dns(policy: Json) -> bool:
    """Return whether a rule may allow the cluster's DNS, which is in kube-system."""
    for rule in nested_maps(policy, "spec", "egress"):
        ports = nested_maps(rule, "ports")
        peers = nested_maps(rule, "to")
        # a name or a range may be that of DNS
        has_port = not ports or any(
            port.get("port") in (None, 53)
            or isinstance(port.get("port"), str)
            or port.get("endPort") is not None
            for port in ports
        )
        if has_port and (not peers or any(_may_be_dns(peer) for peer in peers)):
            return True
    return False


def _may_be_dns(peer: Json) -> bool:
    if "ipBlock" in peer:
        return True
    space = peer.get("namespaceSelector")
    return space is not None and selects(
        as_mapping(space), {_NAME_LABEL: "kube-system"}, partly=True
    )
