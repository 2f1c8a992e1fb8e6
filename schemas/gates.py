"""The feature gate of each field of Kubernetes' own kinds: `x-gate`, and `x-gate-on`, the first
version with it on.

The API server drops a field whose gate is off. The released schemas name most gates in the
descriptions of fields; `UNNAMED` has the others and `KEPT` the fields that are not dropped.
`kubernetes/gates.json` has the releases of each gate, as `read_source` finds them in
`pkg/features/kube_features.go`, or as kubernetes.io's page of feature gates says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

HERE = Path(__file__).resolve().parent
OLDEST = 30

_NAMED = tuple(
    re.compile(pattern)
    for pattern in (
        r"[Rr]equires?(?: enabling| that)?(?: the)? `?([A-Z]\w+)`? feature ?gate",
        r"[Rr]equires? enabling(?: the)? ([A-Z]\w+) feature",
        r"must enable the `([A-Z]\w+)` feature gate",
        r"when the(?: alpha)? (?:feature gate `?([A-Z]\w+)`?|`?([A-Z]\w+)`? feature gate) is "
        r"enabled",
        r"gated by the ([A-Z]\w+) feature gate",
        r"servers that enable the ([A-Z]\w+) feature",
        r"depends on the ([A-Z]\w+) feature gate",
    )
)
"""How the descriptions of fields name the gate without which the server drops the field."""

UNNAMED: Mapping[tuple[str, str], str] = {
    **{
        (f"{version}.{name}", "capacity"): "DRAConsumableCapacity"
        for version in ("v1", "v1beta1", "v1beta2")
        for name in ("DeviceRequest", "DeviceSubRequest", "ExactDeviceRequest")
    },
    **{
        (f"{version}.DeviceConstraint", "distinctAttribute"): "DRAConsumableCapacity"
        for version in ("v1", "v1beta1", "v1beta2")
    },
    ("Container", "resizePolicy"): "InPlacePodVerticalScaling",
    ("Container", "restartPolicyRules"): "ContainerRestartRules",
    ("EphemeralContainer", "restartPolicyRules"): "ContainerRestartRules",
    ("GRPCAction", "mode"): "GRPCContainerProbeTLS",
    ("HTTPGetAction", "protocol"): "H2CContainerProbe",
    ("Lifecycle", "stopSignal"): "ContainerStopSignals",
    ("PersistentVolumeSpec", "volumeAttributesClassName"): "VolumeAttributesClass",
    ("PodSecurityContext", "seLinuxChangePolicy"): "SELinuxChangePolicy",
    ("PodSpec", "evictionResponders"): "EvictionRequestAPI",
    ("PodSpec", "hostUsers"): "UserNamespacesSupport",
    ("PodSpec", "schedulingGroup"): "GenericWorkload",
    ("PodSpec", "workloadRef"): "GenericWorkload",
    ("SecurityContext", "procMount"): "ProcMountType",
    ("Volume", "image"): "ImageVolume",
    ("VolumeMount", "recursiveReadOnly"): "RecursiveReadOnlyMounts",
    ("VolumeProjection", "podCertificate"): "PodCertificateRequest",
    ("v1.LeaseSpec", "preferredHolder"): "CoordinatedLeaderElection",
    ("v1.DeviceClassSpec", "extendedResourceName"): "DRAExtendedResource",
    ("v1beta1.DeviceClassSpec", "extendedResourceName"): "DRAExtendedResource",
    ("v1beta2.DeviceClassSpec", "extendedResourceName"): "DRAExtendedResource",
    ("v1.DeviceRequest", "firstAvailable"): "DRAPrioritizedList",
    ("v1beta1.DeviceRequest", "firstAvailable"): "DRAPrioritizedList",
    ("v1beta2.DeviceRequest", "firstAvailable"): "DRAPrioritizedList",
}
"""Gates that no description names: Kubernetes 1.30 to 1.35, pkg/api/pod, util.go and pkg/registry,
strategy.go (the functions `dropDisabled...`); those that begin with 1.37: kubernetes.io, Feature
Gates.
"""

KEPT = frozenset(
    {
        (
            "v1alpha1.LeaseCandidateSpec",
            "preferredStrategies",
        ),  # without the gate, the kind is not served
        ("v1alpha2.LeaseCandidateSpec", "strategy"),
        ("PersistentVolumeClaimSpec", "dataSource"),
        (
            "PersistentVolumeClaimSpec",
            "dataSourceRef",
        ),  # AnyVolumeDataSource, on since 1.24; see TypedObjectReference
        ("PodFailurePolicyRule", "action"),
        ("PodResourceClaim", "resourceClaimTemplateName"),
        ("Probe", "terminationGracePeriodSeconds"),  # the gate is gone, and the field stayed
    }
)
"""Fields whose descriptions name a gate that decides something else than whether the field is
kept.
"""

PARENTS: Mapping[tuple[str, str], str] = {("TypedObjectReference", "namespace"): "dataSourceRef"}
"""The whole field that the server drops, where it is not the field itself
(pkg/api/persistentvolumeclaim/util.go).
"""


def of_field(name: str, field: str, descriptions: Iterable[str]) -> Schema:
    """Return `x-gate` and `x-gate-on` of a field, by its descriptions in all versions; empty if
    no gate drops it.
    """
    if (name, field) in KEPT:
        return {}

    gate = gate_of(name, field, descriptions)
    stages = stages_of_all()["kubernetes"].get(gate)
    if stages is None or name.endswith("Status"):
        return {}

    on = [
        since
        for since, *_ in stages
        if all(default for later, _, default, *_ in stages if later >= since)
    ]
    part: Schema = {"x-gate-drops": PARENTS[name, field]} if (name, field) in PARENTS else {}

    return {"x-gate": gate, **part, **({"x-gate-on": f"1.{max(on[0], OLDEST)}"} if on else {})}


def gate_of(name: str, field: str, descriptions: Iterable[str]) -> str:
    """Return the gate of a field, or an empty text."""
    return UNNAMED.get((name, field)) or _named(descriptions)


def _named(descriptions: Iterable[str]) -> str:
    for text in descriptions:
        for pattern in _NAMED:
            if match := pattern.search(" ".join(text.split())):
                return next(group for group in match.groups() if group)
    return ""


FILE = HERE / "kubernetes" / "gates.json"
Stages = dict[str, dict[str, list[list[Any]]]]
"""Stages by software and gate: the first minor version, the stage, the default, and `locked` if
it is.
"""


@cache
def stages_of_all() -> Stages:
    """Return what `gates.json` has."""
    stages: Stages = json.loads(FILE.read_text(encoding="utf-8"))
    return stages


_CONSTANT = re.compile(r'^\s*(\w+)\s+(?:featuregate\.)?Feature\s*=\s*"(\w+)"', re.MULTILINE)
_GATE = re.compile(r"^\t(?:\w+\.)?(\w+): \{\n((?:\t\t.*\n)+?)\t\}", re.MULTILINE)
_SPEC = re.compile(r'^\s*\{Version: version\.MustParse\("1\.(\d+)"\), (.*)\}', re.MULTILINE)
_STAGES = {"Alpha": "alpha", "Beta": "beta", "GA": "stable", "Deprecated": "deprecated"}


def read_source(text: str) -> dict[str, list[list[Any]]]:
    """Return the stages of each gate in the text of a `kube_features.go` of Kubernetes 1.31 or
    newer.

    The name of a gate is the value of its constant; gates of other packages are named like theirs.
    """
    names = dict(_CONSTANT.findall(text))
    return {
        names.get(key, key): _stages(body)
        for key, body in _GATE.findall(text)
        if _SPEC.search(body)
    }


def _stages(body: str) -> list[list[Any]]:
    stages: list[list[Any]] = []
    for minor, fields in _SPEC.findall(body):
        values = dict(part.split(": ") for part in fields.split(", "))
        stage = _STAGES[values["PreRelease"].removeprefix("featuregate.")]
        locked = ["locked"] if values.get("LockToDefault") == "true" else []
        stages.append([int(minor), stage, values["Default"] == "true", *locked])
    return stages


def text_with(source: str) -> str:
    """Return the text of `gates.json` with the gates of a `kube_features.go`; others keep their
    stages.
    """
    stages = stages_of_all()
    kubernetes = {**stages["kubernetes"], **read_source(source)}
    software = {
        **stages,
        "kubernetes": dict(sorted(kubernetes.items(), key=lambda gate: gate[0].lower())),
    }

    return (
        "{"
        + ",\n".join(f"{json.dumps(name)}: {_lines(gates)}" for name, gates in software.items())
        + "}\n"
    )


def _lines(gates: dict[str, list[list[Any]]]) -> str:
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in gates.items())
        + "\n}"
    )
