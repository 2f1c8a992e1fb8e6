"""Objects of flytekit and of the Kubernetes client, read by their attributes: neither is ever imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import wrong

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
        found.append(wrong("spec-invalid-value", path, f"no policy {value!r}", f"one of {options}"))
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
        found.append(wrong("spec-wrong-type", ("accelerator",), message, 'such as "nvidia-h100"'))
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
