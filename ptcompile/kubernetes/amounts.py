"""Pod resources: effective requests, accelerators and totals (Kubernetes 1.36 scheduling)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.resources import is_accelerator as is_known_accelerator
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

Quantities = Mapping[str, Quantity]
"""Quantities by resource name."""


def is_accelerator(name: str) -> bool:
    """Return whether a resource name means GPUs or other accelerators, from any vendor."""
    return is_known_accelerator(name) or name.endswith("/gpu") or name == "gpu"


def quantities_of(resources: Json, kind: str) -> dict[str, Quantity]:
    """Return the `requests` or `limits` that parse as quantities."""
    parsed = {str(name): quantity.parse(amount) for name, amount in nested_map(resources, kind).items()}
    return {name: amount for name, amount in parsed.items() if amount is not None}


def container_requests(resources: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """Return a container's requests. If `defaulted`, an unset request equals its limit, as the API server sets it."""
    limits = quantities_of(resources, "limits") if defaulted else {}
    return {**limits, **quantities_of(resources, "requests")}


def add(a: Quantities, b: Quantities) -> dict[str, Quantity]:
    """Return the sum for each resource name."""
    return {**a, **{name: a[name] + amount if name in a else amount for name, amount in b.items()}}


def multiply(quantities: Quantities, count: int) -> dict[str, Quantity]:
    """Return the quantities of `count` equal pods."""
    return {name: amount * count for name, amount in quantities.items()}


def _maximum(a: Quantities, b: Quantities) -> dict[str, Quantity]:
    return {**a, **{name: max(a[name], amount) if name in a else amount for name, amount in b.items()}}


def pod_requests(spec: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """Return what the scheduler reserves for a pod.

    This is the larger of two sums: all containers plus the init containers that keep running, or the largest other init
    container plus those that started before it. Pod-level resources replace cpu, memory and huge pages if they are set.
    The overhead is added last.
    """
    needed: dict[str, Quantity] = {}
    for container in as_mappings(spec.get("containers")):
        needed = add(needed, container_requests(nested_map(container, "resources"), defaulted=defaulted))
    running: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in as_mappings(spec.get("initContainers")):
        own_requests = container_requests(nested_map(container, "resources"), defaulted=defaulted)
        if container.get("restartPolicy") == "Always":
            running = add(running, own_requests)
            peak = _maximum(peak, running)
        else:
            peak = _maximum(peak, add(running, own_requests))
    needed = _maximum(add(needed, running), peak)
    needed.update(container_requests(nested_map(spec, "resources"), defaulted=defaulted))
    overhead = {str(name): quantity.parse(amount) for name, amount in as_mapping(spec.get("overhead")).items()}
    return add(needed, {name: amount for name, amount in overhead.items() if amount is not None})


def accelerators(quantities: Quantities) -> dict[str, int]:
    """Return the accelerator counts by resource name, without zeros."""
    return {name: amount.value for name, amount in quantities.items() if amount and is_accelerator(name)}


def visible_accelerators(resources: Json) -> dict[str, int]:
    """Return the accelerators that a container sees: its limits, or its requests if it has no limits."""
    quantities: dict[str, Quantity] = {}
    for section in ("requests", "limits"):
        for name, value in nested_map(resources, section).items():
            amount = quantity.parse(value) if is_accelerator(str(name)) else None
            if amount is not None:
                quantities[str(name)] = amount
    return {name: amount.value for name, amount in quantities.items() if amount}


def total(parts: Iterable[tuple[Quantities, int]]) -> dict[str, Quantity]:
    """Return the sum over roles, each given as the quantities of one pod and the number of pods."""
    out: dict[str, Quantity] = {}
    for quantities, count in parts:
        out = add(out, multiply(quantities, count))
    return out


def as_text(quantities: Quantities) -> dict[str, str]:
    """Return the quantities as Kubernetes prints them."""
    return {name: str(amount) for name, amount in quantities.items()}
