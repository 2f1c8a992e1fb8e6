"""Pod resources: effective requests, accelerators and totals (Kubernetes 1.36 scheduling)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.resources import (
    HUGE_PAGES,
    is_accelerator as is_known_accelerator,
    never_shared,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    without_none,
)

Quantities = Mapping[str, Quantity]
"""Quantities by resource name."""


def is_accelerator(name: str) -> bool:
    """Return whether a resource name means GPUs or other accelerators, from any vendor."""
    return is_known_accelerator(name) or name.endswith("/gpu") or name == "gpu"


def quantities_of(resources: Json, kind: str) -> dict[str, Quantity]:
    """Return the `requests` or `limits` that parse as quantities."""
    parsed = {
        str(name): quantity.parse(amount) for name, amount in nested_map(resources, kind).items()
    }
    return without_none(parsed)


def container_requests(resources: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """Return a container's requests. If `defaulted`, an unset request equals its limit, as the
    API server sets it.
    """
    limits = quantities_of(resources, "limits") if defaulted else {}
    return {**limits, **quantities_of(resources, "requests")}


def combine(
    a: Quantities, b: Quantities, join: Callable[[Quantity, Quantity], Quantity]
) -> dict[str, Quantity]:
    """Return the quantities of both; of a resource name that both have, what `join` makes of the
    two.
    """
    joined = {name: join(a[name], amount) if name in a else amount for name, amount in b.items()}
    return {**a, **joined}


def add(a: Quantities, b: Quantities) -> dict[str, Quantity]:
    """Return the sum for each resource name."""
    return combine(a, b, operator.add)


def multiply(quantities: Quantities, count: int) -> dict[str, Quantity]:
    """Return the quantities of `count` equal pods."""
    return {name: amount * count for name, amount in quantities.items()}


def sum_containers(spec: Json, quantities: Callable[[Json], Quantities]) -> dict[str, Quantity]:
    """Return what the containers of a pod need at most at one time; `quantities` reads the
    resources of each.

    This is the larger of two sums: all containers plus the init containers that keep running, or
    the largest other init container plus those that started before it.
    """
    needed: dict[str, Quantity] = {}
    for container in nested_maps(spec, "containers"):
        needed = add(needed, quantities(nested_map(container, "resources")))
    running: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in nested_maps(spec, "initContainers"):
        own_quantities = quantities(nested_map(container, "resources"))
        if container.get("restartPolicy") == "Always":
            running = add(running, own_quantities)
            peak = combine(peak, running, max)
        else:
            peak = combine(peak, add(running, own_quantities), max)

    return combine(add(needed, running), peak, max)


def pod_requests(spec: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """Return what the scheduler reserves for a pod. If `defaulted`, missing requests are set as the
    API server does.

    Pod-level resources replace cpu, memory and huge pages if they are set. The overhead is added
    last.
    """
    needed = sum_containers(
        spec, lambda resources: container_requests(resources, defaulted=defaulted)
    )
    resources = nested_map(spec, "resources")
    own_requests = _pod_level(resources, "requests")
    if defaulted:
        # a pod-level limit is the request only of what the containers do not request, except huge
        # pages
        for name, limit in _pod_level(resources, "limits").items():
            if name not in own_requests and (name not in needed or never_shared(name)):
                own_requests[name] = limit

    return add({**needed, **own_requests}, quantities_of(spec, "overhead"))


def pod_limits(spec: Json) -> dict[str, Quantity]:
    """Return the limits of a pod, by the rules of its requests. The overhead is only added to
    existing limits.
    """
    limits = sum_containers(spec, lambda resources: quantities_of(resources, "limits"))
    limits.update(_pod_level(nested_map(spec, "resources"), "limits"))
    whole = add(limits, quantities_of(spec, "overhead"))
    return {name: whole[name] if limit else limit for name, limit in limits.items()}


def _pod_level(resources: Json, kind: str) -> dict[str, Quantity]:
    return {
        name: amount
        for name, amount in quantities_of(resources, kind).items()
        if name in ("cpu", "memory") or name.startswith(HUGE_PAGES)
    }


def accelerators(quantities: Quantities) -> dict[str, int]:
    """Return the accelerator counts by resource name, without zeros."""
    return {
        name: amount.value for name, amount in quantities.items() if amount and is_accelerator(name)
    }


def visible_accelerators(resources: Json) -> dict[str, int]:
    """Return the accelerators that a container sees: its limits, or its requests if it has no
    limits.
    """
    requests = quantities_of(resources, "requests")
    return accelerators({**requests, **quantities_of(resources, "limits")})


def total(parts: Iterable[tuple[Quantities, int]]) -> dict[str, Quantity]:
    """Return the sum over roles, each given as the quantities of one pod and the number of pods."""
    out: dict[str, Quantity] = {}
    for quantities, count in parts:
        out = add(out, multiply(quantities, count))
    return out


def as_text(quantities: Quantities) -> dict[str, str]:
    """Return the quantities as Kubernetes prints them."""
    return {name: str(amount) for name, amount in quantities.items()}
