"""A pod selects nodes with accelerators but requests none.

PTC205 gpu-nodes-without-gpus: warning at run (wastes), by ptcompile.
Needs: nodeSelector

What: a pod without accelerators has a nodeSelector that names an accelerator, such as
cloud.google.com/gke-accelerator.

Why: without a request the container gets no device: it sees no GPU, and the node's accelerators
stay idle. Where NVIDIA's runtime is the node's default and the image sets
NVIDIA_VISIBLE_DEVICES=all, as CUDA images do, it sees all GPUs of the node, which other pods use
too. Cloud node pools keep such pods out with a taint, so it stays Pending there.

Example: pod.yaml with

      spec:
        nodeSelector:
          cloud.google.com/gke-accelerator: nvidia-h100-80gb  # <--
        containers:
          - name: pytorch
    -       resources: {limits: {cpu: 8, memory: 64Gi}}
    +       resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: request the accelerators, or let the pod run elsewhere.

Source: GKE, EKS and NVIDIA GPU feature discovery 0.17, labels of nodes; Kubernetes 1.36, device
plugins; NVIDIA/k8s-device-plugin issues 87 and 195.
"""

from __future__ import annotations

from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import (
    nested_maps,
    nested_string_map,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

_ACCELERATOR_LABELS = frozenset(
    {
        "cloud.google.com/gke-accelerator",
        "cloud.google.com/gke-tpu-accelerator",
        "k8s.amazonaws.com/accelerator",
        "nvidia.com/gpu.product",
        "nvidia.com/gpu.present",
        "nvidia.com/gpu.family",
    }
)

_SHARED_WITHOUT_REQUEST = (
    "none gets one, or, where NVIDIA's container runtime is the default, all of the node's, "
    "shared with other pods"
)


def check(subject: Subject) -> Findings:
    if subject.kind.api_version == "trainer.kubeflow.org/v1alpha1":
        return  # the TrainJob of a runtime may request the GPUs
    for template in subject.templates:
        selector = nested_string_map(template.spec, "nodeSelector")
        label = next((key for key in selector if key in _ACCELERATOR_LABELS), None)
        if label is not None and template.containers and not _requests_devices(template):
            is_nvidia = "nvidia" in label + selector[label]
            yield found_at(
                (*template.spec_path, "nodeSelector", label),
                f"selects nodes with {selector[label]}, but no container requests an accelerator: "
                + (_SHARED_WITHOUT_REQUEST if is_nvidia else "none gets one"),
                "add the accelerator to the limits of the container that trains",
            )


def _requests_devices(template: ManifestTemplate) -> bool:
    """Return whether the pod gets devices: by name, by a claim, or by an unknown resource."""
    if nested_maps(template.spec, "resourceClaims"):
        return True
    return any(
        is_accelerator(name) or "/" in name
        for container in template.containers
        for _, name, _ in container.resources
    )
