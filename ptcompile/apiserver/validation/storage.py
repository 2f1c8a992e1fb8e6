"""PersistentVolume, the inline volume of a VolumeAttachment, StorageClass and
VolumeAttributesClass.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.apiserver.validation.mounts import why_not_forward
from ptcompile.apiserver.validation.scheduling import check_node_selector_terms
from ptcompile.apiserver.validation.values import check_driver_name
from ptcompile.apiserver.validation.volume_claims import check_access
from ptcompile.apiserver.validation.volumes import check_one_source
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import immutable, key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import Update

_SOURCES = load_table("apiserver/validation/volume_sources.json")["persistent volumes"]
"""Volume source fields in the server's order: it rejects the second one that is set."""

_SECRET_REFERENCES = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
"""References that the server checks; it accepts any `nodeStageSecretRef`."""


def check_persistent_volume(volume: FieldValue) -> None:
    """Check a PersistentVolume, except its metadata."""
    spec = volume["spec"]
    check_access(spec["accessModes"])
    _check_capacity(spec["capacity"])
    _check_source(spec)

    affinity = spec["nodeAffinity"]
    if affinity.is_mapping:
        required = affinity["required"]
        required.check_set("must specify required node constraints")
        if required.is_mapping:
            check_node_selector_terms(required["nodeSelectorTerms"])
    elif affinity.value is None and spec.get("local") is not None:
        affinity.required(
            "Local volume requires node affinity", "select the node that has the disk"
        )

    policy = spec["persistentVolumeReclaimPolicy"]
    policy.check_optional_choice(("Delete", "Recycle", "Retain"))
    if spec["hostPath"].get("path") == "/" and policy.value == "Recycle":
        policy.forbidden("may not be 'recycle' for a hostPath volume of '/'", "use Retain")
    spec["volumeMode"].check_choice(("Block", "Filesystem"))
    _check_classes(spec)


_NOT_INLINE: dict[str, tuple[object, ...]] = {
    "claimRef": (None,),
    "capacity": (None, {}),
    "persistentVolumeReclaimPolicy": (None, ""),
    "nodeAffinity": (None,),
    "storageClassName": (None, ""),
    "volumeMode": (None,),
    "volumeAttributesClassName": (None,),
}
"""Fields of a PersistentVolume that an inline volume of a VolumeAttachment must not have, with
their unset values.
"""


def check_inline_volume(spec: FieldValue) -> None:
    """Check the volume that a VolumeAttachment describes itself (`ValidatePersistentVolumeSpec`,
    inline).
    """
    for name, unset_values in _NOT_INLINE.items():
        if spec.get(name) not in unset_values and not is_dropped(name, spec.server):
            spec[name].forbidden("may not be specified in the context of inline volumes")
    spec["csi"].check_set("has to be specified in the context of inline volumes")
    check_access(spec["accessModes"])
    _check_source(spec)


def _check_classes(spec: FieldValue) -> None:
    attributes = spec["volumeAttributesClassName"]
    spec["storageClassName"].check_optional_text(names.why_not_dns_subdomain)
    if not attributes.is_text or not spec.server.has_gate("VolumeAttributesClass", 34):
        return

    why_empty = "an empty string is disallowed"
    attributes.check_required_text(names.why_not_dns_subdomain, detail=why_empty, help="remove it")
    spec["csi"].check_set("has to be specified when using volumeAttributesClassName")


def _check_capacity(capacity: FieldValue) -> None:
    amounts = capacity.mapping
    if not amounts and (capacity.value is None or capacity.is_mapping):
        capacity.required(help="set the size of the volume, such as storage: 10Gi")
    elif "storage" not in amounts or len(amounts) > 1:
        capacity.unsupported(("storage",))

    for _, amount in capacity.entries():
        size = parse(0 if amount.value is None else amount.value)
        if size is not None and size.nano <= 0:
            amount.replaced(str(size)).invalid(
                "must be greater than zero", field=key_path(amount.path)
            )


def _check_source(spec: FieldValue) -> None:
    sources = spec.set_fields(_SOURCES)
    if not sources:
        spec.required("must specify a volume type", "add a source, such as nfs")
        return

    source, *others = sources
    for other in others:
        # the server counts and checks a second flexVolume, but accepts it
        if other.key == "flexVolume":
            check_one_source(other)
            continue
        other.forbidden("may not specify more than 1 volume type", f"keep only {source.key}")

    if not source.is_mapping:
        return

    if source.key == "csi":
        _check_csi(source)
    elif source.key == "local":
        source["path"].check_required_text(why_not_forward)
    else:
        check_one_source(source)


