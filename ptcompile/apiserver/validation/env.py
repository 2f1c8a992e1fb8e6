"""Environment variables and the sources of their values.

Source: docs/facts/api-server.md#environment 27 to 46, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import field_path
from ptcompile.diagnostics.field_errors import TextRule, indexed_mappings
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse, to_string
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json

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
"""Fields that `fieldRef` of an environment variable may read, besides single labels and annotations
(Kubernetes 1.36).
"""

VOLUME_FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.labels",
        "metadata.annotations",
        "metadata.uid",
    }
)
"""Fields that `fieldRef` of a downwardAPI file may read, besides single labels and annotations."""

_FIELD_LABELS = (
    ENV_FIELDS
    | VOLUME_FIELDS
    | {"spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"}
)
_SUBSCRIPTED_FIELDS = ("metadata.labels", "metadata.annotations")
_RESOURCES = frozenset(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory")
)
_ALL_RESOURCES = _RESOURCES | {"limits.ephemeral-storage", "requests.ephemeral-storage"}
_CPU_DIVISORS = ("1m", "1")
_BYTE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def why_not_env(text: str, context: ApiServer) -> str | None:
    """Return why a server rejects a variable name, or None. Since 1.32 only `=` and non-ASCII are
    invalid, before that leading digits too.
    """
    return _env_name_rule(context)(text)


def _env_name_rule(context: ApiServer) -> TextRule:
    if context.has_gate("RelaxedEnvironmentVariableValidation", 32):
        return names.why_not_env_name
    return names.why_not_classic_env_name


def check_env(env: FieldValue, container: Json) -> None:
    """Check `env` of a container."""
    why_not = _env_name_rule(env.server)
    for index, variable in indexed_mappings(env.value):
        name = variable.get("name")
        is_named = type(name) is str and name and not why_not(name)
        if not is_named or variable.get("valueFrom") is not None:
            _check_variable(env.item(index, variable), why_not)


def _check_variable(variable: FieldValue, why_not: TextRule) -> None:
    name = variable["name"]
    source = variable["valueFrom"]
    if name.is_empty:
        name.required(help="name the variable")
    else:
        name.check_text(why_not, "use letters, digits and '_'")
    if source.is_mapping:
        _check_source(source, variable.get("value"))


def _check_source(source: FieldValue, value: Any) -> None:
    sources = source.set_fields(_SOURCES)
    shown = source.replaced("")
    if not sources:
        if not any(source.value.values()):
            why = (
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                "`secretKeyRef`"
            )
            shown.invalid(why, "add one of them, or set `value`")
        return

    if type(value) is str and value:
        shown.invalid(
            "may not be specified when `value` is not empty", "keep either `value` or `valueFrom`"
        )
    elif len(sources) > 1:
        shown.invalid("may not have more than one field specified at a time", "keep one source")

    for reference in sources:
        if reference.is_mapping:
            _CHECKS_BY_SOURCE[str(reference.key)](reference)
    _check_file_volume(source["fileKeyRef"]["volumeName"])


def _check_file_volume(name: FieldValue) -> None:
    """Check the volume of `fileKeyRef`: an emptyDir that an init container fills (EnvFiles, beta
    since 1.35).
    """
    volumes = name.scope.volumes
    if not name.is_text or not names.is_dns_label(name.value) or volumes is None:
        return  # other checks report a wrong name and a wrong list of volumes
    if not name.server.has_gate("EnvFiles", 35):
        return

    volume = volumes.get(name.value, 0)
    if volume == 0:
        name.problems.not_found(name.path, name.value, "declare the volume in the pod's volumes")
    elif type(volume) is dict and volume.get("emptyDir") is None and len(volume) > 1:
        name.invalid("referenced volume must be of type emptyDir", "use an emptyDir")


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


def check_field_ref(reference: FieldValue, allowed: frozenset[str] = ENV_FIELDS) -> None:
    """Check a `fieldRef`: the pod field must be one of `allowed`, or a single label or
    annotation.
    """
    version = reference.get("apiVersion")
    written = reference["fieldPath"]
    field = written.value
    written.check_filled(help="name the field, for example metadata.name")
    if type(field) is not str or not field:
        return

    head, subscript = _split_subscript(field)
    bad_version = type(version) is str and version not in ("", "v1")
    if bad_version or (
        head not in _SUBSCRIPTED_FIELDS if subscript is not None else field not in _FIELD_LABELS
    ):
        why = "error converting fieldPath: field label not supported"
        written.invalid(why, _field_help(field, allowed))
    elif subscript is not None:
        if mistake := why_not_key(
            subscript.lower() if head == "metadata.annotations" else subscript
        ):
            reference.replaced(subscript).invalid(mistake)
    elif field not in allowed and not (field == "spec.host" and "spec.nodeName" in allowed):
        written.unsupported(allowed, f"use one of {', '.join(sorted(allowed))}")


def _split_subscript(field: str) -> tuple[str, str | None]:
    """Split `metadata.labels['a']` into `metadata.labels` and `a`; a field without a subscript has
    None.
    """
    head, opening, rest = field.partition("['")
    if opening and head and rest.endswith("']"):
        return (head, rest[:-2])
    return (field, None)


def check_resource_ref(reference: FieldValue, *, volume: bool = False) -> None:
    """Check a `resourceFieldRef`: the request or limit, and the unit (`divisor`)."""
    resource = reference["resource"]
    container = reference["containerName"]
    if volume and container.is_empty:
        container.required(help="name the container whose resources are read")
        return

    resource.check_filled(help="name the resource, for example limits.cpu")
    name = resource.value
    if type(name) is not str or not name:
        return

    is_huge_pages = name.startswith(("limits.hugepages-", "requests.hugepages-"))
    if name not in _ALL_RESOURCES and not is_huge_pages:
        help = (
            "write other values as text: the downward API reads cpu, memory, ephemeral-storage "
            "and hugepages"
        )
        resource.unsupported(_ALL_RESOURCES, help)
        return

    divisor = parse(reference.get("divisor"))
    units = ", ".join(_CPU_DIVISORS if name.endswith(".cpu") else _BYTE_DIVISORS)
    if divisor and to_string(divisor) not in units.split(", "):
        why = f"only divisor's values {units} are supported with the {name} resource"
        reference["divisor"].replaced(to_string(divisor)).invalid(why, f"use one of {units}")


def _check_key_ref(reference: FieldValue) -> None:
    reference["name"].or_zero("").check_text(
        names.why_not_dns_subdomain, "name the ConfigMap or Secret"
    )
    reference["key"].check_required_text(names.why_not_config_key, help="name the key to read")


def _check_file_ref(reference: FieldValue) -> None:
    reference.require("volumeName", "path", "key")
    reference["volumeName"].check_optional_text(names.why_not_dns_label)


_CHECKS_BY_SOURCE: dict[str, Callable[[FieldValue], None]] = {
    "fieldRef": check_field_ref,
    "resourceFieldRef": check_resource_ref,
    "configMapKeyRef": _check_key_ref,
    "secretKeyRef": _check_key_ref,
    "fileKeyRef": _check_file_ref,
}


def check_env_from(sources: FieldValue, container: Json) -> None:
    """Check `envFrom` of a container. If the source is wrong, the server names the list instead
    of the item.
    """
    why_not = _env_name_rule(sources.server)
    for entry in sources.objects():
        entry["prefix"].check_optional_text(why_not)
        references = entry.set_fields(("configMapRef", "secretRef"))
        if len(references) != 1:
            why_none = "must specify one of: `configMapRef` or `secretRef`"
            why = "may not have more than one field specified at a time" if references else why_none
            entry.replaced("").invalid(why, "give each entry one source", field_path(sources.path))

        for reference in references:
            help = "name the ConfigMap or Secret"
            reference["name"].check_required_text(
                lambda name: names.why_not_dns_subdomain(names.mask_dash(name)), help=help
            )
