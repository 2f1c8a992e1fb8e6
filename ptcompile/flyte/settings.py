"""The keys of Flyte's K8s plugin configuration, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptcompile.findings.diagnostics import Problem
from ptcompile.flyte.found import wrong

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


class Settings:
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
            self.found.append(wrong("spec-wrong-type", ("k8s", key), f"{value!r} is not {what}"))
        return empty


def pairs(settings: Settings, key: str) -> dict[str, str]:
    """Names and text. Flyte takes a mapping, or a list of mappings, which keeps capitals through its reader."""
    value = settings.any(key)
    items = [value] if isinstance(value, Mapping) else settings.sequence(key)
    if not all(isinstance(one, Mapping) for one in items):
        settings.found.append(wrong("spec-wrong-type", ("k8s", key), "is not a list of mappings"))
        return {}
    return {str(name): _text(text) for one in items for name, text in one.items()}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
