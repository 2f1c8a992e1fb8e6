"""Devices as torchrun's processes see them."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulation import Pod

_WHOLE = frozenset({"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "gpu.intel.com/i915", "habana.ai/gaudi"})
"""Resource names of devices of which one process drives one."""


def whole_gpus(pod: Pod) -> int:
    """How many devices a pod's main container has of which one process drives one; 0 where it has others too.

    Slices, shares, TPUs and Neuron cores are counted by their own runtimes, in ways that a manifest does not show.
    """
    found = pod.devices
    return sum(found.values()) if _WHOLE.issuperset(found) else 0


def sees_any(pod: Pod) -> bool:
    """Whether a pod has accelerators in any container, or may have them in a way that shows no number."""
    from ptcompile.simulation.amounts import devices

    spec, main = pod.view.spec, pod.main
    own = main.spec if main is not None else {}
    claimed = spec.get("resourceClaims") or at(own, "resources").get("claims")
    by_runtime = "NVIDIA_VISIBLE_DEVICES" in pod.env or spec.get("runtimeClassName") is not None
    privileged = at(own, "securityContext").get("privileged") is True
    asked = any(sum(devices(at(container, "resources")).values()) for container in items(spec.get("containers")))
    return bool(claimed) or by_runtime or privileged or asked
