"""The built-in catalog as tables: accelerators with their machines by cloud, and the fabrics
between nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.hardware import accelerators
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS, TUNINGS
from ptcompile.hardware.machines import DISKS, Machine, least_memory, left_for_pods
from ptcompile.hardware.nodes import LEVELS, VENDORS
from ptcompile.kubernetes.unstructured import JsonDict

_HEAD = (
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
_ANY = "any"
"""Table cell for a row without a cloud."""


def to_dict() -> JsonDict:
    """Return the catalog as data: accelerators by name and cloud, fabrics, variables and
    topology levels.
    """
    return {
        "accelerators": {name: _accelerator_dict(name) for name in ROWS},
        "fabrics": {
            name: {
                "source": fabric.source,
                "resources": dict(fabric.resources),
                "capabilities": list(fabric.capabilities),
                "env": dict(fabric.env),
                "computeDomain": fabric.compute_domain,
                "besideIt": dict(fabric.companions),
            }
            for name, fabric in FABRICS.items()
        },
        "variables": [
            {**tuning._asdict(), "accelerators": list(tuning.accelerators), "env": dict(tuning.env)}
            for tuning in TUNINGS
        ],
        "levels": {cloud or _ANY: dict(levels) for cloud, levels in LEVELS.items()},
    }


def _accelerator_dict(name: str) -> JsonDict:
    row = ROWS[name]
    return {
        "resource": VENDORS[row.vendor].resource,
        "processesPerDevice": row.processes,
        "nodesPerDomain": row.domain or None,
        "arm64": row.arm,
        "clouds": {cloud or _ANY: _cloud_dict(name, cloud) for cloud in row.nodes},
    }


def _cloud_dict(name: str, cloud: str) -> JsonDict:
    row = ROWS[name]
    accelerator = accelerators.find(name, cloud)
    labels = dict(accelerator.labels) if accelerator is not None else {}

    return {
        "labels": {key: list(values) for key, values in labels.items()},
        "slices": list(row.slices_in(cloud)),
        "machines": [
            _machine_dict(machine, cloud)
            for machine in accelerators.machines_of(name, cloud, largest=False)
        ],
        "sources": list(row.sources(cloud)),
    }


def _machine_dict(machine: Machine, cloud: str) -> JsonDict:
    return {
        "name": machine.name,
        "devices": machine.devices,
        "cpu": machine.cpu or None,
        "memory": f"{machine.memory}Gi" if machine.memory else None,
        "leftForPods": _allocatable_dict(machine, cloud) if machine.cpu else None,
        "localDisk": DISKS.get(machine.name),
        "fabricDevices": dict(machine.fabrics),
    }


def _allocatable_dict(machine: Machine, cloud: str) -> JsonDict:
    cpu, memory = left_for_pods(machine, cloud or None)
    return {
        "cpu": f"{cpu}m",
        "memory": f"{memory}Mi",
        "memoryAtLeast": f"{least_memory(machine, cloud or None)}Mi",
    }


def text() -> str:
    """Return the machines as a plain-text table."""
    rows = [_HEAD, *_rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = (
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def markdown() -> str:
    """Return the machines as a Markdown table."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *_rows()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rows() -> Iterator[tuple[str, ...]]:
    for name, row in ROWS.items():
        for cloud in row.nodes:
            machines = accelerators.machines_of(name, cloud, largest=False)
            for machine in machines:
                yield (name, cloud or _ANY, *_cells(machine, cloud))
            if not machines:
                yield (name, cloud or _ANY, *("",) * (len(_HEAD) - 2))


def _cells(machine: Machine, cloud: str) -> tuple[str, ...]:
    fabrics = ", ".join(f"{count} {fabric}" for fabric, count in machine.fabrics.items())
    size: tuple[str, ...] = ("?", "?", "?")
    if machine.cpu:
        cpu, memory = left_for_pods(machine, cloud or None)
        least = least_memory(machine, cloud or None) // 1024
        most = memory // 1024
        size = (
            str(machine.cpu),
            str(machine.memory),
            f"{cpu}m, {most}Gi" if least == most else f"{cpu}m, {least}-{most}Gi",
        )

    return (machine.name, str(machine.devices), *size, DISKS.get(machine.name, ""), fabrics)
