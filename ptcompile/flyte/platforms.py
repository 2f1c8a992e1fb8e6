"""Flyte's propeller configuration as a cluster profile.

Flyte 1.16 turns an accelerator into a required node affinity on the device's label and a toleration of the same, and
does it again with the label of a slice. A catalogue entry is both at once, under the names of `entry_name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Problem
from ptcompile.flyte.problems import call_error, call_warning
from ptcompile.flyte.resources import CLASSES, DEVICES, WHOLE, listed, mappings, normal
from ptcompile.source import documents as source
from ptcompile.spec.checks import MAIN

if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


POD: dict[str, tuple[str, type, str]] = {
    "default-affinity": ("affinity", dict, "a mapping"),
    "default-pod-security-context": ("securityContext", dict, "a mapping"),
    "enable-host-networking-pod": ("hostNetwork", bool, "true or false"),
    "default-pod-dns-config": ("dnsConfig", dict, "a mapping"),
}
"""Keys that are a field of every pod: that field, and the type of its value."""

CONTAINER: dict[str, tuple[str, type, str]] = {
    "default-security-context": ("securityContext", dict, "a mapping"),
    "image-pull-policy": ("imagePullPolicy", str, "text"),
}
"""Keys that are a field of the container that trains."""

_LIFECYCLE = "it tells Flyte's engine how to watch its pods and has no counterpart in a manifest"
ENGINE: dict[str, str] = {
    **dict.fromkeys(
        (
            "inject-finalizer", "delete-resource-on-finalize", "disable-inject-owner-references", "co-pilot",
            "image-pull-backoff-grace-period", "create-container-error-grace-period", "pod-pending-timeout",
            "create-container-config-error-grace-period", "default-pod-template-resync", "kf-operator",
        ),
        _LIFECYCLE,
    ),
    "default-env-vars-from-env": "it reads the environment of Flyte's engine, which is unknown here",
    "default-pod-template-name": "a PodTemplate object of the cluster cannot be read from here",
}  # fmt: skip
"""Keys without effect on our manifests, each with the reason (flyte 1.16, `plugins.k8s` and `kf-operator`)."""

KNOWN = (
    *POD, *CONTAINER, "default-cpus", "default-memory", "default-annotations", "default-labels", "default-env-vars",
    "default-env-from-configmaps", "default-env-from-secrets", "default-tolerations", "default-node-selector",
    "scheduler-name", "interruptible-tolerations", "interruptible-node-selector",
    "interruptible-node-selector-requirement", "non-interruptible-node-selector-requirement", "resource-tolerations",
    "add-tolerations-for-extended-resources", "gpu-resource-name", "gpu-device-node-label",
    "gpu-partition-size-node-label", "gpu-unpartitioned-node-selector-requirement", "gpu-unpartitioned-toleration",
    "accelerator-devices", "accelerator-device-classes",
)  # fmt: skip


class ConfigSection:
    """A section of the configuration whose values have the type that is asked for, or are empty and a problem."""

    def __init__(self, section: Mapping[str, Any], found: list[Problem]) -> None:
        self.section = section
        self.found = found

    def any(self, key: str) -> Any:
        """The value as it is; None where it is not there."""
        return self.section.get(key)

    def text(self, key: str) -> str:
        """A string; empty where it is not there."""
        value = self.section.get(key)
        return value if isinstance(value, str) else self._empty(key, value, "", "text")

    def mapping(self, key: str) -> dict[str, Any]:
        """A mapping; empty where it is not there."""
        value = self.section.get(key)
        return dict(value) if isinstance(value, Mapping) else self._empty(key, value, {}, "a mapping")

    def sequence(self, key: str) -> list[Any]:
        """A list; empty where it is not there."""
        value = self.section.get(key)
        return list(value) if isinstance(value, list | tuple) else self._empty(key, value, [], "a list")

    def fields(self, known: Mapping[str, tuple[str, type, str]]) -> dict[str, Any]:
        """What the keys of such a table say, by Kubernetes' words."""
        out: dict[str, Any] = {}
        for key, (word, kind, what) in known.items():
            value = self.section.get(key)
            if isinstance(value, kind):
                out[word] = value
            else:
                self._empty(key, value, None, what)
        return {word: value for word, value in out.items() if value}

    def _empty(self, key: str, value: object, empty: Any, what: str) -> Any:
        if value is not None:
            self.found.append(call_error("spec-wrong-type", ("k8s", key), f"{value!r} is not {what}"))
        return empty


