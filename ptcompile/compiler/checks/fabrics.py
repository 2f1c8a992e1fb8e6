"""Whether the nodes of a job can have its fabric.

An error if the fabric belongs to another cloud, a warning if no machine of the built-in catalogue has it. What the
profile defines wins: its own fabric or accelerator is not judged, and where it names its node pools, only their
machines are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecParts
from ptcompile.diagnostics import Path, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec

_PATH: Final[Path] = ("spec", "fabric")
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"


class _Choice(NamedTuple):
    """The machines that a job may run on."""

    title: str
    names: Sequence[str]


def misplaced(parts: SpecParts) -> Iterator[Problem]:
    """Yield an error for a fabric of another cloud, and a warning for one that none of the job's machines has."""
    from ptcompile.hardware import fabric_machines as catalogue

    job, cluster = parts.job, parts.cluster
    fabric, cloud = job.fabric or "", cluster.spec.cloud or catalogue.home_of(job.fabric or "")
    if fabric in cluster.spec.fabrics or not cloud:
        return
    home = catalogue.home_of(fabric)
    if home not in ("", cloud):
        if not _is_own(job, cluster):
            yield _of_another_cloud(fabric, home, cloud, job)
        return
    choice = _choice(job, cluster, cloud)
    if choice is None or not catalogue.is_counted(fabric, cloud):
        return
    offered = catalogue.fabrics_of(choice.names)
    if fabric not in offered:
        yield _without_machine(fabric, cloud, choice.title, offered)


def _is_own(job: JobSpec, cluster: ClusterProfile) -> bool:
    """Return whether the profile's own accelerator says that its nodes have the fabric."""
    own = cluster.spec.accelerators.get(job.accelerator or "")
    return own is not None and job.fabric in own.fabric_devices


def _choice(job: JobSpec, cluster: ClusterProfile, cloud: str) -> _Choice | None:
    """Return the machines that the job may run on, or None if they are unknown."""
    from ptcompile.hardware.fabric_machines import machines_with
    from ptcompile.hardware.machines import machines_by_name

    name, pools = job.accelerator or "", cluster.spec.node_pools
    if name in cluster.spec.accelerators:
        return None
    pinned = job.node_selector.get(_INSTANCE_TYPE) or ""
    if pinned in machines_by_name() and not pools:
        return _Choice(pinned, (pinned,))
    machines = machines_with(name, cloud)
    if machines is None:
        return None
    if not pools:
        return _Choice(f"{name} on {cloud}", [one.name for one in machines])
    types = [pool.machine or "" for pool in pools.values()]
    if not all(one in machines_by_name() for one in types):
        return None
    ours = [one.name for one in machines if one.name in types]
    return _Choice(f"{name} in the node pools", ours) if ours else None


def _of_another_cloud(fabric: str, home: str, cloud: str, job: JobSpec) -> Problem:
    from ptcompile.hardware.fabric_machines import fabrics_in, fabrics_of, machines_with

    machines = machines_with(job.accelerator or "", cloud)
    offered = fabrics_in(cloud) if machines is None else fabrics_of([one.name for one in machines])
    message = f"only nodes of {home} have {fabric}, but the profile's cloud is {cloud}"
    help = f"use {' or '.join(offered)}, or remove it" if offered else "remove it"
    return problem("fabric-of-another-cloud", _PATH, message, help, stage="run")


def _without_machine(fabric: str, cloud: str, title: str, offered: Sequence[str]) -> Problem:
    from ptcompile.hardware.fabric_machines import accelerators_with, shorten, without_fabric

    message, others = without_fabric(fabric, cloud, title, offered), shorten(accelerators_with(fabric, cloud))
    ways = [f"use {' or '.join(offered)}" if offered else "remove it"]
    ways += [f"name an accelerator that has it: {others}"] if others else []
    help = ", or ".join(ways)
    return problem(
        "fabric-without-machine", _PATH, message, help, severity="warning", stage="run", authority="ptcompile"
    )
