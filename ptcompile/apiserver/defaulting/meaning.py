"""Meanings of absent fields: a default on one side and an absent field on the other count as equal.

A row is the end of a path, with `*` for a list item or a mapping key that users choose, after the
kind if the default belongs to a single kind. The longest matching row applies. The rows here are
the defaults of Kubernetes 1.36, taken from `pods` and `built_in`; each operator has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.defaulting.built_in import BUILT_IN_DEFAULTS
from ptcompile.apiserver.defaulting.pods import (
    VOLUME_DEFAULTS,
    default_container,
    default_pod,
    default_probe,
    default_pull_policy,
)
from ptcompile.kinds.model import NO_DEFAULTS, KeyPath, KindDefaults
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_map, without_keys
from ptcompile.operators.table import OPERATORS, record_of

_FIELDS = load_table("apiserver/defaulting/fields.json")
_EMPTY_MEANS_ABSENT = frozenset(_FIELDS["empty means absent"])
"""Fields that mean the same when empty and when absent."""

_FALSE_BY_DEFAULT = frozenset(_FIELDS["false by default"])

_PRESENCE_MATTERS = frozenset(_FIELDS["presence matters"])
"""Mappings whose presence matters even if they are empty."""

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_CONTAINERS = ("containers", "initContainers")


def _scalars(fields: Json) -> JsonDict:
    """Return the fields that are neither mappings nor lists."""
    return {name: value for name, value in fields.items() if not isinstance(value, dict | list)}


def _defaults_of_empty(fill: Callable[[JsonDict], None]) -> JsonDict:
    """Return the fields that defaulting gives an empty object."""
    fields: JsonDict = {}
    fill(fields)
    return fields


_POD_DEFAULTS = {
    **_scalars(_defaults_of_empty(default_pod)["spec"]),
    # admission plugins write these
    "serviceAccountName": "default",
    "preemptionPolicy": "PreemptLowerPriority",
}
_CONTAINER_DEFAULTS = without_keys(
    _scalars(_defaults_of_empty(default_container)), "imagePullPolicy"
)
_PROBE_DEFAULTS = _defaults_of_empty(default_probe)
_SERVICE_DEFAULTS = _scalars(_defaults_of_empty(BUILT_IN_DEFAULTS["v1", "Service"])["spec"])
_DEFAULTS: dict[KeyPath, Any] = {
    ("metadata", "namespace"): "default",
    **{
        (kind, "spec", field): value
        for kind in ("template", "Pod")
        for field, value in _POD_DEFAULTS.items()
    },
    **{
        (key, "*", field): value
        for key in _CONTAINERS
        for field, value in _CONTAINER_DEFAULTS.items()
    },
    **{(probe, field): value for probe in _PROBES for field, value in _PROBE_DEFAULTS.items()},
    ("httpGet", "scheme"): "HTTP",
    ("httpGet", "path"): "/",
    ("env", "*", "value"): "",
    ("fieldRef", "apiVersion"): "v1",
    ("tolerations", "*", "operator"): "Equal",
    ("ports", "*", "protocol"): "TCP",
    ("emptyDir", "medium"): "",
    **{
        (source, field): value
        for source, values in VOLUME_DEFAULTS.items()
        for field, value in values.items()
    },
    **{("Service", "spec", field): value for field, value in _SERVICE_DEFAULTS.items()},
    ("PersistentVolumeClaim", "spec", "volumeMode"): "Filesystem",
    ("requests", "*", "allocationMode"): "ExactCount",
    ("requests", "*", "exactly", "allocationMode"): "ExactCount",
}


def _default_pull_policy(container: Json) -> Any:
    """Return the default pull policy, or none for a container without an image, whose kind may
    have one elsewhere.
    """
    image = container.get("image")
    if isinstance(image, str):
        return default_pull_policy(image)
    return NO_DEFAULTS


_COMPUTED_DEFAULTS: dict[KeyPath, Callable[[Json], Any]] = {
    **{(key, "*", "imagePullPolicy"): _default_pull_policy for key in _CONTAINERS},
    ("Service", "spec", "ports", "*", "targetPort"): lambda port: port.get("port", NO_DEFAULTS),
}
"""Defaults computed from the mapping that would hold the field."""


@cache
def _all_defaults() -> KindDefaults:
    """Return the defaults of Kubernetes and of every operator."""
    rows = dict(_DEFAULTS)
    computed = dict(_COMPUTED_DEFAULTS)
    for operator in OPERATORS:
        if (defaults := operator.defaults()) is not None:
            rows |= defaults.values
            computed |= defaults.computed
    return KindDefaults(rows, computed)


def is_default(path: KeyPath, value: Any, side: Json) -> bool:
    """Return whether a value of the other object equals the default of the field that is absent in
    this one.

    `side` is the object without the field, in normal form; `path` is the field's path.
    """
    if path[-1] in _EMPTY_MEANS_ABSENT and value in ({}, []):
        return True
    if default_of(path, side) == value:
        return True
    if path[-1] in _PRESENCE_MATTERS:
        return False
    # the server would create a mapping of only defaults
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(is_default((*path, k), v, side) for k, v in value.items())
    )


def default_of(path: KeyPath, side: Json) -> Any:
    """Return the value that an absent field means, or `NO_DEFAULTS`."""
    pattern = _path_pattern(path, side)
    if pattern[-2:-1] == ("requests",) and record_of(side).requests_default:
        return _mapping_at(side, (*path[:-2], "limits")).get(path[-1], NO_DEFAULTS)

    defaults = _all_defaults()
    for start in range(len(pattern)):
        row = pattern[start:]
        if row in defaults.computed:
            return defaults.computed[row](_mapping_at(side, path[:-1]))
        if row in defaults.values:
            return defaults.values[row]

    return False if path[-1] in _FALSE_BY_DEFAULT else NO_DEFAULTS


def _path_pattern(path: KeyPath, side: Json) -> KeyPath:
    """Return the kind and the path, with `*` for names. A kind that two groups define gets its
    group.
    """
    group, kind = group_and_kind(side)
    pattern = [f"{group}/{kind}" if kind in {"Job", "PodGroup"} else kind]
    for i, part in enumerate(path):
        parent = path[i - 1] if i else ""
        pattern.append("*" if part.startswith("[") or parent == "pytorchReplicaSpecs" else part)
    return tuple(pattern)


def _mapping_at(side: Json, path: KeyPath) -> Json:
    return nested_map(side, *(part[1:-1] if part.startswith("[") else part for part in path))
