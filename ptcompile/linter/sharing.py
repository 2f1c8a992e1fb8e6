"""GPUs that several pods share: by resource names, node labels and the configuration of NVIDIA's
device plugin.

Source: NVIDIA/k8s-device-plugin 0.20, README.md, api/config/v1/config.go, internal/lm/resource.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.nodes import fits
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
)
from ptcompile.world.workload import Stream

_PRODUCT = "nvidia.com/gpu.product"
_PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
"""Label of a node whose value is the key of its configuration in the plugin's ConfigMap."""
_STRATEGIES = {
    "nvidia.com/gpu.sharing-strategy": {"time-slicing": "time-slicing", "mps": "mps"},
    "cloud.google.com/gke-gpu-sharing-strategy": {"time-sharing": "time-slicing", "mps": "mps"},
}
"""Labels of nodes that share their GPUs, with the values that say so, and what divides the GPUs."""
_PRODUCT_MARKS = {"-MIG-": "mig", "-SHARED": ""}
"""What the product label adds to the model where a device is a part of a GPU."""
_LABELS = frozenset({_PRODUCT, *_STRATEGIES})
_MPS_MAY_ALLOW = (0, 20)
"""The release of the device plugin since which failRequestsGreaterThanOne may be false with MPS."""


class GpuShares(NamedTuple):
    """How pods share the devices that a resource counts."""

    text: str
    """What decides that, for a sentence: a label, the device plugin or the profile."""
    is_refused: bool = False
    """Whether the kubelet refuses requests above one."""
    strategy: str = ""
    """What divides a GPU, as in `gpu.sharing` of a profile; empty if unknown."""


class PluginConfig(NamedTuple):
    """One configuration of the device plugin."""

    key: str
    shares: dict[str, GpuShares]
    """By resource name."""


def shares_of(spec: Json, resource: str, stream: Stream) -> GpuShares | None:
    """Return how pods share the devices that a pod requests by a resource name, or None if that
    is unknown.

    The labels that the pod selects come first, then those of all nodes that take the pod, the
    configuration of the device plugin, the profile.
    """
    shares = _shares_of(spec, resource, stream)
    always_refuses = stream.versions.device_plugin < _MPS_MAY_ALLOW
    if shares and shares.strategy == "mps" and always_refuses:
        return shares._replace(is_refused=True)
    return shares


def _shares_of(spec: Json, resource: str, stream: Stream) -> GpuShares | None:
    """Return how pods share devices, as `shares_of` does, by the first source that tells."""
    if resource.endswith(".shared"):
        return GpuShares(resource)
    if resource != "nvidia.com/gpu":
        return None

    selected = {label: values for label in _LABELS for _, values in pinned_values(spec, label)}
    shares = _shares_by_labels(selected)
    if shares is not None:
        return shares
    groups = fits(spec, stream.pools.groups).fitting if stream.pools is not None else ()
    labeled = [
        _shares_by_labels(group.labels) for group in groups if not _LABELS.isdisjoint(group.labels)
    ]
    if labeled and len(labeled) == len(groups):
        return labeled[0] if None not in labeled else None

    return _shares_by_plugin(spec, resource, stream) or _shares_by_profile(stream)


def _shares_by_labels(values: Mapping[str, Sequence[str]]) -> GpuShares | None:
    """Return the sharing of nodes by the values that their labels may have, or None."""
    for label, strategies in _STRATEGIES.items():
        chosen = values.get(label, ())
        if chosen and strategies.keys() >= {*chosen}:
            value, *_ = chosen
            is_refused = label.startswith("cloud.google.com/")
            return GpuShares(f"{label} {value}", is_refused, strategies[value])

    products = values.get(_PRODUCT, ())
    for mark, strategy in _PRODUCT_MARKS.items():
        if products and all(mark in product for product in products):
            return GpuShares(f"{_PRODUCT} {products[0]}", strategy=strategy)

    return None


def _shares_by_profile(stream: Stream) -> GpuShares | None:
    if stream.versions.gpu_shares is None:
        return None
    strategy, is_refused = stream.versions.gpu_shares
    return GpuShares(
        f"{strategy} by the profile",
        strategy == "mps" if is_refused is None else is_refused,
        strategy,
    )


def _shares_by_plugin(spec: Json, resource: str, stream: Stream) -> GpuShares | None:
    """Return the sharing by each configuration that the pod's node may have, or None."""
    configs = stream.cached(_configs_in)
    pinned = {value for _, values in pinned_values(spec, _PLUGIN_CONFIG) for value in values}
    shares = [
        config.shares.get(resource) for config in configs if not pinned or config.key in pinned
    ]
    return shares[0] if shares and None not in shares else None


def _configs_in(stream: Stream) -> list[PluginConfig]:
    return plugin_configs(stream.objects.of_kind(("v1", "ConfigMap")))


def plugin_configs(config_maps: Iterable[Json]) -> list[PluginConfig]:
    """Return the configurations of the device plugin among ConfigMaps."""
    return [
        PluginConfig(key, dict(_shares_in(as_mapping(config))))
        for manifest in config_maps
        for key, text in nested_string_map(manifest, "data").items()
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
    """Yield the resources that a configuration shares, and how."""
    for how, name in (("timeSlicing", "time slicing"), ("mps", "MPS")):
        sharing = nested_map(config, "sharing", how)
        is_refused = sharing.get("failRequestsGreaterThanOne", how == "mps") is True
        text = f"{name} in the device plugin's ConfigMap"
        for item in nested_maps(sharing, "resources"):
            if (
                sharing.get("renameByDefault") is not True
                and not item.get("rename")
                and item.get("replicas") != 1
            ):
                yield (
                    nested_string(item, "name"),
                    GpuShares(text, is_refused, name.replace(" ", "-").lower()),
                )
