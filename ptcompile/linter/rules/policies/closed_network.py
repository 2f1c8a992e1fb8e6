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

from collections.abc import Callable
from functools import partial

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
from ptcompile.simulator.pod import Pod
from ptcompile.world.workload import Stream

POLICY = ("networking.k8s.io/v1", "NetworkPolicy")
_NAMESPACE = ("v1", "Namespace")
_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its name that the API server gives every namespace."""


_PEERS = {"Ingress": "from", "Egress": "to"}
"""Fields of rules with the peers, by direction."""


def check(subject: Subject) -> Findings:
    pods = subject.stream.cached(_training_pods).get(subject.namespace, [])
    for direction, peers in _PEERS.items():
        field = direction.lower()
        path = ("spec", field) if field in subject.spec else ("spec",)
        for pod in pods:
            policies = [
                policy
                for policy in subject.neighbors.of_kind(POLICY)
                if _restricts(policy, direction, pod)
            ]
            if not any(policy is subject.manifest for policy in policies):
                continue

            may_be_peer = partial(_may_be_peer, pod=pod, stream=subject.stream)
            if not any(
                _allows(policy, direction, _is_all_ports, may_be_peer) for policy in policies
            ):
                yield found_at(
                    path,
                    f"the pods of {pod.job.title} cannot reach one another, but training needs "
                    "all their ports",
                    f"allow them {peers} each other, on all ports",
                    on_key=True,
                    severity=None if nested_map(subject.spec, "podSelector") else "warning",
                )
                break
            if direction == "Egress" and not any(
                _allows(policy, direction, _may_be_dns_port, _may_be_dns) for policy in policies
            ):
                yield found_at(
                    path,
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


def _allows(
    policy: Json,
    direction: str,
    matches_port: Callable[[Json], bool],
    matches_peer: Callable[[Json], bool],
) -> bool:
    """Return whether a rule allows a port and a peer; without a list of them it allows all."""
    for rule in nested_maps(policy, "spec", direction.lower()):
        ports = nested_maps(rule, "ports")
        peers = nested_maps(rule, _PEERS[direction])
        has_port = not ports or any(map(matches_port, ports))
        if has_port and (not peers or any(map(matches_peer, peers))):
            return True

    return False


def _is_all_ports(port: Json) -> bool:
    return port.get("endPort") is not None or "port" not in port


def _may_be_peer(peer: Json, pod: Pod, stream: Stream) -> bool:
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


def _may_be_dns_port(port: Json) -> bool:
    """Return whether a port may be that of DNS, by its name or in a range."""
    number = port.get("port")
    return number in (None, 53) or isinstance(number, str) or port.get("endPort") is not None


def _may_be_dns(peer: Json) -> bool:
    """Return whether a peer may be the cluster's DNS, which is in kube-system."""
    if "ipBlock" in peer:
        return True
    space = peer.get("namespaceSelector")
    return space is not None and selects(
        as_mapping(space), {_NAME_LABEL: "kube-system"}, partly=True
    )
