"""Whether a pod's amounts fit a machine, and what is left of it: one question, for specs and for manifests.

Amounts are looked at in order, each held against the machines that the ones before leave: the accelerators first, since
they decide which machines it can be. What no source says of a machine, it has enough of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from ptcompile.catalogue.shapes import MACHINES, Machine, Machines, left_for_pods
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import MILLI, NANO
from ptcompile.typed import NamedTuple

MIB = 2**20 * NANO


class Ask(NamedTuple):
    """An amount that a pod asks for, in nano units. `what` is cpu, memory, devices or the name of a fabric."""

    what: str
    nano: int


class Misfit(NamedTuple):
    """An amount for which no machine has enough, or for which its kubelet leaves too little."""

    ask: Ask
    machine: str
    """The machine that has the most of it."""
    has: str
    """How much that is, for people."""
    left: str | None
    """What of it the kubelet leaves, where the machine itself would have enough."""


def misfits(asks: Sequence[Ask], machines: Machines, cloud: str | None) -> Iterator[Misfit]:
    """What does not fit, each amount at most once; what the kubelet keeps only where the rest fits."""
    fits, rest = True, machines
    for ask in asks:
        enough = tuple([one for one in rest if _has(one, ask) >= ask.nano])
        if not enough:
            most, fits = max(rest, key=lambda one: _has(one, ask)), False
            yield Misfit(ask, most.name, shown(most, ask.what), None)
        rest = enough or rest
    for ask in asks if fits else ():
        enough = tuple([one for one in rest if left_of(one, ask.what, cloud) >= ask.nano])
        if not enough:
            most = max(rest, key=lambda one: left_of(one, ask.what, cloud))
            yield Misfit(ask, most.name, shown(most, ask.what), _text(left_of(most, ask.what, cloud), ask.what))
        rest = enough or rest


class Shared(NamedTuple):
    """A machine of which a pod takes a part of the accelerators."""

    machine: str
    devices: int
    pods: int
    """How many such pods fit it."""


def shared(asks: Sequence[Ask], machines: Machines, cloud: str | None) -> Shared | None:
    """The smallest machine that has enough, where a pod does not take all of its accelerators; else None."""
    fitting = [one for one in machines if all(left_of(one, ask.what, cloud) >= ask.nano for ask in asks)]
    asked = next((ask.nano // NANO for ask in asks if ask.what == "devices"), 0)
    least = min(fitting, key=lambda one: one.devices, default=None)
    if least is None or not 0 < asked < least.devices:
        return None
    pods = min(left_of(least, ask.what, cloud) // ask.nano for ask in asks if ask.nano)
    return Shared(least.name, least.devices, pods)


_PLENTY = 2**63 * NANO


def _has(machine: Machine, ask: Ask) -> int:
    """How much of it a machine has, in nano units."""
    if ask.what == "devices":
        return machine.devices * NANO
    if ask.what == "cpu":
        return machine.cpu * NANO or _PLENTY
    if ask.what == "memory":
        return machine.memory * 1024 * MIB or _PLENTY
    return machine.fabrics.get(ask.what, 0) * NANO


def left_of(machine: Machine, what: str, cloud: str | None) -> int:
    """How much of it the kubelet leaves, in nano units."""
    if what not in {"cpu", "memory"} or not machine.cpu:
        return _has(machine, Ask(what, 0))
    cpu, memory = left_for_pods(machine, cloud)
    return cpu * MILLI if what == "cpu" else memory * MIB


def shown(machine: Machine, what: str) -> str:
    """How much of it a machine has, for people."""
    if what == "cpu":
        return f"{machine.cpu} vCPUs"
    return f"{machine.memory}Gi" if what == "memory" else str(_has(machine, Ask(what, 0)) // NANO)


def _text(nano: int, what: str) -> str:
    """What is left of cpu or memory, for people."""
    return f"{nano // MILLI}m" if what == "cpu" else f"{nano // MIB // 1024}Gi"


class Known(NamedTuple):
    """A machine type, with the accelerator and the cloud in whose rows it is."""

    machine: Machine
    accelerator: str
    cloud: str


@cache
def by_name() -> dict[str, Known]:
    """The machines of all clouds by their type."""
    return {
        one.name: Known(one, accelerator, cloud)
        for accelerator, clouds in MACHINES.items()
        for cloud, machines in clouds.items()
        for one in machines
    }


def amount(text: str) -> int:
    """A quantity of the catalogue's in nano units."""
    parsed = quantity.parse(text)
    return parsed.nano if parsed is not None else 0
