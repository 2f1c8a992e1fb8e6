"""Fields of a ClusterProfile that a cluster's objects of Kueue show."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds.model import ObjectsByKind
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.operators.kueue.queues import admission_checks
from ptcompile.source import documents


def profile_fields(by_kind: ObjectsByKind) -> JsonDict:
    """Return `queueFrameworks` and `multiKueue`, if the objects, by kind, show more than their
    defaults.
    """
    fields: JsonDict = {}
    if frameworks := _frameworks(by_kind):
        fields["queueFrameworks"] = frameworks
    if _is_manager(by_kind):
        fields["multiKueue"] = True
    return fields


def _frameworks(by_kind: ObjectsByKind) -> list[str]:
    """Return the kinds beyond the defaults that Kueue's configuration switches on."""
    from typing import get_args

    from ptcompile.spec.cluster_profile import QueueFramework

    frameworks: set[str] = set()
    for configuration in _configurations(by_kind):
        frameworks.update(nested_strings(configuration, "integrations", "frameworks"))

    return [name for name in get_args(QueueFramework) if name in frameworks]


def _configurations(by_kind: ObjectsByKind) -> Iterator[Json]:
    """Yield the configurations of controllers, which are objects or files in ConfigMaps."""
    yield from by_kind.get("Configuration", ())
    for config_map in by_kind.get("ConfigMap", ()):
        for text in nested_string_map(config_map, "data").values():
            if "kind: Configuration" in text:
                yield from (document.data for document in documents.read(text).documents)


def _is_manager(by_kind: ObjectsByKind) -> bool:
    """Return whether the jobs of every ClusterQueue run in other clusters."""
    checks = {
        object_name(check)
        for check in by_kind.get("AdmissionCheck", ())
        if nested_value(check, "spec", "controllerName") == "kueue.x-k8s.io/multikueue"
    }
    queues = by_kind.get("ClusterQueue", ())
    for queue in queues:
        if checks.isdisjoint(admission_checks(nested_map(queue, "spec"))):
            return False
    return bool(queues)