def pairs(settings: ConfigSection, key: str) -> dict[str, str]:
    """Names and text. Flyte takes a mapping, or a list of mappings, which keeps capitals through its reader."""
    value = settings.any(key)
    items = [value] if isinstance(value, Mapping) else settings.sequence(key)
    if not all(isinstance(one, Mapping) for one in items):
        settings.found.append(call_error("spec-wrong-type", ("k8s", key), "is not a list of mappings"))
        return {}
    return {str(name): _text(text) for one in items for name, text in one.items()}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
    settings: ConfigSection,
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


def _class(settings: ConfigSection, kind: str) -> _Class:
    """A class: Flyte 2's `accelerator-device-classes`, else Flyte 1's `gpu-*` keys for GPUs, else the defaults."""
    resource, device, partition = CLASSES[kind]
    own = {str(k).lower().replace("-", "_"): v for k, v in settings.mapping("accelerator-device-classes").items()}
    given = own.get(_CLASS_NAMES[kind])
    found = ConfigSection(given if isinstance(given, Mapping) else {}, settings.found)
    old = settings if kind == "nvidia" else ConfigSection({}, settings.found)
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


@dataclass(frozen=True, slots=True)
class Platform:
    """A cluster as Flyte's configuration describes it."""

    document: Json
    """The ClusterProfile document."""
    profile: ClusterProfile
    """The same, read; the built-in one where the configuration has a mistake."""
    devices: Mapping[str, str]
    """What nodes call the devices, by short names in capitals."""
    problems: tuple[Problem, ...]
    """Mistakes and keys without effect; paths are those of the configuration, from its k8s section on."""

    @property
    def ok(self) -> bool:
        """Whether there is no mistake. Warnings are fine."""
        return all(problem.severity != "error" for problem in self.problems)


def platform(
    config: str | bytes | Mapping[str, Any], *, name: str = "flyte", accelerators: Iterable[str] = ()
) -> Platform:
    """A platform from the text or the data of Flyte's plugin configuration.

    The section may be the whole document, or stand under `k8s` or `plugins.k8s`, as in a ConfigMap of a Flyte chart.
    `accelerators` are devices, or `device/slice`, beyond those that Flyte knows. Raises nothing for what a user wrote.
    """
    from ptcompile.compiler.frontend.reader import decode_profile
    from ptcompile.spec.cluster_profile import ClusterProfile

    found: list[Problem] = []
    section = _section(_data(config, found))
    settings = ConfigSection(section, found)
    devices = {**DEVICES, **{key.upper(): value for key, value in pairs(settings, "accelerator-devices").items()}}
    _unknown(section, found)
    gpu = settings.text("gpu-resource-name") or "nvidia.com/gpu"
    spec = {
        # tolerations are by resource here, the GPU's as well
        "gpu": {"resourceName": gpu, "tolerations": []},
        "accelerators": entries(settings, devices, accelerators, gpu),
        "resourceTolerations": _resource_tolerations(settings),
        "spot": _spot(settings),
        "onDemand": _requirements(settings, "non-interruptible-node-selector-requirement"),
        "defaults": _defaults(settings),
    }
    spec = {key: value for key, value in spec.items() if value or key in {"defaults", "spot"}}
    document = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": name}, "spec": spec}
    read, problems = decode_profile(document)
    profile = ClusterProfile() if read is None else ClusterProfile.model_validate(document)
    once = (one for one in problems if one.path[:3] != ("spec", "defaults", "limits"))  # they are the requests again
    return Platform(document, profile, devices, (*found, *once))


def _data(config: str | bytes | Mapping[str, Any], found: list[Problem]) -> Mapping[str, Any]:
    if isinstance(config, Mapping):
        return config
    read = source.read(config)
    found += read.problems
    if len(read.documents) == 1:
        return read.documents[0].data
    if not read.problems:
        found.append(call_error("spec-invalid-value", ("k8s",), f"expected one document, got {len(read.documents)}"))
    return {}


