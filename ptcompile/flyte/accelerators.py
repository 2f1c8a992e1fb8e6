"""Flyte's accelerators: what short names mean, which partitions there are, and what they are called in a catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.catalogue.accelerators import row_of
from ptcompile.flyte.foreign import Device

DEVICES: dict[str, str] = {
    "A10G": "nvidia-a10g",
    "A100": "nvidia-tesla-a100",
    "A100 80G": "nvidia-a100-80gb",
    "B200": "nvidia-b200",
    "H100": "nvidia-h100",
    "H200": "nvidia-h200",
    "K80": "nvidia-tesla-k80",
    "L4": "nvidia-l4",
    "L4_VWS": "nvidia-l4-vws",
    "L40S": "nvidia-l40s",
    "M60": "nvidia-tesla-m60",
    "P4": "nvidia-tesla-p4",
    "P100": "nvidia-tesla-p100",
    "T4": "nvidia-tesla-t4",
    "V100": "nvidia-tesla-v100",
    "V5E": "tpu-v5-lite-podslice",
    "V5P": "tpu-v5p-slice",
    "V6E": "tpu-v6e-slice",
}
"""The backend's default `accelerator-devices` and flytekit 1.16's constants, by their short names in capitals."""

PARTITIONS: dict[str, tuple[str, ...]] = {
    name: slices for name in DEVICES.values() if (row := row_of(name)[0]) is not None and (slices := row.slices)
}
"""Slices of a device (NVIDIA MIG profiles, Google TPU topologies): those of the built-in catalogue, which has all that
flytekit 1.16 and Flyte 2 know."""

WHOLE = "unpartitioned"

CLASSES: dict[str, tuple[str, str, str]] = {
    "nvidia": ("nvidia.com/gpu", "k8s.amazonaws.com/accelerator", "k8s.amazonaws.com/gpu-partition-size"),
    "tpu": ("google.com/tpu", "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"),
}
"""Resource name, device label and partition label of a device class (flyte backend 1.16 and 2.0 defaults)."""


def normal(name: str, devices: Mapping[str, str] = DEVICES) -> str:
    """What nodes call a device: the short name looked up in any casing, another name as it is."""
    return devices.get(name.upper(), name)


def entry_name(device: Device, devices: Mapping[str, str] = DEVICES) -> str:
    """What a device is called in a profile's catalogue: `nvidia-h100`, or `nvidia-h100/1g.10gb`."""
    part = WHOLE if device.unpartitioned else device.partition
    name = normal(device.name, devices)
    return f"{name}/{part}" if part else name


def listed(names: Iterable[str]) -> list[tuple[str, str | None]]:
    """Every device of these names, whole and in each slice that is known: (name, None, a slice or `unpartitioned`)."""
    out: list[tuple[str, str | None]] = []
    for given in names:
        name, _, part = given.partition("/")
        slices = (part,) if part else (*((WHOLE, *PARTITIONS[name]) if name in PARTITIONS else ()),)
        out += [(name, one) for one in (None, *slices) if (name, one) not in out]
    return out
