"""Which resource names stand for GPUs and their like."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import bounded_cache
from ptcompile.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_WHOLE = frozenset(
    {
        "nvidia.com/gpu",
        "amd.com/gpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "habana.ai/gaudi",
        "google.com/tpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
    }
)
"""Resource names of whole accelerators, by their device plugins' documents; a share is NAME.shared, for example."""

_SLICES = ("nvidia.com/mig-", "huawei.com/Ascend")
"""What the names of accelerators begin with that are one of a family, such as nvidia.com/mig-1g.5gb."""

_PARTS = ("-memory", "-core", "-cores")
"""What the names of an accelerator's parts end with, such as huawei.com/Ascend310P-memory (Volcano 1.16, vNPU)."""

_OTHERS = ("habana.ai/", "google.com/tpu", "aws.amazon.com/neuron", "huawei.com/Ascend", "gpu.intel.com/")
"""What the names of accelerators begin with that CUDA's runtime, or ROCm's under its name, does not show."""


def is_cuda(name: str) -> bool:
    """Whether torchrun's `gpu` counts these devices: it asks CUDA alone (PyTorch 2.13). An unknown name may be one."""
    return not name.startswith(_OTHERS)


@bounded_cache(1024)
def is_accelerator(name: str) -> bool:
    """Whether a name stands for accelerators, or slices or shares of them; one's memory and cores do not."""
    domain, slash, rest = name.partition("/")
    if name.endswith(_PARTS):
        return False
    return domain + slash + rest.partition(".")[0] in _WHOLE or name.startswith(_SLICES)


def counted(amounts: Mapping[str, Any]) -> int:
    """How many accelerators these amounts are."""
    return sum(count(amount) for name, amount in amounts.items() if is_accelerator(str(name)))


def count(amount: object) -> int:
    """A number of devices as written; 0 for what is none."""
    if isinstance(amount, bool) or not isinstance(amount, str | int):
        return 0
    parsed = quantity.parse(str(amount))
    return max(0, parsed.value) if parsed is not None else 0


HUGE_PAGES: Final = "hugepages-"
"""How the resource names of huge pages begin."""


def is_native_resource(name: str) -> bool:
    """Whether a resource is Kubernetes' own, and so may be promised more than once (huge pages apart)."""
    return "/" not in name or "kubernetes.io/" in name


def never_shared(resource: str) -> bool:
    """Whether a container's request for a resource must equal its limit: huge pages, and all but Kubernetes' own.

    Kubernetes 1.36, pkg/apis/core/v1/helper `IsOvercommitAllowed`.
    """
    return resource.startswith(HUGE_PAGES) or not is_native_resource(resource)