def _section(data: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("plugins", "k8s"):
        inner = data.get(key)
        data = inner if isinstance(inner, Mapping) else data
    return data


def _unknown(section: Mapping[str, Any], found: list[Problem]) -> None:
    for key in section:
        if key in ENGINE:
            found.append(call_warning(("k8s", str(key)), ENGINE[key]))
        elif key not in KNOWN:
            near = closest_match(str(key), KNOWN)
            found.append(call_warning(("k8s", str(key)), "is not known", f"did you mean {near}?" if near else None))


def _resource_tolerations(settings: ConfigSection) -> dict[str, list[Json]]:
    """Tolerations by resource name; an extended resource of the second list tolerates a taint of its own name."""
    out: dict[str, list[Json]] = {}
    for resource, items in settings.mapping("resource-tolerations").items():
        out[str(resource)] = mappings(items)
        if len(out[str(resource)]) != (len(items) if isinstance(items, list | tuple) else -1):
            path = ("k8s", "resource-tolerations", str(resource))
            settings.found.append(call_error("spec-wrong-type", path, "is not a list of tolerations"))
    for resource in sorted(map(str, settings.sequence("add-tolerations-for-extended-resources"))):
        own = {"key": resource, "operator": "Exists", "effect": "NoSchedule"}
        out[resource] = [*(one for one in out.get(resource, []) if one != own), own]
    return out


def _spot(settings: ConfigSection) -> Json:
    labels = {str(k): str(v) for k, v in settings.mapping("interruptible-node-selector").items()}
    beyond = []
    for one in _requirements(settings, "interruptible-node-selector-requirement"):
        if _one_label(one):
            labels[str(one["key"])] = str(one["values"][0])
        else:
            beyond.append(one)
    out = {
        "nodeLabels": labels,
        "matchExpressions": beyond,
        "tolerations": settings.sequence("interruptible-tolerations"),
    }
    return {key: value for key, value in out.items() if value}


def _requirements(settings: ConfigSection, key: str) -> list[Json]:
    """A node selector requirement, where there is one."""
    requirement = settings.mapping(key)
    return [requirement] if requirement else []


def _one_label(requirement: Json) -> bool:
    """Whether a requirement is no more than a label that a node must have."""
    values = requirement.get("values")
    return (
        requirement.get("operator") == "In" and "key" in requirement and isinstance(values, list) and len(values) == 1
    )


def _defaults(settings: ConfigSection) -> Json:
    asked = {"cpu": settings.any("default-cpus"), "memory": settings.any("default-memory")}
    amounts = {key: str(value) for key, value in asked.items() if value is not None}
    out = {
        "env": pairs(settings, "default-env-vars"),
        "labels": pairs(settings, "default-labels"),
        "annotations": pairs(settings, "default-annotations"),
        "requests": amounts,
        "limits": amounts,  # Flyte's backend 1.16 gives a request without a limit the same as its limit
        "nodeSelector": pairs(settings, "default-node-selector"),
        "tolerations": settings.sequence("default-tolerations"),
        "schedulerName": settings.text("scheduler-name"),
        "podTemplate": _pod_template(settings),
    }
    return {key: value for key, value in out.items() if value}


def _pod_template(settings: ConfigSection) -> Json:
    """What a profile has no other word for."""
    pod = settings.fields(POD)
    if pod.get("hostNetwork"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"  # names of the cluster resolve there only so
    container = settings.fields(CONTAINER) | _env_from(settings)
    if container:
        pod["containers"] = [{"name": MAIN, **container}]
    return {"spec": pod} if pod else {}


def _env_from(settings: ConfigSection) -> Json:
    """ConfigMaps and Secrets as variables; a missing one is not a mistake, as in Flyte."""
    kinds = {"default-env-from-configmaps": "configMapRef", "default-env-from-secrets": "secretRef"}
    items = [
        {ref: {"name": str(name), "optional": True}} for key, ref in kinds.items() for name in settings.sequence(key)
    ]
    return {"envFrom": items} if items else {}
