"""Environment variables and the sources of their values.

Source: docs/facts/api-server.md#environment 27 to 46, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import mask_dash, why_not_key
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse, to_string
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping

ENV_FIELDS = frozenset(
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
"""Fields that `fieldRef` of an environment variable may read, besides single labels and annotations (Kubernetes
1.36).
"""

VOLUME_FIELDS = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}
)
"""Fields that `fieldRef` of a downwardAPI file may read, besides single labels and annotations."""

_FIELD_LABELS = ENV_FIELDS | VOLUME_FIELDS | {"spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_SUBSCRIPTED_FIELDS = ("metadata.labels", "metadata.annotations")
_RESOURCES = frozenset(f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory"))
_ALL_RESOURCES = _RESOURCES | {"limits.ephemeral-storage", "requests.ephemeral-storage"}
_CPU_DIVISORS = ("1m", "1")
_BYTE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def why_not_env(text: str, context: ApiServer) -> str | None:
    """Return why a server rejects a variable name, or None. Since 1.32 only `=` and non-ASCII are invalid, before that
    leading digits too.
    """
    return _env_name_rule(context)(text)


def _env_name_rule(context: ApiServer) -> TextRule:
    if context.has_gate("RelaxedEnvironmentVariableValidation", 32):
        return names.why_not_env_name
    return names.why_not_classic_env_name


def check_env(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `env` of a container."""
    problems = scope.problems
    why_not = _env_name_rule(scope.context)
    for index, entry in indexed_mappings(value):
        name = entry.get("name")
        if type(name) is not str or not name:
            if is_empty(name):
                problems.required((*path, index, "name"), help="name the variable")
        else:
            problems.check_text((*path, index, "name"), name, why_not, "use letters, digits and '_'")
        source = entry.get("valueFrom")
        if type(source) is dict:
            _check_source(source, entry.get("value"), (*path, index, "valueFrom"), scope)


