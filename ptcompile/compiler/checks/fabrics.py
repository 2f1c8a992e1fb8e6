"""Checks whether the nodes of a job can have its fabric.

Reports an error if the fabric belongs to another cloud, and a warning if no machine type of the
built-in catalog has it. The profile wins: its own fabrics and accelerators are not checked, and if
it lists node pools, only their machine types count.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecParts
from ptcompile.diagnostics import Problem, Problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec

_PATH = ("spec", "fabric")
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class _Choice(NamedTuple):
    """The machine types that a job may run on."""

    title: str
    names: Sequence[str]


def misplaced_fabric(parts: SpecParts) -> Problems:
    """Yield an error for a fabric of another cloud, and a warning if none of the job's machine
    types has it.
    """
    from ptcompile.hardware import fabric_machines as catalogue

    job = parts.job
    cluster = parts.cluster
    fabric = job.fabric or ""
    home = catalogue.home_of(fabric)
    cloud = cluster.spec.cloud or home
    if fabric in cluster.spec.fabrics or not cloud:
        return

    if home not in ("", cloud):
        # the profile's own accelerator may say that its nodes have the fabric
        accelerator = cluster.spec.accelerators.get(job.accelerator or "")
        if accelerator is None or fabric not in accelerator.fabric_devices:
            yield _wrong_cloud(fabric, home, cloud, job)
        return

    choice = _machine_choice(job, cluster, cloud)
    if choice is None or not catalogue.is_counted(fabric, cloud):
        return

    offered = catalogue.fabrics_of(choice.names)
    if fabric not in offered:
        yield _without_machine(fabric, cloud, choice.title, offered)


def _machine_choice(job: JobSpec, cluster: ClusterProfile, cloud: str) -> _Choice | None:
    """Return the machine types that the job may run on, or None if they are unknown."""
    from ptcompile.hardware.fabric_machines import machines_with
    from ptcompile.hardware.machines import machines_by_name

    name = job.accelerator or ""
    pools = cluster.spec.node_pools
    if name in cluster.spec.accelerators:
        return None

    pinned = job.node_selector.get(_INSTANCE_TYPE) or ""
    if pinned in machines_by_name() and not pools:
        return _Choice(pinned, (pinned,))

    machines = machines_with(name, cloud)
    if machines is None:
        return None
    if not pools:
        return _Choice(f"{name} on {cloud}", [machine.name for machine in machines])

    types = [pool.machine or "" for pool in pools.values()]
    if not all(machine in machines_by_name() for machine in types):
        return None

    pool_machines = [machine.name for machine in machines if machine.name in types]
    if pool_machines:
        return _Choice(f"{name} in the node pools", pool_machines)

    return None


def _wrong_cloud(fabric: str, home: str, cloud: str, job: JobSpec) -> Problem:
    from ptcompile.hardware.fabric_machines import fabrics_in, fabrics_of, machines_with

    machines = machines_with(job.accelerator or "", cloud)
    if machines is None:
        offered = fabrics_in(cloud)
    else:
        offered = fabrics_of([machine.name for machine in machines])

    message = f"only nodes of {home} have {fabric}, but the profile's cloud is {cloud}"
    help = f"use {' or '.join(offered)}, or remove it" if offered else "remove it"

    return problem("fabric-of-another-cloud", _PATH, message, help, stage="run")


def _without_machine(fabric: str, cloud: str, title: str, offered: Sequence[str]) -> Problem:
    from ptcompile.hardware.fabric_machines import accelerators_with, shorten, without_fabric

    message = without_fabric(fabric, cloud, title, offered)
    accelerators = shorten(accelerators_with(fabric, cloud))
    ways = [f"use {' or '.join(offered)}" if offered else "remove it"]
    if accelerators:
        ways += [f"name an accelerator that has it: {accelerators}"]
    help = ", or ".join(ways)

    return problem(
        "fabric-without-machine",
        _PATH,
        message,
        help,
        severity="warning",
        stage="run",
    )
