"""Flyte's propeller configuration as a cluster profile.

Flyte 1.16 turns an accelerator into a required node affinity on the device's label and a toleration
of the same label, and does it again with the label of a slice. A catalog entry combines both, under
the names of `entry_name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import spelling_help
from ptcompile.diagnostics import Problem, has_error
from ptcompile.flyte.problems import CallProblems
from ptcompile.flyte.resources import (
    CLASSES,
    DEVICES,
    WHOLE,
    as_dicts,
    device_slices,
    node_device_name,
)
from ptcompile.kubernetes.unstructured import Json, JsonDict, as_mapping, without_falsy
from ptcompile.source import documents as source
from ptcompile.spec.checks import MAIN

if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_TABLE = load_table("flyte/tables.json")
_TYPES: dict[str, type] = {"a mapping": dict, "true or false": bool, "text": str}
ENGINE_KEYS: Mapping[str, str] = _TABLE["engine"]
"""Keys without effect on our manifests, each with the reason (flyte 1.16, `plugins.k8s` and
`kf-operator`).
"""

KNOWN_KEYS = (*_TABLE["pod"], *_TABLE["container"], *_TABLE["known"])


class ConfigSection:
    """A section of the configuration. Values of a wrong type are reported and read as empty."""

    def __init__(self, section: Json, problems: CallProblems) -> None:
        self.section = section
        self.problems = problems

    def any(self, key: str) -> Any:
        """Return the raw value, or None if it is absent."""
        return self.section.get(key)

    def text(self, key: str) -> str:
        """Return the string at `key`, or "" if it is absent."""
        return self._value(key, str, "text") or ""

    def mapping(self, key: str) -> JsonDict:
        """Return the mapping at `key`, or {} if it is absent."""
        return dict(self._value(key, Mapping, "a mapping") or {})

    def sequence(self, key: str) -> list[Any]:
        """Return the list at `key`, or [] if it is absent."""
        return list(self._value(key, (list, tuple), "a list") or ())

    def fields(self, table: Mapping[str, tuple[str, str]]) -> JsonDict:
        """Return the values of a table's keys under Kubernetes' field names."""
        out: JsonDict = {}
        for key, (field, expected) in table.items():
            out[field] = self._value(key, _TYPES[expected], expected)
        return without_falsy(out)

    def _value(self, key: str, kind: type | tuple[type, ...], expected: str) -> Any:
        """Return the value at `key`, or None if it is absent or of another type, which is
        reported.
        """
        value = self.section.get(key)
        if value is None or isinstance(value, kind):
            return value
        self.problems.error("spec-wrong-type", ("k8s", key), f"{value!r} is not {expected}")
        return None


def string_pairs(settings: ConfigSection, key: str) -> dict[str, str]:
    """Return names and text. Flyte takes a mapping or a list of mappings; its reader preserves
    capitals in a list.
    """
    value = settings.any(key)
    items = [value] if isinstance(value, Mapping) else settings.sequence(key)
    if not all(isinstance(item, Mapping) for item in items):
        settings.problems.error("spec-wrong-type", ("k8s", key), "is not a list of mappings")
        return {}
    return {str(name): _text(text) for item in items for name, text in item.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


_CLASS_NAMES = {"nvidia": "nvidia_gpu", "tpu": "google_tpu"}


class _DeviceClass(NamedTuple):
    """A device class: its resource and node labels."""

    resource: str
    device: str
    partition: str
    requirement: JsonDict | None
    toleration: JsonDict | None


def accelerator_entries(
    settings: ConfigSection,
    devices: Mapping[str, str],
    more: Iterable[str],
    gpu: str,
) -> dict[str, JsonDict]:
    """Return the catalog: each device known from the configuration or Flyte itself, whole and in
    slices.
    """
    kinds = {kind: _read_class(settings, kind) for kind in CLASSES}
    names = [
        *dict.fromkeys(devices.values()),
        *(node_device_name(device, devices) for device in more),
    ]
    out: dict[str, JsonDict] = {}
    for name, part in device_slices(names):
        kind = kinds["tpu" if name.startswith("tpu-") else "nvidia"]
        labels = {kind.device: name}
        tolerations = [_toleration(kind.device, name)]
        entry = {"nodeLabels": labels, "tolerations": tolerations}
        if part == WHOLE:
            # a node that offers whole devices has no label that names a slice
            entry["matchExpressions"] = [
                kind.requirement or {"key": kind.partition, "operator": "DoesNotExist"}
            ]
            if kind.toleration:
                tolerations.append(kind.toleration)
        elif part is not None:
            labels[kind.partition] = part
            tolerations.append(_toleration(kind.partition, part))
        if kind.resource != gpu:
            entry["resourceName"] = kind.resource
        out[f"{name}/{part}" if part else name] = entry

    return out


def _read_class(settings: ConfigSection, kind: str) -> _DeviceClass:
    """Return a class from Flyte 2's `accelerator-device-classes`, Flyte 1's `gpu-*` keys for
    GPUs, or the defaults.
    """
    defaults = CLASSES[kind]
    classes = {
        str(k).lower().replace("-", "_"): v
        for k, v in settings.mapping("accelerator-device-classes").items()
    }
    new = ConfigSection(as_mapping(classes.get(_CLASS_NAMES[kind])), settings.problems)
    old = settings if kind == "nvidia" else ConfigSection({}, settings.problems)

    return _DeviceClass(
        new.text("resource-name") or old.text("gpu-resource-name") or defaults["resource"],
        new.text("device-node-label") or old.text("gpu-device-node-label") or defaults["device"],
        new.text("partition-size-node-label")
        or old.text("gpu-partition-size-node-label")
        or defaults["partition"],
        new.mapping("unpartitioned-node-selector-requirement")
        or old.mapping("gpu-unpartitioned-node-selector-requirement")
        or None,
        new.mapping("unpartitioned-toleration")
        or old.mapping("gpu-unpartitioned-toleration")
        or None,
    )


def _toleration(label: str, value: str) -> JsonDict:
    return {"key": label, "operator": "Equal", "value": value, "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Platform:
    """A cluster as Flyte's configuration describes it."""

    document: JsonDict
    """The ClusterProfile document."""
    profile: ClusterProfile
    """The validated profile, or the built-in one if the configuration has a mistake."""
    devices: Mapping[str, str]
    """Device names on nodes, keyed by short names in capitals."""
    problems: tuple[Problem, ...]
    """Mistakes and keys without effect; paths start at the configuration's k8s section."""

    @property
    def ok(self) -> bool:
        """Whether there is no mistake; warnings are allowed."""
        return not has_error(self.problems)


