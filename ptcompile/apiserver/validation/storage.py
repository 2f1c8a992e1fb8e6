"""PersistentVolume, StorageClass and VolumeAttributesClass."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.apiserver.validation.mounts import why_not_forward
from ptcompile.apiserver.validation.scheduling import check_node_selector_terms
from ptcompile.apiserver.validation.volume_claims import check_access
from ptcompile.apiserver.validation.volumes import check_csi, check_one_source
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_SOURCES: Final = [
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
"""In the order in which the server looks at them: the second one found is the one refused."""

_SECRETS: Final = (
    "controllerPublishSecretRef",
    "nodePublishSecretRef",
    "nodeStageSecretRef",
    "controllerExpandSecretRef",
    "nodeExpandSecretRef",
)


def check_persistent_volume(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A PersistentVolume without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_access(spec.get("accessModes"), (*path, "accessModes"), found)
    _check_capacity(spec.get("capacity"), (*path, "capacity"), found)
    _check_source(spec, path, PodContext({}, context, False, None, None, found))
    affinity = spec.get("nodeAffinity")
    if type(affinity) is dict:
        here = (*path, "nodeAffinity", "required")
        if affinity.get("required") is None:
            f.required(found, here, "must specify required node constraints")
        elif type(affinity["required"]) is dict:
            check_node_selector_terms(
                affinity["required"].get("nodeSelectorTerms"), (*here, "nodeSelectorTerms"), found
            )
    elif affinity is None and spec.get("local") is not None:
        f.required(found, (*path, "nodeAffinity"), "Local volume requires node affinity", "say which node has the disk")
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        f.check_choice(found, (*path, "persistentVolumeReclaimPolicy"), policy, ("Delete", "Recycle", "Retain"))
    if f.as_field_mapping(spec.get("hostPath")).get("path") == "/" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath volume of '/'"
        f.forbidden(found, (*path, "persistentVolumeReclaimPolicy"), why, "use Retain")
    f.check_choice(found, (*path, "volumeMode"), spec.get("volumeMode"), ("Block", "Filesystem"))
    _check_classes(spec, path, context, found)


def _check_classes(spec: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    storage, attributes = spec.get("storageClassName"), spec.get("volumeAttributesClassName")
    if type(storage) is str and storage and (why := names.why_not_dns_subdomain(storage)):
        f.invalid(found, (*path, "storageClassName"), storage, why)
    if type(attributes) is not str or not context.at_least(34):  # before, its gate is off and the field is dropped
        return
    here = (*path, "volumeAttributesClassName")
    if not attributes:
        f.required(found, here, "an empty string is disallowed", "remove it")
    elif why := names.why_not_dns_subdomain(attributes):
        f.invalid(found, here, attributes, why)
    if spec.get("csi") is None:
        f.required(found, (*path, "csi"), "has to be specified when using volumeAttributesClassName")


def _check_capacity(capacity: Any, path: Path, found: f.Problems) -> None:
    amounts = f.as_field_mapping(capacity)
    if not amounts and (capacity is None or type(capacity) is dict):
        f.required(found, path, help="say how large the volume is: storage: 10Gi")
    elif "storage" not in amounts or len(amounts) > 1:
        f.unsupported(found, path, capacity, ("storage",))
    for name, text in amounts.items():
        size = parse(0 if text is None else text)
        if size is not None and size.nano <= 0:
            f.invalid(found, (*path, name), str(size), "must be greater than zero", at=f.key_path((*path, name)))


def _check_source(spec: dict[str, Any], path: Path, scope: PodContext) -> None:
    given = [key for key in _SOURCES if spec.get(key) is not None]
    for key in given[1:]:
        if key == "flexVolume":  # the server counts it, does not refuse it, and looks into it
            check_one_source(key, f.as_field_mapping(spec[key]), (*path, key), scope)
            continue
        f.forbidden(scope.found, (*path, key), "may not specify more than 1 volume type", f"keep only {given[0]}")
    if not given:
        f.required(scope.found, path, "must specify a volume type", "say where the volume is, for example nfs")
    elif type(spec[given[0]]) is dict:
        source, here = spec[given[0]], (*path, given[0])
        if given[0] == "csi":
            _check_csi(source, here, scope)
        elif given[0] == "local":
            _check_local(source, here, scope.found)
        else:
            check_one_source(given[0], source, here, scope)


def _check_csi(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    check_csi({"driver": source.get("driver")}, path, scope)
    f.check_required(source, path, scope.found, "volumeHandle")
    for key in _SECRETS:
        if type(source.get(key)) is dict:
            f.check_required(source[key], (*path, key), scope.found, "name", "namespace")


def _check_local(source: dict[str, Any], path: Path, found: f.Problems) -> None:
    where = source.get("path")
    if f.is_empty(where):
        f.required(found, (*path, "path"))
    elif type(where) is str and (why := why_not_forward(where)):
        f.invalid(found, (*path, "path"), where, why)


_PARAMETERS_MAX: Final = 512
_PARAMETERS_SIZE_MAX: Final = 256 * 1024


def check_storage_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A StorageClass without its metadata."""
    check_provisioner(manifest.get("provisioner"), ("provisioner",), found)
    _check_parameters(manifest.get("parameters"), ("parameters",), found)
    for name, known in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        f.check_choice(found, (name,), manifest.get(name), known)
    _check_topologies(manifest.get("allowedTopologies"), ("allowedTopologies",), found)


def check_provisioner(value: Any, path: Path, found: f.Problems) -> None:
    """The name of what makes the volumes."""
    if value is None or value == "":
        f.required(found, path)
    elif type(value) is str and (why := why_not_key(value.lower())):
        f.invalid(found, path, value, why)


def _check_parameters(parameters: Any, path: Path, found: f.Problems) -> None:
    if type(parameters) is not dict:
        return
    if len(parameters) > _PARAMETERS_MAX:
        f.too_long(found, path, _PARAMETERS_MAX)
    size = 0
    for key, value in parameters.items():
        if key == "":
            f.invalid(found, path, key, "field can not be empty")
        size += len(key) + len(value if type(value) is str else "")
    if size > _PARAMETERS_SIZE_MAX:
        f.too_long(found, path, _PARAMETERS_SIZE_MAX)


def _check_topologies(terms: Any, path: Path, found: f.Problems) -> None:
    seen: list[dict[Any, Any]] = [{}]  # a term without expressions counts as a repeated one
    for index, term in f.indexed_mappings(terms):
        here, wanted = (*path, index, "matchLabelExpressions"), {}
        for number, expression in f.indexed_mappings(term.get("matchLabelExpressions")):
            key, values = expression.get("key"), expression.get("values")
            text = "" if key is None else key
            if type(text) is str and (why := why_not_key(text)):
                f.invalid(found, (*here, number, "key"), text, why)
            if not values:
                f.required(found, (*here, number, "values"))
            elif type(values) is list:
                plain = [value for value in values if type(value) is str]
                for place, value in enumerate(plain):
                    if value in plain[:place]:
                        f.duplicate(found, (*here, number, "values", place), value)
                if key in wanted:
                    f.duplicate(found, (*here, number, "key"), key)
                wanted[text] = frozenset(plain)
        if wanted in seen:
            f.duplicate(found, here, "", "remove one of the two terms")
        seen.append(wanted)


def check_volume_attributes_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A VolumeAttributesClass without its metadata."""
    check_provisioner(manifest.get("driverName"), ("driverName",), found)
    parameters = manifest.get("parameters")
    if not parameters:
        f.required(found, ("parameters",), "must contain at least one key/value pair")
    _check_parameters(parameters, ("parameters",), found)
