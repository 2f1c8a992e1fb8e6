"""A pod claims GPUs or a channel of a ComputeDomain, but no container uses the claim.

PTC161 unused-claim: warning at run (wastes), by kubelet.
Needs: resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim

What: an entry of resourceClaims is made from one of the stream's templates for NVIDIA's DRA driver,
but no container lists it in resources.claims.

Why: the devices are allocated to the pod, but no container gets them. Without its channel NCCL
leaves NVLink to other nodes unused, or stops when it imports their memory.

Example: pod.yaml with

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: llama}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: llama-channel}}}
      ---
      spec:
        resourceClaims:
          - name: channel
            resourceClaimTemplateName: llama-channel  # <--
        containers:
          - name: pytorch
            resources:
              limits: {cpu: 8, memory: 64Gi}
    +         claims: [{name: channel}]

Fix: name the claim in resources.claims of the container that trains.

Source: Kubernetes 1.36, dynamic resource allocation; NVIDIA DRA driver 25.12, guides.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.devices import CHANNEL_CLASS, GPU_CLASSES, claims_of, source_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        used_names = {
            nested_string(claim, "name")
            for container in template.containers
            for claim in nested_maps(container.spec, "resources", "claims")
        }
        for pod_claim in claims_of(template):
            maker = source_of_claim(subject, pod_claim)
            if (
                pod_claim.name in used_names
                or maker is None
                or not maker.classes & {CHANNEL_CLASS, *GPU_CLASSES}
            ):
                continue

            yield found_at(
                pod_claim.path,
                f"no container lists the claim {pod_claim.name} in resources.claims, so none gets "
                "its devices",
                f"add {{name: {pod_claim.name}}} to resources.claims of the container that trains",
            )
