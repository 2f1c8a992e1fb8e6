"""What pods ask for: effective requests, accelerators, totals (Kubernetes 1.36 scheduling)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.resources import is_accelerator as is_known
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

Quantities = Mapping[str, Quantity]
"""Quantities by resource name."""


def is_accelerator(name: str) -> bool:
    """Whether a resource name stands for GPUs or their like, of whatever vendor."""
    return is_known(name) or name.endswith("/gpu") or name == "gpu"


def amounts(resources: Json, kind: str) -> dict[str, Quantity]:
    """The readable quantities of `requests` or `limits`."""
    parsed = {str(name): quantity.parse(amount) for name, amount in nested_map(resources, kind).items()}
    return {name: amount for name, amount in parsed.items() if amount is not None}


def requests(resources: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """What a container asks for: a request that is not written equals the limit, once the API server had it."""
    limits = amounts(resources, "limits") if defaulted else {}
    return {**limits, **amounts(resources, "requests")}


def add(one: Quantities, other: Quantities) -> dict[str, Quantity]:
    """The sum, name by name."""
    return {**one, **{name: one[name] + amount if name in one else amount for name, amount in other.items()}}


def multiply(one: Quantities, count: int) -> dict[str, Quantity]:
    """The amounts of `count` equal pods."""
    return {name: amount * count for name, amount in one.items()}


def _most(one: Quantities, other: Quantities) -> dict[str, Quantity]:
    return {**one, **{n: max(one[n], amount) if n in one else amount for n, amount in other.items()}}


def of_pod(spec: Json, *, defaulted: bool = True) -> dict[str, Quantity]:
    """What the scheduler reserves for a pod.

    The sum of the containers and of init containers that keep running, or the largest other init container with
    those before it, whichever is more; the pod's own resources replace cpu, memory and huge pages where written;
    overhead comes on top.
    """
    needed: dict[str, Quantity] = {}
    for container in as_mappings(spec.get("containers")):
        needed = add(needed, requests(nested_map(container, "resources"), defaulted=defaulted))
    running: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in as_mappings(spec.get("initContainers")):
        one = requests(nested_map(container, "resources"), defaulted=defaulted)
        if container.get("restartPolicy") == "Always":
            running = add(running, one)
            peak = _most(peak, running)
        else:
            peak = _most(peak, add(running, one))
    needed = _most(add(needed, running), peak)
    needed.update(requests(nested_map(spec, "resources"), defaulted=defaulted))
    parsed = {str(name): quantity.parse(amount) for name, amount in as_mapping(spec.get("overhead")).items()}
    return add(needed, {name: amount for name, amount in parsed.items() if amount is not None})


def accelerators(one: Quantities) -> dict[str, int]:
    """Whole numbers of accelerators by resource name, without those of which there are none."""
    return {name: amount.value for name, amount in one.items() if amount and is_accelerator(name)}


def devices(resources: Json) -> dict[str, int]:
    """The accelerators that a container sees: its limits, or its requests where no limit is written."""
    found: dict[str, Quantity] = {}
    for half in ("requests", "limits"):
        for name, written in nested_map(resources, half).items():
            amount = quantity.parse(written) if is_accelerator(str(name)) else None
            if amount is not None:
                found[str(name)] = amount
    return {name: amount.value for name, amount in found.items() if amount}


def total(parts: Iterable[tuple[Quantities, int]]) -> dict[str, Quantity]:
    """The sum over roles, each with the amounts of one pod and its number of pods."""
    out: dict[str, Quantity] = {}
    for one, count in parts:
        out = add(out, multiply(one, count))
    return out


def as_text(one: Quantities) -> dict[str, str]:
    """The amounts as Kubernetes prints them."""
    return {name: str(amount) for name, amount in one.items()}
