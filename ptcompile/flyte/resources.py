"""Flyte's resources and accelerators in spec form.

The precedence is the spec's own, key by key: a replica, else the task, else the profile. In a spec,
a request without a limit has no limit; here the missing limit is the request, because Flyte's
backend (1.16) fills both halves, and both are written into the spec. A zero means unset, as in
Flyte's container path; on a replica it means that this replica gets none of what the task gives to
the others. Nothing is clamped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path
from ptcompile.flyte.problems import CallProblems
from ptcompile.hardware.accelerators import row_of
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import JsonDict, as_mapping, without_falsy, without_keys

RESTART_POLICIES = {
    "ALWAYS": "Always",
    "FAILURE": "OnFailure",
    "ONFAILURE": "OnFailure",
    "NEVER": "Never",
}
CLEAN_POD_POLICIES = {"NONE": "None", "ALL": "All", "RUNNING": "Running"}


def read_policy(
    value: Any, names: Mapping[str, str], path: Path, problems: CallProblems
) -> str | None:
    """Return Kubernetes' name of a policy, given as an enum member, by name, or as text in any
    case.

    flytekitplugins-kfpytorch 1.16 makes its enums dataclasses, so their members are all equal and
    have no hash: only the name tells them apart.
    """
    if value is None:
        return None

    name = value if isinstance(value, str) else getattr(value, "name", None)
    policy = names.get(name.upper()) if isinstance(name, str) else None
    if policy is None:
        options = ", ".join(dict.fromkeys(names.values()))
        problems.error("spec-invalid-value", path, f"no policy {value!r}", f"use one of {options}")

    return policy


def as_dict(value: Any) -> JsonDict:
    """Return a copy of a mapping, or {} for any other value."""
    return dict(as_mapping(value))


def as_dicts(value: Any) -> list[JsonDict]:
    """Return copies of the mappings in a list."""
    if isinstance(value, list | tuple):
        return [dict(item) for item in value if isinstance(item, Mapping)]
    return []


class Device(NamedTuple):
    """An accelerator as Flyte requests it. `partition` is a size such as `1g.5gb`, or None for
    no preference.
    """

    name: str
    partition: str | None = None
    unpartitioned: bool = False


def read_device(value: Any, problems: CallProblems) -> Device | None:
    """Read an accelerator given as text (`A100`, `nvidia-tesla-a100/1g.5gb`) or as one of
    flytekit's constants.
    """
    if value is None:
        return None
    if isinstance(value, str):
        short, _, slice_name = value.partition("/")
        return Device(
            short,
            slice_name if slice_name not in {"", "unpartitioned"} else None,
            slice_name == "unpartitioned",
        )

    name = getattr(value, "device", None) or getattr(value, "_device", None)
    if not isinstance(name, str):
        message = f"{type(value).__name__} is not an accelerator"
        problems.error(
            "spec-wrong-type", ("accelerator",), message, 'name one, such as "nvidia-h100"'
        )
        return None
    # flytekit 1.16: the attribute is missing without a preference, None for a whole device, else
    # the size
    if not hasattr(value, "_partition_size"):
        return Device(name)

    size = value._partition_size
    return Device(name, size, unpartitioned=size is None)


def to_plain_data(value: Any) -> Any:
    """Return an object of the Kubernetes client as plain data, or a copy of plain data.

    The client's models name their fields in `attribute_map`: Python name to JSON name (kubernetes
    36).
    """
    if isinstance(value, Mapping):
        return {key: to_plain_data(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [to_plain_data(item) for item in value]
    names = getattr(value, "attribute_map", None)
    if not isinstance(names, Mapping):
        return value
    pairs = ((key, getattr(value, name)) for name, key in names.items())
    return {key: to_plain_data(item) for key, item in pairs if item is not None}


_TABLE = load_table("flyte/tables.json")
DEVICES: Mapping[str, str] = _TABLE["devices"]
"""The backend's default `accelerator-devices` and flytekit 1.16's constants, keyed by short name
in capitals.
"""

PARTITIONS: dict[str, tuple[str, ...]] = {
    name: slices
    for name in DEVICES.values()
    if (row := row_of(name)[0]) is not None and (slices := row.slices)
}
"""Slices of a device (NVIDIA MIG profiles, Google TPU topologies) from the built-in catalog, which
covers those of flytekit 1.16 and Flyte 2.
"""

WHOLE = "unpartitioned"

CLASSES: Mapping[str, Mapping[str, str]] = _TABLE["classes"]
"""Resource name, device label and partition label of a device class."""


def node_device_name(name: str, devices: Mapping[str, str] = DEVICES) -> str:
    """Return the device name on nodes: short names are looked up in any case, other names are
    returned unchanged.
    """
    return devices.get(name.upper(), name)


def entry_name(device: Device, devices: Mapping[str, str]) -> str:
    """Return a device's name in a profile's catalog: `nvidia-h100`, or `nvidia-h100/1g.10gb`."""
    part = WHOLE if device.unpartitioned else device.partition
    name = node_device_name(device.name, devices)
    return f"{name}/{part}" if part else name


def device_slices(names: Iterable[str]) -> list[tuple[str, str | None]]:
    """Return every device, whole and in each known slice: (name, None, a slice or
    `unpartitioned`).
    """
    out: list[tuple[str, str | None]] = []
    for device in names:
        name, _, part = device.partition("/")
        parts: list[str | None] = [None]
        if part:
            parts.append(part)
        elif name in PARTITIONS:
            parts += [WHOLE, *PARTITIONS[name]]
        out += [(name, part) for part in parts if (name, part) not in out]
    return out


FIELDS = {"cpu": "cpu", "mem": "memory", "gpu": "gpu", "ephemeral_storage": "ephemeralStorage"}
"""Spec names of resources, keyed by Flyte's names."""

