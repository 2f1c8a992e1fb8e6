"""Flyte's resources and accelerators as the spec's.

The rule is the spec's own, key by key: a replica, else the task, else the profile. Unlike in a spec, where a request
without a limit stays without one, a missing limit is the request here, since Flyte's backend (1.16) fills both halves,
and both are written into the spec. A zero is nothing, as in Flyte's container path; on a
replica it means that this replica has none of what the task gives to the others. Nothing is clamped in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte.problems import call_error
from ptcompile.hardware.accelerators import row_of
from ptcompile.kubernetes import quantity

RESTART_POLICIES = {"ALWAYS": "Always", "FAILURE": "OnFailure", "ONFAILURE": "OnFailure", "NEVER": "Never"}
CLEAN_POD_POLICIES = {"NONE": "None", "ALL": "All", "RUNNING": "Running"}


def policy(value: Any, known: Mapping[str, str], path: Path, found: list[Problem]) -> str | None:
    """Kubernetes' word for a policy, given as an enum member, by its name, or as text in any casing.

    flytekitplugins-kfpytorch 1.16 makes its enums dataclasses, so their members are all equal and have no hash: only
    the name tells them apart.
    """
    if value is None:
        return None
    name = value if isinstance(value, str) else getattr(value, "name", None)
    word = known.get(name.upper()) if isinstance(name, str) else None
    if word is None:
        options = ", ".join(dict.fromkeys(known.values()))
        found.append(call_error("spec-invalid-value", path, f"no policy {value!r}", f"one of {options}"))
    return word


def mapping(value: Any) -> dict[str, Any]:
    """A copy of a mapping; nothing for what is none."""
    return dict(value) if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list."""
    return [dict(one) for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


class Device(NamedTuple):
    """An accelerator as Flyte asks for it. `partition` is a size such as `1g.5gb`, or None for no wish."""

    name: str
    partition: str | None = None
    unpartitioned: bool = False


def device(value: Any, found: list[Problem]) -> Device | None:
    """An accelerator given as text (`A100`, `nvidia-tesla-a100/1g.5gb`) or as one of flytekit's constants."""
    if value is None:
        return None
    if isinstance(value, str):
        short, _, part = value.partition("/")
        return Device(short, part if part not in {"", "unpartitioned"} else None, part == "unpartitioned")
    name = getattr(value, "device", None) or getattr(value, "_device", None)
    if not isinstance(name, str):
        message = f"{type(value).__name__} is not an accelerator"
        found.append(call_error("spec-wrong-type", ("accelerator",), message, 'such as "nvidia-h100"'))
        return None
    # flytekit 1.16: the attribute is missing for "no wish", None for "a whole one", else the size
    if not hasattr(value, "_partition_size"):
        return Device(name)
    size = value._partition_size
    return Device(name, size, unpartitioned=size is None)


def kubernetes(value: Any) -> Any:
    """An object of the Kubernetes client as the plain data it stands for; plain data as a copy.

    The client's models name their fields in `attribute_map`: Python name to JSON name (kubernetes 36).
    """
    if isinstance(value, Mapping):
        return {key: kubernetes(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [kubernetes(item) for item in value]
    names = getattr(value, "attribute_map", None)
    if not isinstance(names, Mapping):
        return value
    pairs = ((key, getattr(value, name)) for name, key in names.items())
    return {key: kubernetes(item) for key, item in pairs if item is not None}


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


FIELDS = {"cpu": "cpu", "mem": "memory", "gpu": "gpu", "ephemeral_storage": "ephemeralStorage"}
"""Flyte's names, and the spec's."""

_FRACTIONS = frozenset({"cpu"})


class RequestAndLimit(NamedTuple):
    """What one level says of one resource. Both halves are None where it is a zero."""

    request: str | None
    limit: str | None


Amounts = dict[str, RequestAndLimit]
"""By the spec's names."""


def read(requests: object, limits: object, at: Path, found: list[Problem]) -> Amounts:
    """`requests=` and `limits=` of a task or a replica. `at` is the path of the block that has them."""
    return _pairs(_half(requests, (*at, "requests"), found), _half(limits, (*at, "limits"), found))


def read_pairs(resources: object, at: Path, found: list[Problem]) -> Amounts:
    """`resources=` of a task: a value is request and limit, a pair is (request, limit)."""
    requests, limits = {}, {}
    for name, key in FIELDS.items():
        value, path = getattr(resources, name, None), (*at, name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            if len(value) != 2:
                found.append(
                    call_error("spec-invalid-value", path, f"a pair is (request, limit), and this has {len(value)}")
                )
                continue
            requests[key] = _text(value[0], name, (*path, 0), found)
            limits[key] = _text(value[1], name, (*path, 1), found)
        else:
            requests[key] = _text(value, name, path, found)
    return _pairs(requests, limits)


def legacy(values: dict[str, str], found: list[Problem]) -> Amounts:
    """The `per_replica_*` words of the legacy decorator, where "" is nothing."""
    halves: dict[str, dict[str, str | None]] = {"request": {}, "limit": {}}
    names = {"cpu": "cpu", "memory": "memory", "gpu": "gpu", "storage": "ephemeralStorage"}
    for word, text in values.items():
        name, _, half = word.removeprefix("per_replica_").rpartition("_")
        halves[half][names[name]] = _text(text, "cpu", (word,), found) if text != "" else None
    return _pairs(halves["request"], halves["limit"])


def _half(block: object, at: Path, found: list[Problem]) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for name, key in FIELDS.items():
        value = getattr(block, name, None)
        if isinstance(value, list | tuple):
            message = "a pair is not allowed here"
            found.append(call_error("spec-wrong-type", (*at, name), message, "write pairs in resources=, or one value"))
            continue
        out[key] = _text(value, name, (*at, name), found)
    return out


def _text(value: Any, name: str, path: Path, found: list[Problem]) -> str | None:
    """One quantity as text; None where it is not given or is not one."""
    if value is None:
        return None
    fraction = isinstance(value, float) and name not in _FRACTIONS
    if isinstance(value, bool) or fraction or not isinstance(value, str | int | float):
        found.append(call_error("spec-wrong-type", path, f"{value!r} is not a quantity", 'such as 2, "500m" or "4Gi"'))
        return None
    text = value if isinstance(value, str) else repr(value)
    if not quantity.valid(text) or text.startswith("-"):
        reason = f"{value!r} is not a Kubernetes quantity" if not text.startswith("-") else f"{value!r} is negative"
        near = quantity.likely_quantity(text)
        found.append(
            call_error("spec-invalid-value", path, reason, f"did you mean {near}?" if near else 'such as "4Gi"')
        )
        return None
    return text


def _pairs(requests: dict[str, str | None], limits: dict[str, str | None]) -> Amounts:
    out: Amounts = {}
    for key in FIELDS.values():
        request, limit = requests.get(key), limits.get(key)
        if request is not None or limit is not None:
            out[key] = RequestAndLimit(_nonzero(request), _nonzero(limit))
    return out


def _nonzero(text: str | None) -> str | None:
    return text if text is not None and quantity.parse(text) else None


def spread(task: Amounts, roles: Sequence[Amounts]) -> tuple[Amounts, list[Amounts]]:
    """The task's amounts, and those of its roles, without zeros: where a role has a zero the others get the task's."""
    task = {key: pair for key, pair in task.items() if any(pair)}
    refused = {key for role in roles for key, pair in role.items() if key in task and not any(pair)}
    moved = {key: task[key] for key in refused}
    kept = [{**moved, **role} for role in roles]
    return (
        {key: pair for key, pair in task.items() if key not in refused},
        [{key: pair for key, pair in role.items() if any(pair)} for role in kept],
    )


def to_spec(amounts: Amounts) -> dict[str, Any]:
    """The amounts in the spec's words, both halves: flat where they are one, else in both lists."""
    flat: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for key, (request, limit) in amounts.items():
        if request is None or limit is None or request == limit:
            flat[key] = _plain(request or limit or "")
        else:
            requests[key], limits[key] = _plain(request), _plain(limit)
    lists = {"requests": requests, "limits": limits}
    return {**flat, **{name: amounts for name, amounts in lists.items() if amounts}}


def plain(resources: Any) -> Any:
    """Resources whose whole numbers are numbers, as people write them."""
    if isinstance(resources, dict):
        return {key: plain(value) for key, value in resources.items()}
    return _plain(resources) if isinstance(resources, str) else resources


def _plain(text: str) -> str | int:
    """A whole number as a number, which needs no quotes in YAML."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 and str(int(text)) == text else text
