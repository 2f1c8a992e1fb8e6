"""Facts about pods from core/v1: which nodes accept one, merge keys of lists, shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map, string_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json


MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
}
"""The key by which a strategic merge patch identifies an item of each list (Kubernetes 1.36, core/v1)."""

OBJECT_KEYS = {
    **MERGE_KEYS,
    "replicatedJobs": "name",
    "tasks": "name",
    "dependsOn": "name",
    "runtimePatches": "manager",
}
"""`MERGE_KEYS` and those of lists in the operators' objects, for a spec's `manifest`."""


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def terms_of(spec: Json) -> list[Json]:
    """Return the terms of a pod's required node affinity, of which one must match."""
    return as_mappings(nested_map(spec, "affinity", "nodeAffinity", _REQUIRED).get("nodeSelectorTerms"))


def admits(spec: Json, labels: Mapping[str, str]) -> bool:
    """Return whether a pod's selector and required affinity may match a node with these labels.

    A label that is missing is unknown, and is assumed to match.
    """
    selector = string_map(spec.get("nodeSelector"))
    if any(labels.get(key, value) != value for key, value in selector.items()):
        return False
    terms = terms_of(spec)
    return not terms or any(
        all(_may_hold(expression, labels) for expression in as_mappings(term.get("matchExpressions"))) for term in terms
    )


def _may_hold(expression: Json, labels: Mapping[str, str]) -> bool:
    key, values = as_string(expression.get("key")), as_strings(expression.get("values"))
    if key not in labels:
        return True
    operator = as_string(expression.get("operator"))
    results = {"In": labels[key] in values, "NotIn": labels[key] not in values, "DoesNotExist": False}
    return results.get(operator, True)


def tolerates(spec: Json, key: str, value: str, effect: str) -> bool:
    """Return whether a pod tolerates a taint."""
    for toleration in as_mappings(spec.get("tolerations")):
        if as_string(toleration.get("effect")) not in ("", effect):
            continue
        if as_string(toleration.get("operator")) == "Exists":
            if as_string(toleration.get("key")) in ("", key):
                return True
        elif as_string(toleration.get("key")) == key and as_string(toleration.get("value")) == value:
            return True
    return False


def pinned_values(spec: Json, label: str) -> Iterator[tuple[tuple[str | int, ...], list[str]]]:
    """Yield where a pod's selector or affinity pins a label, as a path in the pod spec, and the values that it allows.

    Terms are alternatives: if there are several, each must pin the label, and all their values are allowed.
    """
    selector = string_map(spec.get("nodeSelector"))
    if label in selector:
        yield ("nodeSelector", label), [selector[label]]
    pins: list[tuple[tuple[str | int, ...], list[str]]] = []
    terms = terms_of(spec)
    for term_index, term in enumerate(terms):
        for index, expression in enumerate(as_mappings(term.get("matchExpressions"))):
            if as_string(expression.get("key")) == label and as_string(expression.get("operator")) == "In":
                path = (
                    "affinity",
                    "nodeAffinity",
                    _REQUIRED,
                    "nodeSelectorTerms",
                    term_index,
                    "matchExpressions",
                    index,
                )
                pins.append((path, as_strings(expression.get("values"))))
                break
    if pins and len(pins) == len(terms):
        yield pins[0][0], list(dict.fromkeys(value for _, values in pins for value in values))


SHM_PATH: Final = "/dev/shm"  # noqa: S108 - compared with and mounted, never written to
