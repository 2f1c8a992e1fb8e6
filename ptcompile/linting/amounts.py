"""Amounts that rules read: how many accelerators a container asks for."""

from __future__ import annotations

from ptcompile.kubernetes.accelerators import count
from ptcompile.linting.templates import Container


def accelerators(container: Container) -> int:
    """Accelerators, or slices of them, in a container's limits, else in its requests; 0 where nothing can be read."""
    return container.accelerators


GPUS = ("nvidia.com/gpu", "amd.com/gpu")
"""Whole GPUs: neither slices nor shares, and no other accelerators."""


def gpus(container: Container) -> int:
    """Whole GPUs in a container's limits; 0 where nothing can be read."""
    limits = container.limits
    return sum(count(limits[name]) for name in GPUS if name in limits)
