"""The feature gate of each field of Kubernetes' own kinds: `x-gate`, and `x-gate-on`, the first version with it on.

The API server drops a field whose gate is off. The released schemas name most gates in the descriptions of fields;
`UNNAMED` has the others and `KEPT` the fields that are not dropped. `kubernetes/gates.json` has the releases of each
gate; a person keeps it, from `pkg/features/kube_features.go` and kubernetes.io's page of feature gates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
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
        r"when the(?: alpha)? (?:feature gate `?([A-Z]\w+)`?|`?([A-Z]\w+)`? feature gate) is enabled",
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
"""Gates that no description names: Kubernetes 1.30 to 1.35, pkg/api/pod, util.go and pkg/registry, strategy.go (the
functions `dropDisabled...`); those that begin with 1.37: kubernetes.io, Feature Gates.
"""

KEPT = frozenset(
    {
        ("v1alpha1.LeaseCandidateSpec", "preferredStrategies"),  # without the gate, the kind is not served
        ("v1alpha2.LeaseCandidateSpec", "strategy"),
        ("PersistentVolumeClaimSpec", "dataSource"),
        ("PersistentVolumeClaimSpec", "dataSourceRef"),  # AnyVolumeDataSource, on since 1.24; see TypedObjectReference
        ("PodFailurePolicyRule", "action"),
        ("PodResourceClaim", "resourceClaimTemplateName"),
        ("Probe", "terminationGracePeriodSeconds"),  # the gate is gone, and the field stayed
    }
)
"""Fields whose descriptions name a gate that decides something else than whether the field is kept."""

PARENTS: Mapping[tuple[str, str], str] = {("TypedObjectReference", "namespace"): "dataSourceRef"}
"""The whole field that the server drops, where it is not the field itself (pkg/api/persistentvolumeclaim/util.go)."""


def of_field(name: str, field: str, descriptions: Iterable[str]) -> Schema:
    """Return `x-gate` and `x-gate-on` of a field, by its descriptions in all versions; empty if no gate drops it."""
    if (name, field) in KEPT:
        return {}
    gate = UNNAMED.get((name, field)) or _named(descriptions)
    stages = _STAGES.get(gate)
    if stages is None or name.endswith("Status"):
        return {}
    on = [since for since, *_ in stages if all(default for later, _, default, *_ in stages if later >= since)]
    part: Schema = {"x-gate-drops": PARENTS[name, field]} if (name, field) in PARENTS else {}
    return {"x-gate": gate, **part, **({"x-gate-on": f"1.{max(on[0], OLDEST)}"} if on else {})}


def _named(descriptions: Iterable[str]) -> str:
    for text in descriptions:
        for pattern in _NAMED:
            if match := pattern.search(" ".join(text.split())):
                return next(group for group in match.groups() if group)
    return ""


_STAGES: Mapping[str, list[list[Any]]] = json.loads((HERE / "kubernetes" / "gates.json").read_text(encoding="utf-8"))[
    "kubernetes"
]
