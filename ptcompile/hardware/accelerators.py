"""The accelerators, and the meaning of each name in a cloud.

`accelerators.json` has the rows with their sources, from public documentation as of 2026. A name is
`nvidia-h100`, optionally with a slice after a slash: `nvidia-a100-40gb/1g.5gb` (a MIG profile),
`google-tpu-v5e/2x4` (a topology). A profile's own entries take precedence. Nothing imports this
module until a job or a profile names an accelerator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt, prod

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.hardware.machines import MACHINES, Machines
from ptcompile.hardware.nodes import ANYWHERE, ARM, VENDORS, NodeTaint
from ptcompile.kubernetes.unstructured import Json

_TABLE = load_table("hardware/accelerators.json")

SOURCES: Mapping[str, str] = _TABLE["sources"]
"""Sources of the values with the dates of retrieval, keyed by cloud, or by vendor for values of
no cloud.
"""

ALIASES: Mapping[str, str] = _TABLE["aliases"]
"""GKE's names for some accelerators, which Flyte uses too."""


class AcceleratorRow(NamedTuple):
    """One accelerator. `nodes` has the values of the cloud's label that identify it."""

    vendor: str
    nodes: Mapping[str, tuple[str, ...]]
    slices: tuple[str, ...]
    processes: int
    """Number of processes per device."""
    unavailable_slices: Mapping[str, tuple[str, ...]]
    """Slices that a cloud's device plugin does not offer, keyed by cloud."""
    domain: int
    """Number of nodes that NVLink joins in one rack; 0 if NVLink ends at the machine."""
    arm: bool
    """Whether the machines have arm64 CPUs and so need arm64 images."""

    def slices_in(self, cloud: str) -> tuple[str, ...]:
        """Return the slices that a cloud's nodes can offer."""
        return tuple(
            slice_name
            for slice_name in self.slices
            if slice_name not in self.unavailable_slices.get(cloud, ())
        )

    def sources(self, cloud: str) -> tuple[str, ...]:
        """Return the sources of the row's values for a cloud, each with its date."""
        profiles = (SOURCES["mig"],) if self.vendor == "nvidia" and self.slices else ()
        return (SOURCES[cloud or self.vendor], *profiles)


def _torus(cubes: int) -> tuple[str, ...]:
    """Return the topologies of up to `cubes` cubes of 4x4x4: multiples of 4, AxBxC with A<=B<=C."""
    whole = [
        (a, b, c)
        for a in range(1, isqrt(cubes) + 1)
        for b in range(a, isqrt(cubes // a) + 1)
        for c in range(b, cubes // (a * b) + 1)
    ]
    whole.sort(key=lambda sizes: (prod(sizes), sizes))
    return tuple(f"{4 * a}x{4 * b}x{4 * c}" for a, b, c in whole)


def _read_row(row: Json) -> AcceleratorRow:
    return AcceleratorRow(
        vendor=row["vendor"],
        nodes=_tuples(row["nodes"]),
        slices=(*row.get("slices", ()), *_torus(row.get("cubes", 0))),
        processes=row.get("processes", 1),
        unavailable_slices=_tuples(row.get("unavailable_slices", {})),
        domain=row.get("domain", 0),
        arm=row.get("arm", False),
    )


def _tuples(lists: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(values) for key, values in lists.items()}


ROWS = {name: _read_row(row) for name, row in _TABLE["accelerators"].items()}
"""Keyed by accelerator name, in the order of the table."""


class Whole(NamedTuple):
    """A whole machine: its devices, and the fabric devices that it has."""

    devices: int
    fabrics: Mapping[str, int]


class CloudAccelerator(NamedTuple):
    """An accelerator as one cloud's nodes offer it."""

    resource: str
    labels: Mapping[str, tuple[str, ...]]
    without: tuple[str, ...]
    """Labels that the nodes must not have, because a sliced node offers slices under the whole
    device's resource name.
    """
    taints: tuple[NodeTaint, ...]
    processes: int
    one_drives_all: bool
    env: Mapping[str, str]
    whole: Whole | None
    domain: int
    """Number of nodes that NVLink joins in one rack; 0 for a slice, or if NVLink ends at the
    machine.
    """
    sources: tuple[str, ...]


def row_of(name: str) -> tuple[AcceleratorRow | None, str]:
    """Return the row of a name, or None, and the slice after its slash, or ""."""
    _, _, part = name.partition("/")
    return ROWS.get(row_name(name)), part


def find(name: str, cloud: str) -> CloudAccelerator | None:
    """Return an accelerator as a cloud offers it, or None if the name is unknown, or the cloud
    lacks it or the slice.
    """
    row, part = row_of(name)
    if (
        row is None
        or cloud not in row.nodes
        or (part and part not in row.slices_in(cloud))
        or name.endswith("/")
    ):
        return None

    vendor = VENDORS[row.vendor]
    dialect = vendor.dialects[cloud]
    labels = {dialect.label: row.nodes[cloud]} if dialect.label and row.nodes[cloud] else {}
    resource = vendor.resource
    without: tuple[str, ...] = ()
    if part and dialect.slice_label:
        labels[dialect.slice_label] = (part,)
    elif part and vendor.slice_resource:
        resource = vendor.slice_resource.format(part)
    elif row.slices and vendor.slice_resource and dialect.slice_label:
        without = (dialect.slice_label,)

    return CloudAccelerator(
        resource=resource,
        labels=labels,
        without=without,
        taints=(*dialect.taints, *((ARM,) if row.arm and cloud == "gke" else ())),
        processes=row.processes,
        one_drives_all=vendor.one_drives_all,
        env=vendor.env,
        whole=None if part else largest_machine(name, cloud),
        domain=0 if part else row.domain,
        sources=(dialect.source, vendor.source, *row.sources(cloud)),
    )


def row_name(accelerator: str) -> str:
    """Return the name of the row of an accelerator or of a slice."""
    base, _, _ = accelerator.partition("/")
    return ALIASES.get(base, base)


def machines_of(name: str, cloud: str | None, *, largest: bool = True) -> Machines:
    """Return the machines of an accelerator or of its slices: the largest, or all; () if they
    are unknown.
    """
    machines = MACHINES.get(row_name(name), {}).get(cloud or ANYWHERE, ())
    most = max((machine.devices for machine in machines), default=0)
    return tuple(machine for machine in machines if machine.devices == most or not largest)


def largest_machine(name: str, cloud: str) -> Whole | None:
    """Return the largest machine of an accelerator, with the smallest count of each fabric among
    the machines that have it; None if no machine is known.
    """
    machines = machines_of(name, cloud)
    fabrics = {fabric for machine in machines for fabric in machine.fabrics}
    least = {
        fabric: min(machine.fabrics[fabric] for machine in machines if fabric in machine.fabrics)
        for fabric in sorted(fabrics)
    }
    return Whole(machines[0].devices, least) if machines else None


def names(cloud: str = ANYWHERE, *, slices: bool = False) -> Iterator[str]:
    """Yield the names that are valid in a cloud, in table order; with `slices`, also those of
    slices.
    """
    for name, row in ROWS.items():
        if cloud in row.nodes:
            yield name
            yield from (f"{name}/{part}" for part in row.slices_in(cloud) if slices)
