"""Whether a node of a spec fits a machine that its cloud has with the accelerator it names.

A pod for which there is no machine waits forever, and no autoscaler makes one. A profile's own entry of an accelerator
wins over the built-in one, and says nothing of machines: such jobs are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import amount, effective
from ptcompile.frontends.errors import problem
from ptcompile.kubernetes.quantity import MILLI, NANO
from ptcompile.vocabulary.cluster import hardware

if TYPE_CHECKING:
    from ptcompile.catalogue.shapes import Machine, Machines
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import Resources
    from ptcompile.vocabulary.spec import JobSpec, PodFields

_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_MIB = 2**20 * NANO


class _Ask(NamedTuple):
    """What a node asks for of one resource."""

    name: str
    """`cpu`, `memory`, or that of the accelerator."""
    path: Path
    text: str
    nano: int

    def of(self, machine: Machine) -> int:
        """How much of it a machine has, in nano units."""
        if self.name == "cpu":
            return machine.cpu * NANO
        return machine.memory * 1024 * _MIB if self.name == "memory" else machine.devices * NANO

    def shown(self, machine: Machine) -> str:
        """The same for people."""
        if self.name == "cpu":
            return f"{machine.cpu} vCPUs"
        return f"{machine.memory}Gi" if self.name == "memory" else str(machine.devices)


def fit_of(job: JobSpec, pods: Sequence[tuple[Path, PodFields]], cluster: ClusterProfile) -> Iterator[Problem]:
    """What no machine has, and what the kubelet keeps. `pods` are the blocks that decide what a node has."""
    from ptcompile.catalogue.accelerators import machines_of

    name, cloud = job.accelerator or "", cluster.spec.cloud
    if name in cluster.spec.accelerators or hardware.accelerator(cluster, name) is None:
        return
    every = machines_of(name, cloud, largest=False)
    pinned = job.node_selector.get(_INSTANCE_TYPE)
    machines = tuple(one for one in every if one.name == pinned) or every
    told = set()
    for path, fields in pods if machines else ():
        for found in _of_block(_asks(path, job, fields, cluster), machines, name, cloud):
            if found.path not in told:
                told.add(found.path)
                yield found


def _asks(path: Path, job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> list[_Ask]:
    """The accelerators first, since they decide which machines it can be."""
    amounts = effective(job, fields, cluster)
    device = hardware.gpu_resource(cluster, job.accelerator)
    parts = "/" in (job.accelerator or "") and device != "google.com/tpu"  # slices: several of each device
    blocks: list[tuple[Path, Resources]] = [(path, fields.resources), (("spec",), job.resources)]
    found = []
    for name in (*(() if parts else ("gpu", device)), "cpu", "memory"):
        text = amounts.requests.get(name) or amounts.limits.get(name)
        if text is not None:
            found.append(_Ask(name, _place(blocks, name), text, amount(text).nano))
    return found


def _place(blocks: Sequence[tuple[Path, Resources]], name: str) -> Path:
    """Where an amount is written; the accelerator, whose machines it is held against, where it is a default."""
    word: Path = (name,) if name in {"cpu", "memory", "gpu"} else ("devices", name)
    for path, resources in blocks:
        halves = (("requests", resources.requests), ("limits", resources.limits), ("", resources))
        for half, amounts in halves:
            if amounts.by_name().get(name) is not None:
                return (*path, "resources", *((half,) if half else ()), *word)
    return ("spec", "accelerator")


def _of_block(asks: Sequence[_Ask], machines: Machines, name: str, cloud: str | None) -> Iterator[Problem]:
    """One amount after the other, each held against the machines that the ones before leave."""
    where, fits = f" on {cloud}" if cloud else "", True
    for ask in asks:
        enough = tuple(one for one in machines if ask.of(one) >= ask.nano)
        if not enough:
            most, fits = max(machines, key=ask.of), False
            message = f"{ask.text}: no machine with {name}{where} has more than {ask.shown(most)} ({most.name})"
            many = "" if ask.name in {"cpu", "memory"} else ", on more nodes"
            help = f"request at most {ask.shown(most)} per node{many}"
            yield problem("fits-no-machine", ask.path, f"{field_path(ask.path)}: {message}", help, stage="run")
        machines = enough or machines
    if fits:
        yield from _kept([ask for ask in asks if ask.name in {"cpu", "memory"}], machines, cloud)


def _kept(asks: Sequence[_Ask], machines: Machines, cloud: str | None) -> Iterator[Problem]:
    """What fits a machine and not what its kubelet leaves."""
    from ptcompile.catalogue.shapes import left_for_pods

    for ask in asks:
        left = {one.name: left_for_pods(one, cloud)[ask.name == "memory"] for one in machines}
        unit = _MIB if ask.name == "memory" else MILLI
        enough = tuple(one for one in machines if left[one.name] * unit >= ask.nano)
        if not enough:
            most = max(machines, key=lambda one: left[one.name])
            shown = f"{left[most.name] // 1024}Gi" if ask.name == "memory" else f"{left[most.name]}m"
            message = f"{ask.text}: of its {ask.shown(most)}, {most.name} leaves at most {shown} to pods"
            help = "request less: DaemonSets need their share too"
            text = f"{field_path(ask.path)}: {message}"
            yield problem(
                "takes-the-whole-machine", ask.path, text, help, severity="warning", stage="run", authority="kubelet"
            )
        machines = enough or machines
