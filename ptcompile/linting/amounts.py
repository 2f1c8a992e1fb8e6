"""Amounts that rules read: how many accelerators a container asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.accelerators import is_accelerator
from ptcompile.kubernetes.untyped import Json

if TYPE_CHECKING:
    from ptcompile.linting.subject import Container


def accelerators(container: Container) -> int:
    """Accelerators, or slices of them, in a container's limits, else in its requests; 0 where nothing can be read."""
    return container.accelerators


GPUS = ("nvidia.com/gpu", "amd.com/gpu")
"""Whole GPUs: neither slices nor shares, and no other accelerators."""


def gpus(container: Container) -> int:
    """Whole GPUs in a container's limits; 0 where nothing can be read."""
    limits = container.amounts("limits")
    return sum(_count(limits[name]) for name in GPUS if name in limits)


def counted(amounts: Json) -> int:
    """How many accelerators these amounts are."""
    return sum(_count(amount) for name, amount in amounts.items() if is_accelerator(str(name)))


def _count(amount: object) -> int:
    if isinstance(amount, bool) or not isinstance(amount, str | int):
        return 0
    parsed = quantity.parse(str(amount))
    return max(0, parsed.value) if parsed is not None else 0
