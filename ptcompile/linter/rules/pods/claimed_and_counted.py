"""A container requests GPUs both by a claim and by their resource name.

PTC163 claimed-and-counted: warning at run (differs), by kubelet.
Needs: resourceClaims nvidia @ResourceClaimTemplate/@ResourceClaim

What: the claim of a container is made from a template of the stream for gpu.nvidia.com or
mig.nvidia.com, and its limits have nvidia.com/gpu or nvidia.com/mig-*.

Why: a cluster allocates its GPUs with the DRA driver or with the device plugin. With only one of
them, the pod waits for the other; with both, the same GPU is allocated twice.

Example:

      apiVersion: resource.k8s.io/v1
      kind: ResourceClaimTemplate
      metadata: {name: eight-gpus}
      spec:
        spec:
          devices:
            requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 8}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        resourceClaims: [{name: gpus, resourceClaimTemplateName: eight-gpus}]
        volumes: [{name: shm, emptyDir: {medium: Memory}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            volumeMounts: [{name: shm, mountPath: /dev/shm}]
            resources:
              limits:
                cpu: 64
                memory: 512Gi
    -           nvidia.com/gpu: 8  # <--
              claims: [{name: gpus}]

Fix: keep the one that the cluster uses.

Source: NVIDIA DRA driver 25.12, GPU allocation (gpuResourcesEnabledOverride).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.devices import GPU_CLASSES, claims_of, source_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        makers = {claim.name: source_of_claim(subject, claim) for claim in claims_of(template)}
        gpus = {
            name
            for name, maker in makers.items()
            if maker is not None and maker.classes & GPU_CLASSES
        }
        if not gpus:
            continue

        for container in template.containers:
            used = {
                nested_string(claim, "name")
                for claim in nested_maps(container.spec, "resources", "claims")
            } & gpus
            counted = next(
                (
                    resource
                    for resource in container.limits
                    if str(resource).startswith(_GPU_RESOURCES)
                ),
                None,
            )
            if used and counted is not None:
                yield found_at(
                    (*container.path, "resources", "limits", counted),
                    f"the claim {min(used)} is for GPUs too, but a cluster allocates GPUs in one "
                    "way only",
                    "remove it, or remove the claim",
                    on_key=True,
                )


_GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig-")
