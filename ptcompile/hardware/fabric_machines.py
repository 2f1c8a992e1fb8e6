"""Which machines have which fabric.

The machine table counts a fabric's devices, so a machine without a count does not have the fabric.
Two fabrics have no counts: `nvlink-domain` follows from the accelerator, and `roce` needs a site's
device plugin. Sources: those of `machines` and of each fabric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.hardware.accelerators import ROWS, row_name
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.hardware.machines import MACHINES, Machines, machines_by_name

_ROCE = ("oke",)
"""Clouds whose RDMA network is RoCE, so a site's device plugin may offer `roce`."""

_MAX_NAMES = 4


def home_of(fabric: str) -> str:
    """Return the only cloud that has a fabric, or "" if several have it."""
    fabric_needs = FABRICS.get(fabric)
    return fabric_needs.only_on if fabric_needs is not None else ""


def is_counted(fabric: str, cloud: str) -> bool:
    """Return whether the table of machines decides which machines of a cloud have a fabric."""
    return (
        fabric in FABRICS
        and fabric != "nvlink-domain"
        and not (fabric == "roce" and cloud in _ROCE)
    )


def fabrics_of(machines: Iterable[str]) -> list[str]:
    """Return the fabrics that any of these machine types has, in the order of the table."""
    catalog_machines = [
        machines_by_name()[name].machine for name in machines if name in machines_by_name()
    ]
    return list(dict.fromkeys(fabric for name in catalog_machines for fabric in name.fabrics))


def fabrics_in(cloud: str) -> list[str]:
    """Return the fabrics that any machine of a cloud has."""
    machines = (machine for clouds in MACHINES.values() for machine in clouds.get(cloud, ()))
    return list(dict.fromkeys(fabric for machine in machines for fabric in machine.fabrics))


def machines_with(accelerator: str, cloud: str) -> Machines | None:
    """Return a cloud's machines with an accelerator, or None if they are unknown.

    GKE attaches T4 and V100 to N1 machines, and its TPU v4 hosts have no row: none of these has a
    fabric.
    """
    name = row_name(accelerator)
    row = ROWS.get(name)
    if row is None or not row.nodes.get(cloud):
        return None
    return MACHINES.get(name, {}).get(cloud, ())


def accelerators_with(fabric: str, cloud: str) -> list[str]:
    """Return the accelerators of which a cloud has a machine with a fabric."""
    return [
        name
        for name, clouds in MACHINES.items()
        if any(fabric in machine.fabrics for machine in clouds.get(cloud, ()))
    ]


def without_fabric(fabric: str, cloud: str, machines: str, offered: Sequence[str]) -> str:
    """Return the sentence for machines without a fabric: what they have instead, and which
    accelerators have it.
    """
    has = f"has {' and '.join(offered)}, not {fabric}" if offered else "has no fabric"
    alternatives = shorten(accelerators_with(fabric, cloud))
    return f"{machines} {has}" + (f"; {fabric} comes with {alternatives}" if alternatives else "")


def shorten(accelerators: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = len(accelerators) - _MAX_NAMES
    return ", ".join(accelerators[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