def platform(
    config: str | bytes | Json,
    *,
    name: str = "flyte",
    accelerators: Iterable[str] = (),
) -> Platform:
    """Return a platform from the text or data of Flyte's plugin configuration.

    The section may be the whole document, or be below `k8s` or `plugins.k8s`, as in a ConfigMap of
    a Flyte chart. `accelerators` are devices, or `device/slice`, in addition to those that Flyte
    knows. Never raises for user input.
    """
    from ptcompile.compiler.frontend.reader import decode_profile
    from ptcompile.spec.cluster_profile import ClusterProfile

    config_problems = CallProblems()
    section = _find_section(_read_config(config, config_problems))
    settings = ConfigSection(section, config_problems)
    devices = {
        **DEVICES,
        **{
            key.upper(): value
            for key, value in string_pairs(settings, "accelerator-devices").items()
        },
    }
    _report_unknown_keys(section, config_problems)
    gpu = settings.text("gpu-resource-name") or "nvidia.com/gpu"
    spec = {
        # tolerations are listed by resource, including the GPU's
        "gpu": {"resourceName": gpu, "tolerations": []},
        "accelerators": accelerator_entries(settings, devices, accelerators, gpu),
        "resourceTolerations": _resource_tolerations(settings),
        "spot": _spot_fields(settings),
        "onDemand": _requirements(settings, "non-interruptible-node-selector-requirement"),
        "defaults": _profile_defaults(settings),
    }
    spec = {key: value for key, value in spec.items() if value or key in {"defaults", "spot"}}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": name},
        "spec": spec,
    }
    read, problems = decode_profile(document)
    profile = ClusterProfile() if read is None else ClusterProfile.model_validate(document)
    # limits repeat the requests
    distinct = (
        problem for problem in problems if problem.path[:3] != ("spec", "defaults", "limits")
    )

    return Platform(document, profile, devices, (*config_problems, *distinct))


