"""Environment variables and where their values come from.

Source: docs/facts/api-server.md#environment 27 to 46, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import mask_dash, why_not_key
from ptcompile.diagnostics import Path, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse, to_string
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

ENV_FIELDS: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
"""What `fieldRef` of an environment variable may read, besides single labels and annotations (Kubernetes 1.36)."""

VOLUME_FIELDS: Final = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}
)
"""What `fieldRef` of a downwardAPI file may read, besides single labels and annotations."""

_KNOWN_FIELDS: Final = (
    ENV_FIELDS | VOLUME_FIELDS | {"spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"}
)
_SUBSCRIPTED: Final = ("metadata.labels", "metadata.annotations")
_RESOURCES: Final = frozenset(f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory"))
_ALL_RESOURCES: Final = _RESOURCES | {"limits.ephemeral-storage", "requests.ephemeral-storage"}
_CPU_DIVISORS: Final = ("1m", "1")
_BYTE_DIVISORS: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def why_not_env(text: str, context: ApiServer) -> str | None:
    """Why a server refuses a variable's name: since 1.32 only `=` and non-ASCII, before that digits in front too."""
    return names.why_not_env_name(text) if context.at_least(32) else names.why_not_classic_env_name(text)


def check_env(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`env` of a container."""
    found = scope.found
    why_not = names.why_not_env_name if scope.context.at_least(32) else names.why_not_classic_env_name
    for index, entry in f.indexed_mappings(value):
        name = entry.get("name")
        if type(name) is not str or not name:
            if f.is_empty(name):
                f.required(found, (*path, index, "name"), help="name the variable")
        elif why := why_not(name):
            f.invalid(found, (*path, index, "name"), name, why, "use letters, digits and '_'")
        source = entry.get("valueFrom")
        if type(source) is dict:
            _check_source(source, entry.get("value"), (*path, index, "valueFrom"), scope)


def _check_source(source: dict[str, Any], value: Any, path: Path, scope: PodContext) -> None:
    found = scope.found
    given = [name for name in _SOURCES if source.get(name) is not None]
    if not given:
        if not any(source.values()):
            why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
            f.invalid(found, path, "", why, "say where the value comes from, or set `value`")
        return
    if type(value) is str and value:
        why = "may not be specified when `value` is not empty"
        f.invalid(found, path, "", why, "keep either `value` or `valueFrom`")
    elif len(given) > 1:
        f.invalid(found, path, "", "may not have more than one field specified at a time", "keep one source")
    for name in given:
        if type(source[name]) is dict:
            _CHECKS[name](source[name], (*path, name), found)
    if type(source.get("fileKeyRef")) is dict:
        _check_file_volume(source["fileKeyRef"].get("volumeName"), (*path, "fileKeyRef", "volumeName"), scope)


def _check_file_volume(name: Any, path: Path, scope: PodContext) -> None:
    """A file of variables stands in an emptyDir that an init container fills (EnvFiles, beta since 1.35)."""
    if type(name) is not str or not names.is_dns_label(name) or scope.volumes is None:
        return  # wrong already
    if not scope.context.at_least(35):
        return
    volume = scope.volumes.get(name, 0)
    if volume == 0:
        f.not_found(scope.found, path, name, "declare the volume in the pod's volumes")
    elif type(volume) is dict and volume.get("emptyDir") is None and len(volume) > 1:
        f.invalid(scope.found, path, name, "referenced volume must be of type emptyDir", "use an emptyDir")


def check_field_ref(ref: Any, path: Path, found: f.Problems, allowed: frozenset[str] = ENV_FIELDS) -> None:
    """A `fieldRef`: which field of the pod is read."""
    version, field = ref.get("apiVersion"), ref.get("fieldPath")
    here = (*path, "fieldPath")
    if f.is_empty(field):
        f.required(found, here, help="name the field, for example metadata.name")
        return
    if type(field) is not str:
        return
    head, subscript = _split(field)
    bad_version = type(version) is str and version not in ("", "v1")
    if bad_version or (head not in _SUBSCRIPTED if subscript is not None else field not in _KNOWN_FIELDS):
        meant = closest_match(field, allowed)
        help = f"did you mean {meant}?" if meant and meant != field else f"use one of {', '.join(sorted(allowed))}"
        f.invalid(found, here, field, "error converting fieldPath: field label not supported", help)
    elif subscript is not None:
        if why := why_not_key(subscript.lower() if head == "metadata.annotations" else subscript):
            f.invalid(found, path, subscript, why)
    elif field not in allowed and not (field == "spec.host" and "spec.nodeName" in allowed):
        f.unsupported(found, here, field, allowed, f"use one of {', '.join(sorted(allowed))}")


def _split(field: str) -> tuple[str, str | None]:
    """`metadata.labels['a']` as `metadata.labels` and `a`."""
    head, opening, rest = field.partition("['")
    return (head, rest[:-2]) if opening and head and rest.endswith("']") else (field, None)


def check_resource_ref(ref: Any, path: Path, found: f.Problems, volume: bool = False) -> None:
    """A `resourceFieldRef`: which request or limit is read, and in what unit."""
    resource, divisor = ref.get("resource"), parse(ref.get("divisor"))
    if volume and f.is_empty(ref.get("containerName")):
        f.required(found, (*path, "containerName"), help="name the container whose resources are read")
        return
    if f.is_empty(resource):
        f.required(found, (*path, "resource"), help="name the resource, for example limits.cpu")
        return
    if type(resource) is not str:
        return
    huge = resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if resource not in _ALL_RESOURCES and not huge:
        help = "write other values as text: the downward API reads cpu, memory, ephemeral-storage and hugepages"
        f.unsupported(found, (*path, "resource"), resource, _ALL_RESOURCES, help)
        return
    units = _CPU_DIVISORS if resource.endswith(".cpu") else _BYTE_DIVISORS
    if divisor and to_string(divisor) not in units:
        why = f"only divisor's values {', '.join(units)} are supported with the {resource} resource"
        f.invalid(found, (*path, "divisor"), to_string(divisor), why, f"use one of {', '.join(units)}")


def _check_key_ref(ref: Any, path: Path, found: f.Problems) -> None:
    name, key = ref.get("name"), ref.get("key")
    if (name is None or type(name) is str) and (why := names.why_not_dns_subdomain(name or "")):
        f.invalid(found, (*path, "name"), name or "", why, "name the ConfigMap or Secret")
    if f.is_empty(key):
        f.required(found, (*path, "key"), help="name the key to read")
    elif type(key) is str and (why := names.why_not_config_key(key)):
        f.invalid(found, (*path, "key"), key, why)


def _check_file_ref(ref: Any, path: Path, found: f.Problems) -> None:
    volume = ref.get("volumeName")
    for name in ("volumeName", "path", "key"):
        if f.is_empty(ref.get(name)):
            f.required(found, (*path, name))
    if type(volume) is str and volume and (why := names.why_not_dns_label(volume)):
        f.invalid(found, (*path, "volumeName"), volume, why)


_CHECKS: Final[dict[str, Callable[[Any, Path, f.Problems], None]]] = {
    "fieldRef": check_field_ref,
    "resourceFieldRef": check_resource_ref,
    "configMapKeyRef": _check_key_ref,
    "secretKeyRef": _check_key_ref,
    "fileKeyRef": _check_file_ref,
}


def check_env_from(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`envFrom` of a container. The server names the list and not the item where the source is wrong."""
    found = scope.found
    for index, entry in f.indexed_mappings(value):
        prefix = entry.get("prefix")
        if type(prefix) is str and prefix and (why := why_not_env(prefix, scope.context)):
            f.invalid(found, (*path, index, "prefix"), prefix, why)
        given = [name for name in ("configMapRef", "secretRef") if entry.get(name) is not None]
        if len(given) != 1:
            why = (
                "may not have more than one field specified at a time"
                if given
                else ("must specify one of: `configMapRef` or `secretRef`")
            )
            f.invalid(found, (*path, index), "", why, "give each entry one source", f"{field_path(path)}")
        for source in given:
            name = f.as_field_mapping(entry[source]).get("name")
            here = (*path, index, source, "name")
            if f.is_empty(name):
                f.required(found, here, help="name the ConfigMap or Secret")
            elif type(name) is str and (why := names.why_not_dns_subdomain(mask_dash(name))):
                f.invalid(found, here, name, why)
