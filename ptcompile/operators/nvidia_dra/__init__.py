"""NVIDIA's DRA driver: ComputeDomains."""

from __future__ import annotations

from ptcompile.kinds.model import Install, Kind, Operator, Rejections


class ComputeDomain(Kind):
    """A ComputeDomain."""

    api_version = "resource.nvidia.com/v1beta1"
    name = "ComputeDomain"
    schema = "resource.nvidia.com/computedomain_v1beta1.json"
    rules = ("operators.nvidia_dra.rules",)

    def rejections(self) -> Rejections:
        return Rejections(immutable_fields=(("spec", "A computeDomain.spec is immutable"),))


class NvidiaDRA(Operator):
    """NVIDIA's DRA driver for GPUs."""

    folder = "nvidia_dra"
    authority = "kube-apiserver"
    release = "nvidia_dra"
    kinds = (ComputeDomain(),)
    # from "Prerequisites" of NVIDIA's installation page, and kubeVersion of the Helm chart
    install = Install(
        "nvidia-dra-driver-gpu",
        ("computedomains.resource.nvidia.com/v1beta1",),
        kubernetes=(
            ((25, 3), (1, 32)),
            ((25, 12), (1, 34)),
        ),
        images=("k8s-dra-driver-gpu",),
    )