def _read_config(config: str | bytes | Json, problems: CallProblems) -> Json:
    if isinstance(config, Mapping):
        return config

    read = source.read(config)
    problems += read.problems
    if len(read.documents) == 1:
        return read.documents[0].data

    if not read.problems:
        problems.error(
            "spec-invalid-value", ("k8s",), f"expected one document, got {len(read.documents)}"
        )

    return {}


def _find_section(data: Json) -> Json:
    for key in ("plugins", "k8s"):
        inner = data.get(key)
        if isinstance(inner, Mapping):
            data = inner
    return data


def _report_unknown_keys(section: Json, problems: CallProblems) -> None:
    for key in section:
        if key in ENGINE_KEYS:
            problems.warning(("k8s", str(key)), ENGINE_KEYS[key])
        elif key not in KNOWN_KEYS:
            help = spelling_help(str(key), KNOWN_KEYS, "") or None
            problems.warning(("k8s", str(key)), "is not a known key", help)


def _resource_tolerations(settings: ConfigSection) -> dict[str, list[JsonDict]]:
    """Return tolerations by resource name: those in `resource-tolerations`, and one of the taint
    named after each resource in `add-tolerations-for-extended-resources`.
    """
    out: dict[str, list[JsonDict]] = {}
    for resource, items in settings.mapping("resource-tolerations").items():
        tolerations = out[str(resource)] = as_dicts(items)
        if not isinstance(items, list | tuple) or len(tolerations) != len(items):
            path = ("k8s", "resource-tolerations", str(resource))
            settings.problems.error("spec-wrong-type", path, "is not a list of tolerations")

    for resource in sorted(map(str, settings.sequence("add-tolerations-for-extended-resources"))):
        toleration = {"key": resource, "operator": "Exists", "effect": "NoSchedule"}
        out[resource] = [
            *(item for item in out.get(resource, []) if item != toleration),
            toleration,
        ]

    return out


def _spot_fields(settings: ConfigSection) -> JsonDict:
    labels = {str(k): str(v) for k, v in settings.mapping("interruptible-node-selector").items()}
    expressions = []
    for requirement in _requirements(settings, "interruptible-node-selector-requirement"):
        match requirement:
            case {"operator": "In", "key": key, "values": [value]}:
                labels[str(key)] = str(value)
            case _:
                expressions.append(requirement)

    out = {
        "nodeLabels": labels,
        "matchExpressions": expressions,
        "tolerations": settings.sequence("interruptible-tolerations"),
    }

    return without_falsy(out)


def _requirements(settings: ConfigSection, key: str) -> list[JsonDict]:
    """Return the node selector requirement at `key` as a list, empty if it is absent."""
    requirement = settings.mapping(key)
    return [requirement] if requirement else []


def _profile_defaults(settings: ConfigSection) -> JsonDict:
    requests = {"cpu": settings.any("default-cpus"), "memory": settings.any("default-memory")}
    quantities = {key: str(value) for key, value in requests.items() if value is not None}
    out = {
        "env": string_pairs(settings, "default-env-vars"),
        "labels": string_pairs(settings, "default-labels"),
        "annotations": string_pairs(settings, "default-annotations"),
        "requests": quantities,
        "limits": quantities,  # Flyte's backend 1.16 sets a missing limit to the request
        "nodeSelector": string_pairs(settings, "default-node-selector"),
        "tolerations": settings.sequence("default-tolerations"),
        "schedulerName": settings.text("scheduler-name"),
        "podTemplate": _pod_template(settings),
    }

    return without_falsy(out)


def _pod_template(settings: ConfigSection) -> JsonDict:
    """Return the settings for which a profile has no other field."""
    pod = settings.fields(_TABLE["pod"])
    if pod.get("hostNetwork"):
        pod["dnsPolicy"] = (
            "ClusterFirstWithHostNet"  # required to resolve cluster names on the host network
        )
    container = settings.fields(_TABLE["container"])
    kinds = {"default-env-from-configmaps": "configMapRef", "default-env-from-secrets": "secretRef"}
    for key, reference in kinds.items():
        for name in settings.sequence(key):
            # as in Flyte, the ConfigMap or Secret may be missing
            entry = {reference: {"name": str(name), "optional": True}}
            container.setdefault("envFrom", []).append(entry)
    if container:
        pod["containers"] = [{"name": MAIN, **container}]
    return {"spec": pod} if pod else {}
