"""PersistentVolume, the inline volume of a VolumeAttachment, StorageClass and VolumeAttributesClass."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.apiserver.validation.mounts import why_not_forward
from ptcompile.apiserver.validation.scheduling import check_node_selector_terms
from ptcompile.apiserver.validation.volume_claims import check_access
from ptcompile.apiserver.validation.volumes import check_csi, check_one_source
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, immutable, indexed_mappings, key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

_SOURCES = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
]
"""Volume source fields in the server's order: it rejects the second one that is set."""

_SECRET_REFERENCES = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
"""References that the server checks; it accepts any `nodeStageSecretRef`."""


def check_persistent_volume(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PersistentVolume, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    check_access(spec.get("accessModes"), (*path, "accessModes"), problems)
    _check_capacity(spec.get("capacity"), (*path, "capacity"), problems)
    _check_source(spec, path, PodContext({}, context, False, None, None, problems))
    affinity = spec.get("nodeAffinity")
    if type(affinity) is dict:
        selector_path = (*path, "nodeAffinity", "required")
        if affinity.get("required") is None:
            problems.required(selector_path, "must specify required node constraints")
        elif type(affinity["required"]) is dict:
            check_node_selector_terms(
                affinity["required"].get("nodeSelectorTerms"), (*selector_path, "nodeSelectorTerms"), problems
            )
    elif affinity is None and spec.get("local") is not None:
        problems.required(
            (*path, "nodeAffinity"),
            "Local volume requires node affinity",
            "select the node that has the disk",
        )
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        problems.check_choice((*path, "persistentVolumeReclaimPolicy"), policy, ("Delete", "Recycle", "Retain"))
    if nested_map(spec, "hostPath").get("path") == "/" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath volume of '/'"
        problems.forbidden((*path, "persistentVolumeReclaimPolicy"), why, "use Retain")
    problems.check_choice((*path, "volumeMode"), spec.get("volumeMode"), ("Block", "Filesystem"))
    _check_classes(spec, path, context, problems)


_NOT_INLINE: dict[str, tuple[object, ...]] = {
    "claimRef": (None,),
    "capacity": (None, {}),
    "persistentVolumeReclaimPolicy": (None, ""),
    "nodeAffinity": (None,),
    "storageClassName": (None, ""),
    "volumeMode": (None,),
    "volumeAttributesClassName": (None,),
}
"""Fields of a PersistentVolume that an inline volume of a VolumeAttachment must not have, with their unset values."""


def check_inline_volume(spec: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    """Check the volume that a VolumeAttachment describes itself (`ValidatePersistentVolumeSpec`, inline)."""
    for name, unset_values in _NOT_INLINE.items():
        if spec.get(name) not in unset_values and not is_dropped(name, context):
            problems.forbidden((*path, name), "may not be specified in the context of inline volumes")
    if spec.get("csi") is None:
        problems.required((*path, "csi"), "has to be specified in the context of inline volumes")
    check_access(spec.get("accessModes"), (*path, "accessModes"), problems)
    _check_source(spec, path, PodContext({}, context, False, None, None, problems))


def _check_classes(spec: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    storage = spec.get("storageClassName")
    attributes = spec.get("volumeAttributesClassName")
    problems.check_optional_text((*path, "storageClassName"), storage, names.why_not_dns_subdomain)
    if type(attributes) is not str or not context.has_gate("VolumeAttributesClass", 34):
        return
    class_path = (*path, "volumeAttributesClassName")
    if not attributes:
        problems.required(class_path, "an empty string is disallowed", "remove it")
    else:
        problems.check_text(class_path, attributes, names.why_not_dns_subdomain)
    if spec.get("csi") is None:
        problems.required((*path, "csi"), "has to be specified when using volumeAttributesClassName")


def _check_capacity(capacity: Any, path: Path, problems: FieldErrors) -> None:
    amounts = as_mapping(capacity)
    if not amounts and (capacity is None or type(capacity) is dict):
        problems.required(path, help="set the size of the volume, such as storage: 10Gi")
    elif "storage" not in amounts or len(amounts) > 1:
        problems.unsupported(path, capacity, ("storage",))
    for name, text in amounts.items():
        size = parse(0 if text is None else text)
        if size is not None and size.nano <= 0:
            problems.invalid((*path, name), str(size), "must be greater than zero", field=key_path((*path, name)))


def _check_source(spec: Json, path: Path, scope: PodContext) -> None:
    set_sources = [key for key in _SOURCES if spec.get(key) is not None]
    for key in set_sources[1:]:
        if key == "flexVolume":  # the server counts and checks a second flexVolume, but accepts it
            check_one_source(key, as_mapping(spec[key]), (*path, key), scope)
            continue
        scope.problems.forbidden((*path, key), "may not specify more than 1 volume type", f"keep only {set_sources[0]}")
    if not set_sources:
        scope.problems.required(path, "must specify a volume type", "add a source, such as nfs")
    elif type(spec[set_sources[0]]) is dict:
        source = spec[set_sources[0]]
        source_path = (*path, set_sources[0])
        if set_sources[0] == "csi":
            _check_csi(source, source_path, scope)
        elif set_sources[0] == "local":
            _check_local(source, source_path, scope.problems)
        else:
            check_one_source(set_sources[0], source, source_path, scope)


def _check_csi(source: Json, path: Path, scope: PodContext) -> None:
    check_csi({"driver": source.get("driver")}, path, scope)
    scope.problems.check_required(source, path, "volumeHandle")
    for key in _SECRET_REFERENCES:
        if type(source.get(key)) is not dict:
            continue
        scope.problems.check_required(source[key], (*path, key), "name", "namespace")
        for part, why_not in (("name", names.why_not_dns_subdomain), ("namespace", names.why_not_dns_label)):
            scope.problems.check_optional_text((*path, key, part), source[key].get(part), why_not)


def _check_local(source: Json, path: Path, problems: FieldErrors) -> None:
    problems.check_required_text((*path, "path"), source.get("path"), why_not_forward)


_STABLE_LABELS = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""The stable label for each beta label of nodes."""


def persistent_volume_update(update: Update) -> Problems:
    """Yield a problem if a PersistentVolume changes its mode or its node affinity, which can be set once. Only beta
    labels may be replaced by the stable ones.
    """
    old, new = (nested_map(volume, "spec") for volume in (update.old, update.new))
    if (old.get("volumeMode") or "Filesystem") != (new.get("volumeMode") or "Filesystem"):
        yield immutable(("spec", "volumeMode"), new.get("volumeMode"))
    affinity = old.get("nodeAffinity")
    if affinity is not None and _with_stable_labels(affinity) != _with_stable_labels(new.get("nodeAffinity")):
        why = "field is immutable, except for updating from beta label to GA"
        yield immutable(("spec", "nodeAffinity"), new.get("nodeAffinity"), why=why)


def _with_stable_labels(value: Any) -> Any:
    """Return a value without its unset fields, and with stable labels for beta ones."""
    if isinstance(value, Mapping):
        kept = {key: _with_stable_labels(item) for key, item in value.items() if item not in (None, [])}
        return kept | ({"key": _STABLE_LABELS.get(kept["key"], kept["key"])} if type(kept.get("key")) is str else {})
    return [_with_stable_labels(item) for item in value] if isinstance(value, list) else value


_PARAMETERS_MAX = 512
_PARAMETERS_SIZE_MAX = 256 * 1024


def check_storage_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a StorageClass, except its metadata."""
    check_provisioner(manifest.get("provisioner"), ("provisioner",), problems)
    _check_parameters(manifest.get("parameters"), ("parameters",), problems)
    for name, allowed in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        problems.check_choice((name,), manifest.get(name), allowed)
    _check_topologies(manifest.get("allowedTopologies"), ("allowedTopologies",), problems)


def check_provisioner(value: Any, path: Path, problems: FieldErrors) -> None:
    """Check the name of the provisioner or driver."""
    if value is None or value == "":
        problems.required(path)
    elif type(value) is str and (why := why_not_key(value.lower())):
        problems.invalid(path, value, why)


def _check_parameters(parameters: Any, path: Path, problems: FieldErrors) -> None:
    if type(parameters) is not dict:
        return
    if len(parameters) > _PARAMETERS_MAX:
        problems.too_long(path, _PARAMETERS_MAX)
    size = 0
    for key, value in parameters.items():
        if key == "":
            problems.invalid(path, key, "field can not be empty")
        size += len(key) + len(value if type(value) is str else "")
    if size > _PARAMETERS_SIZE_MAX:
        problems.too_long(path, _PARAMETERS_SIZE_MAX)


def _check_topologies(terms: Any, path: Path, problems: FieldErrors) -> None:
    seen: list[dict[Any, Any]] = [{}]  # the server reports a term without expressions as a duplicate
    for index, term in indexed_mappings(terms):
        expressions_path = (*path, index, "matchLabelExpressions")
        values_by_key = {}
        for expression_index, expression in indexed_mappings(term.get("matchLabelExpressions")):
            key = expression.get("key")
            values = expression.get("values")
            text = "" if key is None else key
            problems.check_text((*expressions_path, expression_index, "key"), text, why_not_key)
            if not values:
                problems.required((*expressions_path, expression_index, "values"))
            elif type(values) is list:
                plain = as_strings(values)
                for value_index, value in enumerate(plain):
                    if value in plain[:value_index]:
                        problems.duplicate((*expressions_path, expression_index, "values", value_index), value)
                if key in values_by_key:
                    problems.duplicate((*expressions_path, expression_index, "key"), key)
                values_by_key[text] = frozenset(plain)
        if values_by_key in seen:
            problems.duplicate(expressions_path, "", "remove one of the two terms")
        seen.append(values_by_key)


def check_volume_attributes_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a VolumeAttributesClass, except its metadata."""
    check_provisioner(manifest.get("driverName"), ("driverName",), problems)
    parameters = manifest.get("parameters")
    if not parameters:
        problems.required(("parameters",), "must contain at least one key/value pair")
    _check_parameters(parameters, ("parameters",), problems)
