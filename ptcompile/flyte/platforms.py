"""Flyte's K8s plugin configuration as a platform: `plugins.k8s.*` of the propeller (flyte 1.16), or of Flyte 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptcompile.documents import source
from ptcompile.findings.diagnostics import Problem
from ptcompile.flyte import catalogue
from ptcompile.flyte.accelerators import DEVICES
from ptcompile.flyte.foreign import mappings
from ptcompile.flyte.found import changed, wrong
from ptcompile.flyte.settings import CONTAINER, ENGINE, KNOWN, POD, Settings, pairs
from ptcompile.kubernetes import names
from ptcompile.vocabulary.cluster.pod_base import MAIN

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile

Json = dict[str, Any]


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
    from ptcompile.frontends.spec import read_cluster
    from ptcompile.vocabulary.cluster.model import ClusterProfile

    found: list[Problem] = []
    section = _section(_data(config, found))
    settings = Settings(section, found)
    devices = {**DEVICES, **{key.upper(): value for key, value in pairs(settings, "accelerator-devices").items()}}
    _unknown(section, found)
    gpu = settings.text("gpu-resource-name") or "nvidia.com/gpu"
    spec = {
        # tolerations are by resource here, the GPU's as well
        "gpu": {"resourceName": gpu, "tolerations": []},
        "accelerators": catalogue.entries(settings, devices, accelerators, gpu),
        "resourceTolerations": _resource_tolerations(settings),
        "spot": _spot(settings),
        "onDemand": _requirements(settings, "non-interruptible-node-selector-requirement"),
        "defaults": _defaults(settings),
    }
    spec = {key: value for key, value in spec.items() if value or key == "defaults"}
    document = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": name}, "spec": spec}
    read, problems = read_cluster(document)
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
        found.append(wrong("spec-invalid-value", ("k8s",), f"expected one document, got {len(read.documents)}"))
    return {}


def _section(data: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("plugins", "k8s"):
        inner = data.get(key)
        data = inner if isinstance(inner, Mapping) else data
    return data


def _unknown(section: Mapping[str, Any], found: list[Problem]) -> None:
    for key in section:
        if key in ENGINE:
            found.append(changed(("k8s", str(key)), ENGINE[key]))
        elif key not in KNOWN:
            near = names.suggest(str(key), KNOWN)
            found.append(changed(("k8s", str(key)), "is not known", f"did you mean {near}?" if near else None))


def _resource_tolerations(settings: Settings) -> dict[str, list[Json]]:
    """Tolerations by resource name; an extended resource of the second list tolerates a taint of its own name."""
    out: dict[str, list[Json]] = {}
    for resource, items in settings.mapping("resource-tolerations").items():
        out[str(resource)] = mappings(items)
        if len(out[str(resource)]) != (len(items) if isinstance(items, list | tuple) else -1):
            path = ("k8s", "resource-tolerations", str(resource))
            settings.found.append(wrong("spec-wrong-type", path, "is not a list of tolerations"))
    for resource in sorted(map(str, settings.sequence("add-tolerations-for-extended-resources"))):
        own = {"key": resource, "operator": "Exists", "effect": "NoSchedule"}
        out[resource] = [*(one for one in out.get(resource, []) if one != own), own]
    return out


def _spot(settings: Settings) -> Json:
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


def _requirements(settings: Settings, key: str) -> list[Json]:
    """A node selector requirement, where there is one."""
    requirement = settings.mapping(key)
    return [requirement] if requirement else []


def _one_label(requirement: Json) -> bool:
    """Whether a requirement is no more than a label that a node must have."""
    values = requirement.get("values")
    return (
        requirement.get("operator") == "In" and "key" in requirement and isinstance(values, list) and len(values) == 1
    )


def _defaults(settings: Settings) -> Json:
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


def _pod_template(settings: Settings) -> Json:
    """What a profile has no other word for."""
    pod = settings.fields(POD)
    if pod.get("hostNetwork"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"  # names of the cluster resolve there only so
    container = settings.fields(CONTAINER) | _env_from(settings)
    if container:
        pod["containers"] = [{"name": MAIN, **container}]
    return {"spec": pod} if pod else {}


def _env_from(settings: Settings) -> Json:
    """ConfigMaps and Secrets as variables; a missing one is not a mistake, as in Flyte."""
    kinds = {"default-env-from-configmaps": "configMapRef", "default-env-from-secrets": "secretRef"}
    items = [
        {ref: {"name": str(name), "optional": True}} for key, ref in kinds.items() for name in settings.sequence(key)
    ]
    return {"envFrom": items} if items else {}
