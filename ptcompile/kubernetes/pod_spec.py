"""Facts about pods from core/v1: the nodes that one asks for, merge keys of lists, shared
memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import (
    FieldPath,
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
)

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
"""The key by which a strategic merge patch identifies an item of each list (Kubernetes 1.36,
core/v1).
"""

OBJECT_KEYS = {
    **MERGE_KEYS,
    "replicatedJobs": "name",
    "tasks": "name",
    "dependsOn": "name",
    "runtimePatches": "manager",
}
"""`MERGE_KEYS` and those of lists in the operators' objects, for a spec's `manifest`."""


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def terms_of(spec: Json) -> list[Json]:
    """Return the terms of a pod's required node affinity, of which one must match."""
    return nested_maps(spec, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")


def pinned_values(spec: Json, label: str) -> Iterator[tuple[FieldPath, list[str]]]:
    """Yield where a pod's selector or affinity pins a label, as a path in the pod spec, and the
    values that it allows.

    Terms are alternatives: if there are several, each must pin the label, and all their values are
    allowed.
    """
    selector = nested_string_map(spec, "nodeSelector")
    if label in selector:
        yield ("nodeSelector", label), [selector[label]]

    pins: list[tuple[FieldPath, list[str]]] = []
    terms = terms_of(spec)
    for term_index, term in enumerate(terms):
        for index, expression in enumerate(nested_maps(term, "matchExpressions")):
            if (
                nested_string(expression, "key") == label
                and nested_string(expression, "operator") == "In"
            ):
                path = (
                    "affinity",
                    "nodeAffinity",
                    REQUIRED,
                    "nodeSelectorTerms",
                    term_index,
                    "matchExpressions",
                    index,
                )
                pins.append((path, nested_strings(expression, "values")))
                break

    if pins and len(pins) == len(terms):
        (first_path, _), *_ = pins
        yield first_path, list(dict.fromkeys(value for _, values in pins for value in values))


def request_path(spec: Json, name: str) -> FieldPath:
    """Return the path in a pod spec of the first request, or limit, of a resource; empty if no
    container has it.
    """
    for key in ("initContainers", "containers"):
        containers = spec.get(key)
        for i, container in enumerate(containers if isinstance(containers, list | tuple) else ()):
            for half in ("requests", "limits"):
                if name in nested_map(container, "resources", half):
                    return key, i, "resources", half, name
    return ()


GRACE_SECONDS = 30
"""Default of `terminationGracePeriodSeconds` (Kubernetes 1.36)."""


def grace_seconds(spec: Json) -> int:
    """Return how long a pod may run after SIGTERM, in seconds."""
    return nested_int(spec, "terminationGracePeriodSeconds", default=GRACE_SECONDS)


SHM_PATH = "/dev/shm"  # noqa: S108 - compared with and mounted, never written to
