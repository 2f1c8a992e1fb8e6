"""The accelerators of a Flyte platform as the catalogue of a ClusterProfile.

Flyte 1.16 turns an accelerator into a required node affinity on the device's label and a toleration of the same, and
does it again with the label of a slice. A catalogue entry is both at once, under the names of `entry_name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ptcompile.flyte.accelerators import CLASSES, WHOLE, listed, normal
from ptcompile.flyte.settings import Settings

Json = dict[str, Any]

_CLASS_NAMES = {"nvidia": "nvidia_gpu", "tpu": "google_tpu"}


class _Class(NamedTuple):
    """A device class: what its resource and its node labels are called."""

    resource: str
    device: str
    partition: str
    requirement: Json | None
    toleration: Json | None


def entries(
    settings: Settings,
    devices: Mapping[str, str],
    more: Iterable[str],
    gpu: str,
) -> dict[str, Json]:
    """The catalogue: each device that the configuration or Flyte itself knows, whole and in its slices."""
    kinds = {kind: _class(settings, kind) for kind in CLASSES}
    names = [*dict.fromkeys(devices.values()), *(normal(one, devices) for one in more)]
    out: dict[str, Json] = {}
    for name, part in listed(names):
        kind = kinds[_kind(name)]
        labels = {kind.device: name}
        tolerations = [_taint(kind.device, name)]
        entry: Json = {"nodeLabels": labels, "tolerations": tolerations}
        if part == WHOLE:
            # by default no label of a slice
            entry["matchExpressions"] = [kind.requirement or {"key": kind.partition, "operator": "DoesNotExist"}]
            tolerations += [kind.toleration] if kind.toleration else []
        elif part is not None:
            labels[kind.partition] = part
            tolerations.append(_taint(kind.partition, part))
        if kind.resource != gpu:
            entry["resourceName"] = kind.resource
        out[f"{name}/{part}" if part else name] = entry
    return out


def _kind(name: str) -> str:
    return "tpu" if name.startswith("tpu-") else "nvidia"


def _class(settings: Settings, kind: str) -> _Class:
    """A class: Flyte 2's `accelerator-device-classes`, else Flyte 1's `gpu-*` keys for GPUs, else the defaults."""
    resource, device, partition = CLASSES[kind]
    own = {str(k).lower().replace("-", "_"): v for k, v in settings.mapping("accelerator-device-classes").items()}
    given = own.get(_CLASS_NAMES[kind])
    found = Settings(given if isinstance(given, Mapping) else {}, settings.found)
    old = settings if kind == "nvidia" else Settings({}, settings.found)
    return _Class(
        found.text("resource-name") or old.text("gpu-resource-name") or resource,
        found.text("device-node-label") or old.text("gpu-device-node-label") or device,
        found.text("partition-size-node-label") or old.text("gpu-partition-size-node-label") or partition,
        found.mapping("unpartitioned-node-selector-requirement")
        or old.mapping("gpu-unpartitioned-node-selector-requirement")
        or None,
        found.mapping("unpartitioned-toleration") or old.mapping("gpu-unpartitioned-toleration") or None,
    )


def _taint(label: str, value: str) -> Json:
    return {"key": label, "operator": "Equal", "value": value, "effect": "NoSchedule"}
