"""What an absent field means: a field at its default on one side and absent on the other is not a difference.

A row is the end of a path, `*` for an item of a list or a key of a mapping that people choose, and before it all
the kind where it is one kind's. The longest row counts. The rows here are the defaulting of Kubernetes 1.36 (core/v1);
each operator has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.registry.model import NO_DEFAULTS, KeyPath, KindDefaults
from ptcompile.registry.table import OPERATORS, kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_EMPTY = frozenset(
    {
        "resources", "requests", "limits", "securityContext", "env", "envFrom", "labels", "annotations", "tolerations",
        "nodeSelector", "affinity", "volumes", "volumeMounts", "ports", "command", "args", "imagePullSecrets",
        "initContainers", "runPolicy", "volumeDevices", "hostAliases", "selector",
    }
)  # fmt: skip
"""Fields that mean nothing when they are empty."""

_FALSE = frozenset(
    {
        "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "stdin", "stdinOnce", "tty", "readOnly",
        "privileged", "readOnlyRootFilesystem", "runAsNonRoot", "optional", "suspend", "manualSelector",
        "publishNotReadyAddresses", "runLauncherAsNode", "setHostnameAsFQDN",
    }
)  # fmt: skip

_PRESENT = frozenset(
    {
        "networkTopology", "coscheduling", "mpi", "flux", "partitionPolicy", "emptyDir", "hostPath", "configMap",
        "secret", "downwardAPI", "projected", "httpGet", "livenessProbe", "readinessProbe", "startupProbe",
    }
)  # fmt: skip
"""Mappings that say something by being there, whatever is in them."""

_POD: dict[str, Any] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
    "serviceAccountName": "default",
    "preemptionPolicy": "PreemptLowerPriority",
}
_CONTAINER: dict[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE: dict[str, Any] = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_CONTAINERS = ("containers", "initContainers")

_ROWS: dict[KeyPath, Any] = {
    ("metadata", "namespace"): "default",
    **{("template", "spec", field): value for field, value in _POD.items()},
    **{("Pod", "spec", field): value for field, value in _POD.items()},
    **{(key, "*", field): value for key in _CONTAINERS for field, value in _CONTAINER.items()},
    **{(probe, field): value for probe in _PROBES for field, value in _PROBE.items()},
    ("httpGet", "scheme"): "HTTP",
    ("httpGet", "path"): "/",
    ("env", "*", "value"): "",
    ("fieldRef", "apiVersion"): "v1",
    ("tolerations", "*", "operator"): "Equal",
    ("ports", "*", "protocol"): "TCP",
    ("emptyDir", "medium"): "",
    ("hostPath", "type"): "",
    **{(source, "defaultMode"): 0o644 for source in ("configMap", "secret", "downwardAPI", "projected")},
    ("Service", "spec", "type"): "ClusterIP",
    ("Service", "spec", "sessionAffinity"): "None",
    ("Service", "spec", "internalTrafficPolicy"): "Cluster",
    ("PersistentVolumeClaim", "spec", "volumeMode"): "Filesystem",
}


def _pull(container: Json) -> Any:
    """Always for a moving tag or none, else IfNotPresent."""
    image = container.get("image")
    if not isinstance(image, str):
        return NO_DEFAULTS
    last = image.rpartition("/")[2]
    moving = "@" not in last and (":" not in last or last.endswith(":latest"))
    return "Always" if moving else "IfNotPresent"


_COMPUTED: dict[KeyPath, Callable[[Json], Any]] = {
    **{(key, "*", "imagePullPolicy"): _pull for key in _CONTAINERS},
    ("Service", "spec", "ports", "*", "targetPort"): lambda port: port.get("port", NO_DEFAULTS),
}
"""Defaults that come from the mapping that would hold the field."""


@cache
def _known() -> KindDefaults:
    """The rows of Kubernetes' own and of every operator."""
    rows, computed = dict(_ROWS), dict(_COMPUTED)
    for one in OPERATORS:
        if (more := one.defaults()) is not None:
            rows |= more.values
            computed |= more.computed
    return KindDefaults(rows, computed)


def is_default(path: KeyPath, value: Any, side: Json) -> bool:
    """Whether a value that the other side has is what an absent field means in this one.

    `side` is the object without it, in its normal form; `path` leads there.
    """
    if path[-1] in _EMPTY and value in ({}, []):
        return True
    if default(path, side) == value:
        return True
    if path[-1] in _PRESENT:
        return False
    # A mapping of defaults alone, where the server would make one.
    return isinstance(value, Mapping) and bool(value) and all(is_default((*path, k), v, side) for k, v in value.items())


def default(path: KeyPath, side: Json) -> Any:
    """What an absent field means, or `NOTHING`."""
    place = _place(path, side)
    if place[-2:-1] == ("requests",) and kind_named(kind_of(side)).requests_default:
        return _below(side, (*path[:-2], "limits")).get(path[-1], NO_DEFAULTS)
    known = _known()
    for start in range(len(place)):
        row = place[start:]
        if row in known.computed:
            return known.computed[row](_below(side, path[:-1]))
        if row in known.values:
            return known.values[row]
    return False if path[-1] in _FALSE else NO_DEFAULTS


def _place(path: KeyPath, side: Json) -> KeyPath:
    """The kind and the path, with `*` for names: a kind of two groups is told apart."""
    kind, version = str(side.get("kind")), str(side.get("apiVersion"))
    group = version.rpartition("/")[0]
    out = [f"{group}/{kind}" if kind in {"Job", "PodGroup"} else kind]
    for i, part in enumerate(path):
        held = path[i - 1] if i else ""
        out.append("*" if part.startswith("[") or held == "pytorchReplicaSpecs" else part)
    return tuple(out)


def _below(side: Json, path: KeyPath) -> Json:
    value: Any = side
    for part in path:
        key = part[1:-1] if part.startswith("[") else part
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
