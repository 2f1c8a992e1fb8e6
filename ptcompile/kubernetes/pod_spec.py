"""Facts of core/v1 about pods: the nodes that admit one, merge keys of lists, shared memory."""

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
"""The key by which a patch finds the item it means, as strategic merge patch does (Kubernetes 1.36, core/v1)."""

OBJECT_KEYS = {
    **MERGE_KEYS,
    "replicatedJobs": "name",
    "tasks": "name",
    "dependsOn": "name",
    "runtimePatches": "manager",
}
"""With those of the operators' own objects, for a spec's `manifest`."""


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def terms_of(spec: Json) -> list[Json]:
    """The terms of a pod's required node affinity, of which one must hold."""
    return as_mappings(nested_map(spec, "affinity", "nodeAffinity", _REQUIRED).get("nodeSelectorTerms"))


def admits(spec: Json, labels: Mapping[str, str]) -> bool:
    """Whether a pod's selector and required affinity may hold on a node with these labels.

    A label that is not given is unknown, and taken to be as the pod wants it.
    """
    selector = string_map(spec.get("nodeSelector"))
    if any(labels.get(key, value) != value for key, value in selector.items()):
        return False
    terms = terms_of(spec)
    return not terms or any(
        all(_may_hold(one, labels) for one in as_mappings(t.get("matchExpressions"))) for t in terms
    )


def _may_hold(expression: Json, labels: Mapping[str, str]) -> bool:
    key, values = as_string(expression.get("key")), as_strings(expression.get("values"))
    if key not in labels:
        return True
    operator = as_string(expression.get("operator"))
    known = {"In": labels[key] in values, "NotIn": labels[key] not in values, "DoesNotExist": False}
    return known.get(operator, True)


def tolerates(spec: Json, key: str, value: str, effect: str) -> bool:
    """Whether a pod tolerates a taint."""
    for one in as_mappings(spec.get("tolerations")):
        if as_string(one.get("effect")) not in ("", effect):
            continue
        if as_string(one.get("operator")) == "Exists":
            if as_string(one.get("key")) in ("", key):
                return True
        elif as_string(one.get("key")) == key and as_string(one.get("value")) == value:
            return True
    return False


def pinned(spec: Json, label: str) -> Iterator[tuple[tuple[str | int, ...], list[str]]]:
    """Where a pod's selector or affinity pins a label, by the path in its spec, and the values that it leaves.

    Terms are alternatives: where there are several, each must pin the label, and together they leave all their values.
    """
    selector = string_map(spec.get("nodeSelector"))
    if label in selector:
        yield ("nodeSelector", label), [selector[label]]
    found: list[tuple[tuple[str | int, ...], list[str]]] = []
    terms = terms_of(spec)
    for number, term in enumerate(terms):
        for index, one in enumerate(as_mappings(term.get("matchExpressions"))):
            if as_string(one.get("key")) == label and as_string(one.get("operator")) == "In":
                path = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms", number, "matchExpressions", index)
                found.append((path, as_strings(one.get("values"))))
                break
    if found and len(found) == len(terms):
        yield found[0][0], [value for _, values in found for value in values]


PATH: Final = "/dev/shm"  # noqa: S108 - compared with and mounted, never written to
