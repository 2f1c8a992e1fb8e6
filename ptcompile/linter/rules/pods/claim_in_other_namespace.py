"""The template that a pod claims devices from is in another namespace.

What: the ResourceClaimTemplate, ResourceClaim or ComputeDomain of that name is in the stream, in another namespace than
the pods.

Why: a pod finds templates and claims in its own namespace alone, and stays Pending. The DRA driver refuses a channel to
a pod of another namespace than its ComputeDomain's.

Example:

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
    - metadata: {name: llama, namespace: default}
    + metadata: {name: llama, namespace: research}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: llama-channel}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: research}
      spec:
        restartPolicy: Never
        resourceClaims:
          - {name: channel, resourceClaimTemplateName: llama-channel}  # <--
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources:
              limits: {cpu: 8, memory: 64Gi}
              claims: [{name: channel}]

Fix: put both into the same namespace.

Source: Kubernetes 1.36, dynamic resource allocation; NVIDIA DRA driver 25.12, ComputeDomain.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import namespace_of
from ptcompile.linter.devices import claims_of, find_in_any_namespace, maker_of
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if subject.kind[1] == "ClusterTrainingRuntime":
        return  # its pods run in the namespaces of its jobs
    space = namespace_of(subject.manifest)
    for template in subject.templates:
        for one in claims_of(template):
            other = find_in_any_namespace(subject.stream, one)
            if other is None or maker_of(subject.stream, one, space) is not None:
                continue
            yield found_at(
                one.path,
                f"{one.kind} {one.source} is in namespace {other.namespace}, but the pods are in {space}",
                "put both into the same namespace",
            )


RULE = Rule("claim-in-other-namespace", _check, severity="warning", stage="run", authority="kube-apiserver")