_FRACTIONS = frozenset({"cpu"})


class RequestAndLimit(NamedTuple):
    """One resource at one level. Both halves are None if it is zero."""

    request: str | None
    limit: str | None


Amounts = dict[str, RequestAndLimit]
"""Requests and limits, keyed by the spec's resource names."""


def read_resources(requests: object, limits: object, path: Path, problems: CallProblems) -> Amounts:
    """Read `requests=` and `limits=` of a task or a replica. `path` is the path of the block
    that has them.
    """
    return _pair_amounts(
        _read_half(requests, (*path, "requests"), problems),
        _read_half(limits, (*path, "limits"), problems),
    )


def read_pairs(resources: object, block_path: Path, problems: CallProblems) -> Amounts:
    """Read `resources=` of a task: a value is request and limit, a pair is (request, limit)."""
    requests = dict[str, str | None]()
    limits = dict[str, str | None]()
    for name, key in FIELDS.items():
        value = getattr(resources, name, None)
        path = (*block_path, name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            if len(value) != 2:
                problems.error(
                    "spec-invalid-value",
                    path,
                    f"must be a pair (request, limit), not {len(value)} items",
                )
                continue

            request, limit = value
            requests[key] = _quantity_text(request, name, (*path, 0), problems)
            limits[key] = _quantity_text(limit, name, (*path, 1), problems)
        else:
            requests[key] = _quantity_text(value, name, path, problems)

    return _pair_amounts(requests, limits)


def read_legacy(values: dict[str, str], problems: CallProblems) -> Amounts:
    """Read the `per_replica_*` keywords of the legacy decorator, for which "" means unset."""
    halves: dict[str, dict[str, str | None]] = {"request": {}, "limit": {}}
    names = {"cpu": "cpu", "memory": "memory", "gpu": "gpu", "storage": "ephemeralStorage"}
    for keyword, text in values.items():
        name, _, half = keyword.removeprefix("per_replica_").rpartition("_")
        halves[half][names[name]] = (
            _quantity_text(text, "cpu", (keyword,), problems) if text != "" else None
        )
    return _pair_amounts(halves["request"], halves["limit"])


def _read_half(block: object, path: Path, problems: CallProblems) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for name, key in FIELDS.items():
        value = getattr(block, name, None)
        if isinstance(value, list | tuple):
            message = "a pair is not allowed here"
            problems.error(
                "spec-wrong-type", (*path, name), message, "write pairs in resources=, or one value"
            )
            continue

        out[key] = _quantity_text(value, name, (*path, name), problems)

    return out


def _quantity_text(value: Any, name: str, path: Path, problems: CallProblems) -> str | None:
    """Return one quantity as text, or None if it is unset or invalid."""
    if value is None:
        return None

    fraction = isinstance(value, float) and name not in _FRACTIONS
    if isinstance(value, bool) or fraction or not isinstance(value, str | int | float):
        problems.error(
            "spec-wrong-type",
            path,
            f"{value!r} is not a quantity",
            'use a quantity, such as 2, "500m" or "4Gi"',
        )
        return None

    text = value if isinstance(value, str) else repr(value)
    if text.startswith("-"):
        reason = f"{value!r} is negative"
    elif not quantity.is_quantity(text):
        reason = f"{value!r} is not a Kubernetes quantity"
    else:
        return text

    suggestion = quantity.likely_quantity(text)
    help = f"did you mean {suggestion}?" if suggestion else 'use a quantity, such as "4Gi"'
    problems.error("spec-invalid-value", path, reason, help)
    return None


def _pair_amounts(requests: dict[str, str | None], limits: dict[str, str | None]) -> Amounts:
    out: Amounts = {}
    for key in FIELDS.values():
        request = requests.get(key)
        limit = limits.get(key)
        if request is not None or limit is not None:
            out[key] = RequestAndLimit(_nonzero(request), _nonzero(limit))
    return out


def _nonzero(text: str | None) -> str | None:
    return text if text is not None and quantity.parse(text) else None


def split_by_role(task: Amounts, roles: Sequence[Amounts]) -> tuple[Amounts, list[Amounts]]:
    """Return the task's and the roles' resources without zeros; if a role has a zero, the other
    roles get the task's value.
    """
    task = {key: pair for key, pair in task.items() if any(pair)}
    zeroed = {key for role in roles for key, pair in role.items() if key in task and not any(pair)}
    task_values = {key: task[key] for key in zeroed}
    filled = [{**task_values, **role} for role in roles]
    return (
        without_keys(task, *zeroed),
        [{key: pair for key, pair in role.items() if any(pair)} for role in filled],
    )


def to_spec(amounts: Amounts) -> JsonDict:
    """Return resources in spec form: flat if request and limit are equal, else below requests
    and limits.
    """
    flat: JsonDict = {}
    requests: JsonDict = {}
    limits: JsonDict = {}
    for key, (request, limit) in amounts.items():
        if request is None or limit is None or request == limit:
            flat[key] = _plain_number(request or limit or "")
        else:
            requests[key], limits[key] = _plain_number(request), _plain_number(limit)

    return {**flat, **without_falsy({"requests": requests, "limits": limits})}


def with_plain_numbers(resources: Any) -> Any:
    """Return resources with integers instead of quoted numbers."""
    if isinstance(resources, dict):
        return {key: with_plain_numbers(value) for key, value in resources.items()}
    if isinstance(resources, str):
        return _plain_number(resources)
    return resources


def _plain_number(text: str) -> str | int:
    """Return a whole number as an integer, which needs no quotes in YAML."""
    if is_short_number(text, below=16) and str(int(text)) == text:
        return int(text)
    return text
