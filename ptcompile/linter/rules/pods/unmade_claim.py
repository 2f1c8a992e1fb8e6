"""A pod claims devices from a template that is not among those that the stream creates.

PTC261 unmade-claim: warning at run (waits), by kube-apiserver.
Needs: resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim

What: resourceClaims names a ResourceClaimTemplate or ResourceClaim, but the ComputeDomains,
templates and claims of the stream have other names.

Why: without the template no claim is created for the pod, and it stays Pending with an event that
the object is not found. The controller of a ComputeDomain creates the template, under the name that
the domain specifies.

Example: pod.yaml with

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: llama}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: llama-channel}}}
      ---
      spec:
        resourceClaims:
    -     - {name: channel, resourceClaimTemplateName: llama}  # <--
    +     - {name: channel, resourceClaimTemplateName: llama-channel}
        containers:
          - name: pytorch
            resources:
              limits: {cpu: 8, memory: 64Gi}
              claims: [{name: channel}]

Fix: write the name that the domain or the template has.

Source: Kubernetes 1.36, dynamic resource allocation; NVIDIA DRA driver 25.12, ComputeDomain.
"""

from __future__ import annotations

from ptcompile.linter.devices import claim_sources, claims_of, find_in_any_namespace
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    if subject.kind.name == "ClusterTrainingRuntime":
        return  # the pods run in the namespaces of the jobs

    namespace = subject.namespace
    for template in subject.templates:
        for claim in claims_of(template):
            candidates = [
                maker for maker in subject.stream.cached(claim_sources) if maker.kind == claim.kind
            ]
            local_names = {maker.name for maker in candidates if maker.namespace == namespace}
            if not candidates or find_in_any_namespace(subject.stream, claim) is not None:
                continue

            names = ", ".join(dict.fromkeys(maker.name for maker in candidates))
            suggestion = next(iter(local_names)) if len(local_names) == 1 else None
            yield found_at(
                claim.path,
                f"nothing in the stream creates the {claim.kind} {claim.object_name}; it has "
                f"{names}",
                f"use {suggestion}" if suggestion else f"use the name of an existing {claim.kind}",
                fix_setting(f"use {suggestion}", claim.path, suggestion) if suggestion else None,
            )
