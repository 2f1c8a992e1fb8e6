"""A network policy separates the pods of a training job.

What: a NetworkPolicy selects the pods of a job of the stream that meet, and none of its rules, nor of the other
policies here, lets them reach each other on all ports. A warning where the policy selects all pods: then others are
likely to allow more.

Why: the pods wait for a rendezvous that none can reach. After it, NCCL and Gloo open ports of their own choice, so a
rule for one port is not enough.

Example:

      apiVersion: networking.k8s.io/v1
      kind: NetworkPolicy
      metadata: {name: train}
      spec:
        podSelector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: train}}
        policyTypes: [Ingress]
    -   ingress: []  # <--
    +   ingress: [{from: [{podSelector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: train}}}]}]
      ---
      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --rdzv-backend=c10d
                          - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: allow the pods of the job from and to each other, on all ports.

Source: Kubernetes 1.36, network policies: what no policy allows to a selected pod is denied.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_strings, namespace_of, nested_map
from ptcompile.linter.references import selects
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject, subject_of
from ptcompile.linter.trainers import count_nodes
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.simulator.pod import Pod

POLICY = ("networking.k8s.io/v1", "NetworkPolicy")


def _check(subject: Subject) -> Iterator[Finding]:
    meeting = subject.stream.once(_meeting).get(namespace_of(subject.manifest), [])
    for way, peers in (("Ingress", "from"), ("Egress", "to")):
        for pod in meeting:
            closing = [one for one in subject.neighbours.of(POLICY) if _concerns(one, way, pod)]
            mine = any(one is subject.manifest for one in closing)
            if mine and not any(_opens(one, way, peers, pod) for one in closing):
                path = ("spec", way.lower()) if way.lower() in subject.spec else ("spec",)
                yield found_at(
                    path,
                    f"the pods of {pod.job.title} cannot reach one another, and they have to meet",
                    f"allow them {'from' if way == 'Ingress' else 'to'} each other, on all ports",
                    on_key=True,
                    severity=None if as_mapping(subject.spec.get("podSelector")) else "warning",
                )
                break


def _meeting(stream: Stream) -> dict[str, list[Pod]]:
    """The first pod of each job of several nodes, by namespace."""
    found: dict[str, list[Pod]] = {}
    for one in stream.objects:
        subject = subject_of(one, stream)
        for group in (*subject.groups, *subject.plain):
            if count_nodes(group) > 1 and not group[0].local and not group[0].pod.on_host:
                found.setdefault(namespace_of(one), []).append(group[0].pod)
    return found


def _concerns(policy: Json, way: str, pod: Pod) -> bool:
    """Whether a policy says what may come to a pod, or go from it."""
    spec = nested_map(policy, "spec")
    said = as_strings(spec.get("policyTypes")) or ["Ingress", *(["Egress"] if "egress" in spec else [])]
    return way in said and selects(nested_map(spec, "podSelector"), pod.view.labels)


def _opens(policy: Json, way: str, peers: str, pod: Pod) -> bool:
    """Whether a rule lets pods like this one through, on all ports."""
    for rule in as_mappings(nested_map(policy, "spec").get(way.lower())):
        ports, those = as_mappings(rule.get("ports")), as_mappings(rule.get(peers))
        several = not ports or any(one.get("endPort") is not None or "port" not in one for one in ports)
        if several and (not those or any(_like(one, pod) for one in those)):
            return True
    return False


def _like(peer: Json, pod: Pod) -> bool:
    if "ipBlock" in peer or (peer.get("namespaceSelector") is not None and peer.get("podSelector") is None):
        return True  # whether the pods are in it no file says
    return selects(nested_map(peer, "podSelector"), pod.view.labels)


RULE = Rule("closed-network", _check, severity="error", stage="run", authority="ptcompile")
