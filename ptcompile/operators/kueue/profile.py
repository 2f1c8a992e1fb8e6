"""Fields of a ClusterProfile that a cluster's objects of Kueue show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mappings,
    as_string,
    as_strings,
    nested_map,
    nested_value,
    object_name,
    string_map,
)
from ptcompile.source import documents


def profile_fields(by_kind: Mapping[str, Sequence[Json]]) -> JsonDict:
    """Return `queueFrameworks` and `multiKueue`, if the objects, by kind, show more than their
    defaults.
    """
    frameworks = _frameworks(by_kind)
    return {
        **({"queueFrameworks": frameworks} if frameworks else {}),
        **({"multiKueue": True} if _is_manager(by_kind) else {}),
    }


def _frameworks(by_kind: Mapping[str, Sequence[Json]]) -> list[str]:
    """Return the kinds beyond the defaults that Kueue's configuration switches on."""
    from typing import get_args

    from ptcompile.spec.cluster_profile import QueueFramework

    frameworks = {
        name
        for configuration in _configurations(by_kind)
        for name in as_strings(nested_value(configuration, "integrations", "frameworks"))
    }

    return [name for name in get_args(QueueFramework) if name in frameworks]


def _configurations(by_kind: Mapping[str, Sequence[Json]]) -> Iterator[Json]:
    """Yield the configurations of controllers, which are objects or files in ConfigMaps."""
    yield from by_kind.get("Configuration", ())
    for config_map in by_kind.get("ConfigMap", ()):
        for text in string_map(config_map.get("data")).values():
            if "kind: Configuration" in text:
                yield from (document.data for document in documents.read(text).documents)


def _is_manager(by_kind: Mapping[str, Sequence[Json]]) -> bool:
    """Return whether the jobs of every ClusterQueue run in other clusters."""
    checks = {
        object_name(check)
        for check in by_kind.get("AdmissionCheck", ())
        if nested_value(check, "spec", "controllerName") == "kueue.x-k8s.io/multikueue"
    }
    queues = by_kind.get("ClusterQueue", ())
    return bool(queues) and all(not checks.isdisjoint(_checks_of(queue)) for queue in queues)


def _checks_of(cluster_queue: Json) -> set[str]:
    spec = nested_map(cluster_queue, "spec")
    strategies = as_mappings(nested_value(spec, "admissionChecksStrategy", "admissionChecks"))
    return {
        *as_strings(spec.get("admissionChecks")),
        *(as_string(check.get("name")) for check in strategies),
    }
