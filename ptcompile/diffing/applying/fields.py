"""Fields of built-in kinds that never change, and StatefulSet's few that do (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diffing.applying.told import ANEW, fixed, forbidden
from ptcompile.findings.diagnostics import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.operators.record import Update

_SELECTOR: Final = (("spec", "selector"), "")
_RBAC: Final = (("roleRef",), "cannot change roleRef")

_FIXED: Final[dict[tuple[str, str], tuple[tuple[tuple[str, ...], str], ...]]] = {
    ("apps", "Deployment"): (_SELECTOR,),
    ("apps", "DaemonSet"): (_SELECTOR,),
    ("apps", "ReplicaSet"): (_SELECTOR,),
    ("apps", "ControllerRevision"): ((("data",), ""),),
    ("", "PersistentVolume"): (),
    ("", "ResourceQuota"): ((("spec", "scopes"), ""), (("spec", "scopeSelector"), "")),
    ("networking.k8s.io", "IngressClass"): ((("spec", "controller"), ""),),
    ("node.k8s.io", "RuntimeClass"): ((("handler",), ""),),
    ("rbac.authorization.k8s.io", "RoleBinding"): (_RBAC,),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (_RBAC,),
    ("resource.k8s.io", "ResourceClaim"): ((("spec",), ""),),
    ("resource.k8s.io", "ResourceClaimTemplate"): ((("spec",), ""),),
    ("scheduling.k8s.io", "PriorityClass"): (
        (("value",), "may not be changed in an update."),
        (("preemptionPolicy",), "may not be changed in an update."),
    ),
    ("storage.k8s.io", "StorageClass"): (
        (("parameters",), "updates to parameters are forbidden."),
        (("provisioner",), "updates to provisioner are forbidden."),
        (("reclaimPolicy",), "updates to reclaimPolicy are forbidden."),
        (("volumeBindingMode",), ""),
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): ((("driverName",), ""), (("parameters",), "")),
}
"""By API group and kind: paths, and the server's words where they are not `field is immutable`."""

_SOURCES: Final = [
    "capacity",
    "accessModes",
    "persistentVolumeReclaimPolicy",
    "mountOptions",
    "storageClassName",
    "nodeAffinity",
    "claimRef",
    "volumeMode",
    "volumeAttributesClassName",
]
"""What of a PersistentVolume's spec is not its source."""

_STATEFUL: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def fixed_fields(kind: tuple[str, str], update: Update) -> Iterator[Problem]:
    """The fields of a kind that may not change."""
    for path, why in _FIXED.get(kind, ()):
        if update.under(*path):
            yield fixed(path, _at(update.new, path), ANEW, why or "field is immutable")
    if kind == ("", "PersistentVolume"):
        for path in update.under("spec"):
            if path[1:2] and path[1] not in _SOURCES:
                why = "spec.persistentvolumesource is immutable after creation"
                yield forbidden(("spec", path[1]), why)
                return


def stateful_set_update(update: Update) -> Iterator[Problem]:
    """A StatefulSet: scaled and rolled, and nothing else."""
    allowed = [name for name in _STATEFUL if name != "revisionHistoryLimit" or update.versions.kubernetes >= (1, 33)]
    for path in update.under("spec"):
        if path[1:2] and path[1] not in allowed:
            listed = ", ".join(f"'{name}'" for name in allowed[:-1])
            why = f"updates to statefulset spec for fields other than {listed} and '{allowed[-1]}' are forbidden"
            yield forbidden(("spec",), why, "delete it with --cascade=orphan and apply again, or rename it")
            return


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