def _check_csi(source: FieldValue) -> None:
    check_driver_name(source["driver"])
    source.require("volumeHandle")
    for key in _SECRET_REFERENCES:
        secret = source[key]
        if secret.is_mapping:
            secret.require("name", "namespace")
            secret["name"].check_optional_text(names.why_not_dns_subdomain)
            secret["namespace"].check_optional_text(names.why_not_dns_label)


_STABLE_LABELS = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""The stable label for each beta label of nodes."""


def persistent_volume_update(update: Update) -> Problems:
    """Yield a problem if a PersistentVolume changes its mode or its node affinity, which can be set
    once. Only beta labels may be replaced by the stable ones.
    """
    old, new = update.maps("spec")
    if (old.get("volumeMode") or "Filesystem") != (new.get("volumeMode") or "Filesystem"):
        yield immutable(("spec", "volumeMode"), new.get("volumeMode"))
    affinity = old.get("nodeAffinity")
    if affinity is not None and _with_stable_labels(affinity) != _with_stable_labels(
        new.get("nodeAffinity")
    ):
        why = "field is immutable, except for updating from beta label to GA"
        yield immutable(("spec", "nodeAffinity"), new.get("nodeAffinity"), why=why)


def _with_stable_labels(value: Any) -> Any:
    """Return a value without its unset fields, and with stable labels for beta ones."""
    if isinstance(value, Mapping):
        kept = {
            key: _with_stable_labels(item) for key, item in value.items() if item not in (None, [])
        }
        return kept | (
            {"key": _STABLE_LABELS.get(kept["key"], kept["key"])}
            if type(kept.get("key")) is str
            else {}
        )
    if isinstance(value, list):
        return [_with_stable_labels(item) for item in value]
    return value


_PARAMETERS_MAX = 512
_PARAMETERS_SIZE_MAX = 256 * 1024


def check_storage_class(storage_class: FieldValue) -> None:
    """Check a StorageClass, except its metadata."""
    check_provisioner(storage_class["provisioner"])
    _check_parameters(storage_class["parameters"])
    storage_class["reclaimPolicy"].check_choice(("Delete", "Retain"))
    storage_class["volumeBindingMode"].check_choice(("Immediate", "WaitForFirstConsumer"))
    _check_topologies(storage_class["allowedTopologies"])


def check_provisioner(name: FieldValue) -> None:
    """Check the name of the provisioner or driver."""
    name.check_required_text(lambda text: why_not_key(text.lower()))


def _check_parameters(parameters: FieldValue) -> None:
    if not parameters.is_mapping:
        return

    if len(parameters.value) > _PARAMETERS_MAX:
        parameters.too_long(_PARAMETERS_MAX)
    size = 0
    for key, value in parameters.value.items():
        if key == "":
            parameters.replaced(key).invalid("field can not be empty")
        size += len(key) + len(value if type(value) is str else "")

    if size > _PARAMETERS_SIZE_MAX:
        parameters.too_long(_PARAMETERS_SIZE_MAX)


def _check_topologies(terms: FieldValue) -> None:
    # the server reports a term without expressions as a duplicate
    seen: list[dict[Any, Any]] = [{}]
    for term in terms.objects():
        expressions = term["matchLabelExpressions"]
        values_by_key = _check_expressions(expressions)
        if values_by_key in seen:
            expressions.replaced("").duplicate("remove one of the two terms")
        seen.append(values_by_key)


def _check_expressions(expressions: FieldValue) -> dict[Any, Any]:
    """Check the expressions of a term, and return the values of each key."""
    values_by_key: dict[Any, Any] = {}
    for expression in expressions.objects():
        written = expression["key"]
        key = written.or_zero("")
        values = expression["values"]
        key.check_text(why_not_key)
        if not values.value:
            values.required()
        elif values.is_list:
            plain = values.strings
            seen = set[str]()
            for value in values.items(plain):
                value.check_unseen(seen)
            if written.value in values_by_key:
                written.duplicate()
            values_by_key[key.value] = frozenset(plain)

    return values_by_key


def check_volume_attributes_class(attributes_class: FieldValue) -> None:
    """Check a VolumeAttributesClass, except its metadata."""
    check_provisioner(attributes_class["driverName"])
    parameters = attributes_class["parameters"]
    if not parameters.value:
        parameters.required("must contain at least one key/value pair")
    _check_parameters(parameters)
