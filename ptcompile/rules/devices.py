"""Devices as torchrun's processes see them."""

from __future__ import annotations

from ptcompile.simulation import Pod
from ptcompile.simulation.amounts import accelerators, amounts

_WHOLE = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "gpu.intel.com/i915", "habana.ai/gaudi")
"""Resource names of devices of which one process drives one."""


def whole_gpus(pod: Pod) -> int:
    """How many devices a pod's main container has of which one process drives one; 0 where it has others too.

    Slices, shares, TPUs and Neuron cores are counted by their own runtimes, in ways that a manifest does not show.
    """
    held = accelerators({**amounts(pod.resources, "requests"), **amounts(pod.resources, "limits")})
    return sum(held.values()) if set(held) <= set(_WHOLE) else 0
