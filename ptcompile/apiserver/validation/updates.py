"""Fields that never change, by kind, and the transition rules of custom resources.

A transition rule runs only where both objects have the value: a field that is added or removed passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.paths import get
from ptcompile._internal.schema_files import load
from ptcompile.apiserver.crds import Definition, shipped
from ptcompile.apiserver.crds.rules import rule_problems, with_schema_defaults
from ptcompile.apiserver.kinds import CUSTOM
from ptcompile.apiserver.server_side_apply import merge_by_schema
from ptcompile.apiserver.validation.field_errors import ANEW, forbidden_change, immutable
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.registry.table import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update


_KEYS: Final = ("name", "manager")


def stored_after_apply(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Problem]]:
    """What is made of a file over a custom resource, and what is said of nulls in it."""
    kind = kind_of(new)
    if kind in CUSTOM:
        schema, document = load(CUSTOM[kind]), CUSTOM[kind]
    elif (definition := shipped(kind)) is not None:
        schema, document = dict(definition.schema), definition.document
    else:
        return new, []
    nulls: list[Path] = []
    made = merge_by_schema(schema, document, old, new, (), nulls)
    help = "remove the line: an apply treats null as a value"
    problems = (Problem("wrong-type", path, f"{field_path(path)}: must not be null", help) for path in nulls)
    return made, list(problems)


def custom_update(kind: tuple[str, str], update: Update) -> Iterator[Problem]:
    """What the CRD of a kind says to a change."""
    definition: Definition | None
    if kind in CUSTOM:
        schema, document = load(CUSTOM[kind]), CUSTOM[kind]
        old, new = (with_schema_defaults(schema, document, one) for one in (update.old, update.new))
        for path, why in kind_named(kind).immutable_fields():
            for place, before, after in _pairs(old, new, path.split("."), ()):
                if before != after:
                    yield immutable(place, None, ANEW, why)
    elif (definition := shipped(kind)) is not None and definition.schema.get("x-ruled"):
        said = {one.path for one in rule_problems(definition.schema, definition.document, update.new)}
        for problem in rule_problems(definition.schema, definition.document, update.new, update.old):
            if problem.path not in said:
                yield problem


def _pairs(old: Any, new: Any, steps: list[str], path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Each place that both objects have, with its two values."""
    if not steps:
        yield path, old, new
    elif steps[0] == "*":
        if isinstance(old, list) and isinstance(new, list):
            before = {_key(one): one for one in old}
            for index, one in enumerate(new):
                if _key(one) in before:
                    yield from _pairs(before[_key(one)], one, steps[1:], (*path, index))
    elif isinstance(old, Mapping) and isinstance(new, Mapping) and steps[0] in old and steps[0] in new:
        yield from _pairs(old[steps[0]], new[steps[0]], steps[1:], (*path, steps[0]))


def _key(item: Any) -> str:
    return next((str(item[key]) for key in _KEYS if key in item), "") if isinstance(item, Mapping) else ""


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
            yield immutable(path, get(update.new, path), ANEW, why or "field is immutable")
    if kind == ("", "PersistentVolume"):
        for path in update.under("spec"):
            if path[1:2] and path[1] not in _SOURCES:
                why = "spec.persistentvolumesource is immutable after creation"
                yield forbidden_change(("spec", path[1]), why)
                return


def stateful_set_update(update: Update) -> Iterator[Problem]:
    """A StatefulSet: scaled and rolled, and nothing else."""
    allowed = [name for name in _STATEFUL if name != "revisionHistoryLimit" or update.versions.kubernetes >= (1, 33)]
    for path in update.under("spec"):
        if path[1:2] and path[1] not in allowed:
            listed = ", ".join(f"'{name}'" for name in allowed[:-1])
            why = f"updates to statefulset spec for fields other than {listed} and '{allowed[-1]}' are forbidden"
            yield forbidden_change(("spec",), why, "delete it with --cascade=orphan and apply again, or rename it")
            return