def _check_source(source: Json, value: Any, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    sources = [name for name in _SOURCES if source.get(name) is not None]
    if not sources:
        if not any(source.values()):
            why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
            problems.invalid(path, "", why, "add one of them, or set `value`")
        return
    if type(value) is str and value:
        why = "may not be specified when `value` is not empty"
        problems.invalid(path, "", why, "keep either `value` or `valueFrom`")
    elif len(sources) > 1:
        problems.invalid(path, "", "may not have more than one field specified at a time", "keep one source")
    for name in sources:
        if type(source[name]) is dict:
            _CHECKS_BY_SOURCE[name](source[name], (*path, name), problems)
    if type(source.get("fileKeyRef")) is dict:
        _check_file_volume(source["fileKeyRef"].get("volumeName"), (*path, "fileKeyRef", "volumeName"), scope)


def _check_file_volume(name: Any, path: Path, scope: PodContext) -> None:
    """Check the volume of `fileKeyRef`: an emptyDir that an init container fills (EnvFiles, beta since 1.35)."""
    if type(name) is not str or not names.is_dns_label(name) or scope.volumes is None:
        return  # reported elsewhere
    if not scope.context.has_gate("EnvFiles", 35):
        return
    volume = scope.volumes.get(name, 0)
    if volume == 0:
        scope.problems.not_found(path, name, "declare the volume in the pod's volumes")
    elif type(volume) is dict and volume.get("emptyDir") is None and len(volume) > 1:
        scope.problems.invalid(path, name, "referenced volume must be of type emptyDir", "use an emptyDir")


def _field_help(field: str, allowed: frozenset[str]) -> str:
    """Return what to write instead of a field that the pod does not have."""
    for subscripted in _SUBSCRIPTED_FIELDS:
        key = field.removeprefix(f"{subscripted}.")
        if key != field:
            return f"did you mean {subscripted}['{key}']?"
    suggestion = closest_match(field, allowed)
    if suggestion and suggestion != field:
        return f"did you mean {suggestion}?"
    return f"use one of {', '.join(sorted(allowed))}"


def check_field_ref(ref: Any, path: Path, problems: FieldErrors, allowed: frozenset[str] = ENV_FIELDS) -> None:
    """Check a `fieldRef`: the pod field must be one of `allowed`, or a single label or annotation."""
    version = ref.get("apiVersion")
    field = ref.get("fieldPath")
    ref_path = (*path, "fieldPath")
    if is_empty(field):
        problems.required(ref_path, help="name the field, for example metadata.name")
        return
    if type(field) is not str:
        return
    head, subscript = _split_subscript(field)
    bad_version = type(version) is str and version not in ("", "v1")
    if bad_version or (head not in _SUBSCRIPTED_FIELDS if subscript is not None else field not in _FIELD_LABELS):
        why = "error converting fieldPath: field label not supported"
        problems.invalid(ref_path, field, why, _field_help(field, allowed))
    elif subscript is not None:
        if mistake := why_not_key(subscript.lower() if head == "metadata.annotations" else subscript):
            problems.invalid(path, subscript, mistake)
    elif field not in allowed and not (field == "spec.host" and "spec.nodeName" in allowed):
        problems.unsupported(ref_path, field, allowed, f"use one of {', '.join(sorted(allowed))}")


def _split_subscript(field: str) -> tuple[str, str | None]:
    """Split `metadata.labels['a']` into `metadata.labels` and `a`."""
    head, opening, rest = field.partition("['")
    return (head, rest[:-2]) if opening and head and rest.endswith("']") else (field, None)


def check_resource_ref(ref: Any, path: Path, problems: FieldErrors, volume: bool = False) -> None:
    """Check a `resourceFieldRef`: the request or limit, and the unit (`divisor`)."""
    resource = ref.get("resource")
    divisor = parse(ref.get("divisor"))
    if volume and is_empty(ref.get("containerName")):
        problems.required((*path, "containerName"), help="name the container whose resources are read")
        return
    if is_empty(resource):
        problems.required((*path, "resource"), help="name the resource, for example limits.cpu")
        return
    if type(resource) is not str:
        return
    is_huge_pages = resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if resource not in _ALL_RESOURCES and not is_huge_pages:
        help = "write other values as text: the downward API reads cpu, memory, ephemeral-storage and hugepages"
        problems.unsupported((*path, "resource"), resource, _ALL_RESOURCES, help)
        return
    units = _CPU_DIVISORS if resource.endswith(".cpu") else _BYTE_DIVISORS
    if divisor and to_string(divisor) not in units:
        why = f"only divisor's values {', '.join(units)} are supported with the {resource} resource"
        problems.invalid((*path, "divisor"), to_string(divisor), why, f"use one of {', '.join(units)}")


def _check_key_ref(ref: Any, path: Path, problems: FieldErrors) -> None:
    name = "" if ref.get("name") is None else ref["name"]
    problems.check_text((*path, "name"), name, names.why_not_dns_subdomain, "name the ConfigMap or Secret")
    key_path = (*path, "key")
    help = "name the key to read"
    problems.check_required_text(key_path, ref.get("key"), names.why_not_config_key, help=help)


def _check_file_ref(ref: Any, path: Path, problems: FieldErrors) -> None:
    problems.check_required(ref, path, "volumeName", "path", "key")
    problems.check_optional_text((*path, "volumeName"), ref.get("volumeName"), names.why_not_dns_label)


_CHECKS_BY_SOURCE: dict[str, Callable[[Any, Path, FieldErrors], None]] = {
    "fieldRef": check_field_ref,
    "resourceFieldRef": check_resource_ref,
    "configMapKeyRef": _check_key_ref,
    "secretKeyRef": _check_key_ref,
    "fileKeyRef": _check_file_ref,
}


def check_env_from(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `envFrom` of a container. If the source is wrong, the server names the list instead of the item."""
    problems = scope.problems
    for index, entry in indexed_mappings(value):
        prefix = entry.get("prefix")
        if type(prefix) is str and prefix and (why := why_not_env(prefix, scope.context)):
            problems.invalid((*path, index, "prefix"), prefix, why)
        sources = [name for name in ("configMapRef", "secretRef") if entry.get(name) is not None]
        if len(sources) != 1:
            why = (
                "may not have more than one field specified at a time"
                if sources
                else ("must specify one of: `configMapRef` or `secretRef`")
            )
            problems.invalid((*path, index), "", why, "give each entry one source", f"{field_path(path)}")
        for source in sources:
            name = as_mapping(entry[source]).get("name")
            name_path = (*path, index, source, "name")
            if is_empty(name):
                problems.required(name_path, help="name the ConfigMap or Secret")
            elif type(name) is str and (why := names.why_not_dns_subdomain(mask_dash(name))):
                problems.invalid(name_path, name, why)
