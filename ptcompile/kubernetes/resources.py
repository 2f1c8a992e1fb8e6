"""Resource names of GPUs and other accelerators."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.namedtuple import Any
from ptcompile.kubernetes import quantity

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
"""Resource names of whole accelerators, from the documentation of their device plugins; a share is
NAME.shared, for example.
"""

_SLICES = ("nvidia.com/mig-", "huawei.com/Ascend")
"""Prefixes of families of accelerator resources, such as nvidia.com/mig-1g.5gb."""

_PARTS = ("-memory", "-core", "-cores")
"""Suffixes of resources that are part of an accelerator, such as huawei.com/Ascend310P-memory
(Volcano 1.16, vNPU).
"""

_OTHERS = (
    "habana.ai/",
    "google.com/tpu",
    "aws.amazon.com/neuron",
    "huawei.com/Ascend",
    "gpu.intel.com/",
)
"""Prefixes of accelerators that neither CUDA's runtime nor ROCm under its name shows."""


def is_cuda(name: str) -> bool:
    """Return whether torchrun's `gpu` counts these devices: it asks only CUDA (PyTorch 2.13). An
    unknown name may mean CUDA devices.
    """
    return not name.startswith(_OTHERS)


@bounded_cache(1024)
def is_accelerator(name: str) -> bool:
    """Return whether a name means accelerators, or slices or shares of them; the memory and cores
    of one do not count.
    """
    domain, slash, rest = name.partition("/")
    if name.endswith(_PARTS):
        return False
    return domain + slash + rest.partition(".")[0] in _WHOLE or name.startswith(_SLICES)


def count_accelerators(quantities: Mapping[str, Any]) -> int:
    """Return the number of accelerators in a resource list."""
    return sum(count(amount) for name, amount in quantities.items() if is_accelerator(str(name)))


def count(amount: object) -> int:
    """Return a number of devices as written, or 0 for anything else."""
    if isinstance(amount, bool) or not isinstance(amount, str | int):
        return 0
    parsed = quantity.parse(str(amount))
    return max(0, parsed.value) if parsed is not None else 0


HUGE_PAGES = "hugepages-"
"""Prefix of the resource names of huge pages."""


def is_native_resource(name: str) -> bool:
    """Return whether a resource is Kubernetes' own and so, except huge pages, may be
    overcommitted.
    """
    return "/" not in name or "kubernetes.io/" in name


def never_shared(resource: str) -> bool:
    """Return whether a container's request must equal its limit: huge pages, and every resource
    that is not Kubernetes' own.

    Kubernetes 1.36, pkg/apis/core/v1/helper `IsOvercommitAllowed`.
    """
    return resource.startswith(HUGE_PAGES) or not is_native_resource(resource)
