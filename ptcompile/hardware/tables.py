"""The built-in catalogue as tables: accelerators with their machines by cloud, and the fabrics between nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.hardware import accelerators
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS, TUNINGS
from ptcompile.hardware.machines import DISKS, Machine, least_memory, left_for_pods
from ptcompile.hardware.nodes import LEVELS, VENDORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Json = dict[str, Any]

_HEAD: Final = (
    "accelerator",
    "cloud",
    "machine",
    "of it",
    "vCPU",
    "GiB",
    "left to pods",
    "local disk",
    "fabric devices",
)
_ANY: Final = "any"
"""What the absent cloud is called."""


def to_dict() -> Json:
    """The catalogue as data: accelerators by name, each by cloud; fabrics, variables and levels of the network."""
    return {
        "accelerators": {name: _accelerator(name) for name in ROWS},
        "fabrics": {name: _fabric(name) for name in FABRICS},
        "variables": [
            {**one._asdict(), "accelerators": list(one.accelerators), "env": dict(one.env)} for one in TUNINGS
        ],
        "levels": {cloud or _ANY: dict(levels) for cloud, levels in LEVELS.items()},
    }


def _accelerator(name: str) -> Json:
    row = ROWS[name]
    return {
        "resource": VENDORS[row.vendor].resource,
        "processesPerDevice": row.processes,
        "nodesPerDomain": row.domain or None,
        "arm64": row.arm,
        "clouds": {cloud or _ANY: _in_cloud(name, cloud) for cloud in row.nodes},
    }


def _in_cloud(name: str, cloud: str) -> Json:
    row, found = ROWS[name], accelerators.find(name, cloud)
    labels = dict(found.labels) if found is not None else {}
    return {
        "labels": {key: list(values) for key, values in labels.items()},
        "slices": list(row.slices_in(cloud)),
        "machines": [_machine(one, cloud) for one in accelerators.machines_of(name, cloud, largest=False)],
        "sources": list(row.sources(cloud)),
    }


def _machine(one: Machine, cloud: str) -> Json:
    return {
        "name": one.name,
        "devices": one.devices,
        "cpu": one.cpu or None,
        "memory": f"{one.memory}Gi" if one.memory else None,
        "leftForPods": _left(one, cloud) if one.cpu else None,
        "localDisk": DISKS.get(one.name),
        "fabricDevices": dict(one.fabrics),
    }


def _left(one: Machine, cloud: str) -> Json:
    cpu, memory = left_for_pods(one, cloud or None)
    return {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "memoryAtLeast": f"{least_memory(one, cloud or None)}Mi"}


def _fabric(name: str) -> Json:
    one = FABRICS[name]
    return {
        "source": one.source,
        "resources": dict(one.resources),
        "capabilities": list(one.capabilities),
        "env": dict(one.env),
        "computeDomain": one.compute_domain,
        "besideIt": dict(one.beyond),
    }


def text() -> str:
    """The machines as a table for people."""
    rows = [_HEAD, *_rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def markdown() -> str:
    """The machines as a Markdown table."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *_rows()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rows() -> Iterator[tuple[str, ...]]:
    for name, row in ROWS.items():
        for cloud in row.nodes:
            machines = accelerators.machines_of(name, cloud, largest=False)
            for one in machines:
                yield (name, cloud or _ANY, *_cells(one, cloud))
            if not machines:
                yield (name, cloud or _ANY, *("",) * (len(_HEAD) - 2))


def _cells(one: Machine, cloud: str) -> tuple[str, ...]:
    fabrics = ", ".join(f"{count} {fabric}" for fabric, count in one.fabrics.items())
    size: tuple[str, ...] = ("?", "?", "?")
    if one.cpu:
        cpu, memory = left_for_pods(one, cloud or None)
        least, most = least_memory(one, cloud or None) // 1024, memory // 1024
        size = (str(one.cpu), str(one.memory), f"{cpu}m, {most}Gi" if least == most else f"{cpu}m, {least}-{most}Gi")
    return (one.name, str(one.devices), *size, DISKS.get(one.name, ""), fabrics)
