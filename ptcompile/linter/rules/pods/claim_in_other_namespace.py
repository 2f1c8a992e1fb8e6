"""A pod claims devices from a template in another namespace.

PTC262 claim-in-other-namespace: warning at run (waits), by kube-apiserver.
Needs: resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim

What: the stream has a ResourceClaimTemplate, ResourceClaim or ComputeDomain of that name, but in
another namespace than the pods.

Why: a pod finds templates and claims only in its own namespace, and stays Pending. The DRA driver
rejects a pod that claims a channel of a ComputeDomain in another namespace.

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

from ptcompile.linter.devices import claims_of, find_in_any_namespace, source_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    if subject.kind.name == "ClusterTrainingRuntime":
        return  # the pods run in the namespaces of the jobs

    for template in subject.templates:
        for claim in claims_of(template):
            maker = find_in_any_namespace(subject.stream, claim)
            if maker is None or source_of_claim(subject, claim) is not None:
                continue
            yield found_at(
                claim.path,
                f"{claim.kind} {claim.object_name} is in namespace {maker.namespace}, but the "
                f"pods are in {subject.namespace}",
                "put both into the same namespace",
            )
