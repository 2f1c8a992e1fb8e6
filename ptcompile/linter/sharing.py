"""GPUs that several pods share: by resource names, node labels and the configuration of NVIDIA's device plugin.

Source: NVIDIA/k8s-device-plugin 0.20, README.md, api/config/v1/config.go, internal/lm/resource.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_mappings, as_string, nested_map, string_map
from ptcompile.world.workload import Stream

_PRODUCT = "nvidia.com/gpu.product"
_PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
"""Label of a node whose value is the key of its configuration in the plugin's ConfigMap."""
_STRATEGIES = {
    "nvidia.com/gpu.sharing-strategy": ("time-slicing", "mps"),
    "cloud.google.com/gke-gpu-sharing-strategy": ("time-sharing", "mps"),
}
"""Labels of nodes that share their GPUs, with the values that say so."""


class GpuShares(NamedTuple):
    """How pods share the devices that a resource counts."""

    text: str
    """What tells, for a sentence."""
    is_refused: bool = False
    """Whether the kubelet refuses requests above one."""


class PluginConfig(NamedTuple):
    """One configuration of the device plugin."""

    key: str
    shares: dict[str, GpuShares]
    """By resource name."""


def pins_slices(spec: Json) -> bool:
    """Return whether a pod selects nodes whose GPUs are MIG slices, which count as whole GPUs there."""
    return any(all("-MIG-" in value for value in values) for _, values in pinned_values(spec, _PRODUCT))


def shares_of(spec: Json, resource: str, stream: Stream) -> GpuShares | None:
    """Return how pods share the devices that a pod requests by a resource name, or None if nothing says so."""
    if resource.endswith(".shared"):
        return GpuShares(resource)
    if resource != "nvidia.com/gpu":
        return None

    for _, values in pinned_values(spec, _PRODUCT):
        if all(value.endswith("-SHARED") for value in values):
            return GpuShares(f"{_PRODUCT} {values[0]}")
    for label, sharing in _STRATEGIES.items():
        for _, values in pinned_values(spec, label):
            if values and set(values) <= set(sharing):
                return GpuShares(f"{label} {values[0]}", is_refused=label.startswith("cloud.google.com/"))
    return _shares_by_plugin(spec, resource, stream)


def _shares_by_plugin(spec: Json, resource: str, stream: Stream) -> GpuShares | None:
    """Return the sharing by each configuration that the pod's node may have, or None."""
    configs = stream.cached(_configs_in)
    pinned = {value for _, values in pinned_values(spec, _PLUGIN_CONFIG) for value in values}
    shares = [config.shares.get(resource) for config in configs if not pinned or config.key in pinned]
    return shares[0] if shares and None not in shares else None


def _configs_in(stream: Stream) -> list[PluginConfig]:
    return plugin_configs(stream.objects.of_kind(("v1", "ConfigMap")))


def plugin_configs(config_maps: Iterable[Json]) -> list[PluginConfig]:
    """Return the configurations of the device plugin among ConfigMaps."""
    return [
        PluginConfig(key, dict(_shares_in(as_mapping(config))))
        for manifest in config_maps
        for key, text in string_map(manifest.get("data")).items()
        if (config := _read_config(text)) is not None
    ]


def _read_config(text: str) -> Json | None:
    """Return a configuration of the device plugin, or None for another text."""
    if "version: v1" not in text or not ("sharing:" in text or "migStrategy" in text):
        return None
    from ptcompile.source.documents import read

    documents = read(text).documents
    data = as_mapping(documents[0].data) if documents else {}
    return data if data.get("version") == "v1" else None


def _shares_in(config: Json) -> Iterator[tuple[str, GpuShares]]:
    for how, name in (("timeSlicing", "time slicing"), ("mps", "MPS")):
        sharing = nested_map(config, "sharing", how)
        is_refused = sharing.get("failRequestsGreaterThanOne", how == "mps") is True
        for item in as_mappings(sharing.get("resources")):
            if sharing.get("renameByDefault") is not True and not item.get("rename") and item.get("replicas") != 1:
                yield as_string(item.get("name")), GpuShares(f"{name} in the device plugin's ConfigMap", is_refused)
