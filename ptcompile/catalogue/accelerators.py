"""The accelerators that ptcompile knows by name: their resource, the labels and taints of their nodes, their processes.

Data with sources, of public documentation as of 2026. A name is `nvidia-h100`, or with a slice of it behind a slash:
`nvidia-a100-40gb/1g.5gb` (a MIG profile), `google-tpu-v5e/2x4` (a topology). A profile's own entries win over these.
Nothing imports this module before a job or a profile names an accelerator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.catalogue.rows import ALIASES, ROWS, Row
from ptcompile.catalogue.shapes import MACHINES, Machines
from ptcompile.catalogue.vendors import ANYWHERE, ARM, VENDORS, Taint
from ptcompile.typed import NamedTuple


class Whole(NamedTuple):
    """A whole machine: its devices, and the devices of a fabric that come with them."""

    devices: int
    fabrics: Mapping[str, int]


class Entry(NamedTuple):
    """What a name means in one cloud."""

    resource: str
    labels: Mapping[str, tuple[str, ...]]
    without: tuple[str, ...]
    """Labels that the nodes must not have: a node that is cut in slices gives slices under the whole one's resource."""
    taints: tuple[Taint, ...]
    processes: int
    one_drives_all: bool
    env: Mapping[str, str]
    whole: Whole | None
    domain: int
    """How many nodes NVLink joins in one rack; 0 where it ends at the machine, and for a slice."""
    sources: tuple[str, ...]


def row_of(name: str) -> tuple[Row | None, str]:
    """The row of a name, and the slice behind its slash, which may be empty."""
    base, _, part = name.partition("/")
    return ROWS.get(ALIASES.get(base, base)), part


def find(name: str, cloud: str = ANYWHERE) -> Entry | None:
    """What a name means in a cloud; None where it is not known, not there, or without such a slice."""
    row, part = row_of(name)
    if row is None or cloud not in row.nodes or (part and part not in row.slices_in(cloud)) or name.endswith("/"):
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
    return Entry(
        resource=resource,
        labels=labels,
        without=without,
        taints=(*dialect.taints, *((ARM,) if row.arm and cloud == "gke" else ())),
        processes=row.processes,
        one_drives_all=vendor.one_drives_all,
        env=vendor.env,
        whole=None if part else whole(name, cloud),
        domain=0 if part else row.domain,
        sources=(dialect.source, vendor.source, *row.sources(cloud)),
    )


def machines_of(name: str, cloud: str | None, *, largest: bool = True) -> Machines:
    """The machines of an accelerator, or of a slice of it: the largest, or all; none where they are not known."""
    base = name.partition("/")[0]
    machines = MACHINES.get(ALIASES.get(base, base), {}).get(cloud or ANYWHERE, ())
    most = max((one.devices for one in machines), default=0)
    return tuple(one for one in machines if one.devices == most or not largest)


def whole(name: str, cloud: str) -> Whole | None:
    """A largest machine of an accelerator, with as many devices of a fabric as all that have it have."""
    machines = machines_of(name, cloud)
    fabrics = {fabric for one in machines for fabric in one.fabrics}
    least = {
        fabric: min(one.fabrics[fabric] for one in machines if fabric in one.fabrics) for fabric in sorted(fabrics)
    }
    return Whole(machines[0].devices, least) if machines else None


def names(cloud: str = ANYWHERE, *, slices: bool = False) -> Iterator[str]:
    """The names that mean something in a cloud, in the order of the table; with `slices` those behind a slash too."""
    for name, row in ROWS.items():
        if cloud in row.nodes:
            yield name
            yield from (f"{name}/{part}" for part in row.slices_in(cloud) if slices)
