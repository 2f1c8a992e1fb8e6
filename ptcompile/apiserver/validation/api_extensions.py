"""CustomResourceDefinition: names, versions, columns, subresources, selectable fields, and conversion.

Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation/validation.go. `crds.schema` validates the
schemas, `validation.crd_schemas` their defaults and CEL rules, `validation.updates` changes.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.cel.cost import crd_cost_problems
from ptcompile.apiserver.crds.schema import crd_schema_problems
from ptcompile.apiserver.validation.admission_registration import (
    check_client,
    check_review_versions,
)
from ptcompile.apiserver.validation.crd_schemas import SchemaPathError, crd_value_problems, field_at
from ptcompile.apiserver.validation.values import why_not_kind
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty, key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

_SCOPES = ("Cluster", "Namespaced")
_STRATEGIES = ("None", "Webhook")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE_TYPES = ("string", "boolean", "integer")
_SELECTABLE_MAX = 8
_WARNING_MAX = 256
_PROTECTED_GROUPS = ("k8s.io", "kubernetes.io")
_APPROVED = "api-approved.kubernetes.io"
_REQUEST = "https://github.com/kubernetes/enhancements/pull/1111"


def check_custom_definition(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a CustomResourceDefinition, except the generic part of its metadata."""
    spec = nested_map(manifest, "spec")
    plural = nested_map(spec, "names").get("plural") or ""
    group = spec.get("group") or ""
    metadata = nested_map(manifest, "metadata")
    name = metadata.get("name")
    if type(name) is str and name and name != f"{plural}.{group}":
        help = f"name it {plural}.{group}" if plural and group else "set spec.names.plural and spec.group"
        problems.invalid(("metadata", "name"), name, 'must be spec.names.plural+"."+spec.group', help)
    prefix = metadata.get("generateName")
    if type(prefix) is str and prefix and prefix != f"{plural}.{group}":
        why = 'must be spec.names.plural+"."+spec.group'
        problems.invalid(("metadata", "generateName"), prefix, why, "write metadata.name instead")
    _check_group(group, problems)
    scope_help = "set Namespaced or Cluster"
    problems.check_required_choice(("spec", "scope"), spec.get("scope"), _SCOPES, help=scope_help)
    _check_versions(spec.get("versions"), problems)
    _check_names(spec.get("names"), problems)
    _check_conversion(spec.get("conversion"), problems)
    _check_approval(group, metadata.get("annotations"), problems)
    if spec.get("preserveUnknownFields") is True:
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        problems.invalid(("spec", "preserveUnknownFields"), True, why)
    # as on the server, each part is only checked in a schema that is valid so far
    problems += crd_schema_problems(manifest) or crd_value_problems(manifest, context) or crd_cost_problems(manifest)


def _check_group(group: Any, problems: FieldErrors) -> None:
    if group == "":
        problems.required(("spec", "group"))
    elif type(group) is str and (why := names.why_not_dns_subdomain(group)):
        problems.invalid(("spec", "group"), group, why)
    elif type(group) is str and "." not in group:
        problems.invalid(("spec", "group"), group, "should be a domain with at least one dot")


def _check_approval(group: Any, marks: Any, problems: FieldErrors) -> None:
    """Check that a group of Kubernetes' own domains is approved."""
    if type(group) is not str or not f".{group}".endswith(tuple(f".{domain}" for domain in _PROTECTED_GROUPS)):
        return
    path = ("metadata", "annotations", _APPROVED)
    why = f'protected groups must have approval annotation "{_APPROVED}"'
    approval = as_mapping(marks).get(_APPROVED)
    if is_empty(approval):
        help = "use a group of your own domain; Kubernetes reserves this one"
        problems.required(path, f"{why}, see {_REQUEST}", help, field=key_path(path))
    elif type(approval) is str and not approval.startswith("unapproved"):
        scheme, mark, rest = approval.partition("://")
        if not mark or not scheme or not rest.partition("/")[0]:
            why += f' with either a URL or a reason starting with "unapproved", see {_REQUEST}'
            problems.invalid(path, approval, why, field=key_path(path))


# versions


def _check_versions(versions: Any, problems: FieldErrors) -> None:
    path: Path = ("spec", "versions")
    seen = set[str]()
    stored = 0
    repeated = False
    for index, version in indexed_mappings(versions):
        name = version.get("name") or ""
        if type(name) is str:
            repeated = repeated or name in seen
            seen.add(name)
            problems.check_text((*path, index, "name"), name, names.why_not_dns_1035_label)
        stored += version.get("storage") is True
        _check_version(version, (*path, index), problems)
    if repeated:
        problems.invalid(path, versions, "must contain unique version names")
    if stored != 1:
        why = "must have exactly one version marked as storage version"
        problems.invalid(path, versions, why, "set `storage: true` in one version and false in the others")
    if not stored:
        why = "must have at least one stored version"
        problems.invalid(("status", "storedVersions"), [], why, "set `storage: true` in one version")


def _check_version(version: Json, path: Path, problems: FieldErrors) -> None:
    schema = nested_map(version, "schema").get("openAPIV3Schema")
    if schema is None:
        help = "describe the object; to allow any field, set x-kubernetes-preserve-unknown-fields"
        problems.required((*path, "schema", "openAPIV3Schema"), "schemas are required", help)
    warning = version.get("deprecationWarning")
    if type(warning) is str:
        _check_warning(warning, version.get("deprecated") is True, (*path, "deprecationWarning"), problems)
    scale = nested_map(version, "subresources").get("scale")
    if type(scale) is dict:
        _check_scale(scale, (*path, "subresources", "scale"), problems)
    for index, column in indexed_mappings(version.get("additionalPrinterColumns")):
        _check_column(column, (*path, "additionalPrinterColumns", index), problems)
    if type(schema) is dict:
        _check_selectable(version.get("selectableFields"), schema, (*path, "selectableFields"), problems)


def _check_warning(text: str, deprecated: bool, path: Path, problems: FieldErrors) -> None:
    if not deprecated:
        problems.invalid(path, text, "can only be set for deprecated versions", "set `deprecated: true`")
        return
    if len(text.encode("utf-8", "surrogatepass")) > _WARNING_MAX:
        problems.invalid(path, text, f"must be <= {_WARNING_MAX} characters long")
    if not text:
        problems.invalid(path, text, "must not be an empty string", "remove it for the usual warning")
    for index, character in enumerate(text):
        if not character.isprintable():
            offset = len(text[:index].encode("utf-8", "surrogatepass"))
            why = f"must only contain printable UTF-8 characters; non-printable character found at index {offset}"
            problems.invalid(path, text, why)
            return


def _check_scale(scale: Json, path: Path, problems: FieldErrors) -> None:
    for key, roots in (
        ("specReplicasPath", ("spec",)),
        ("statusReplicasPath", ("status",)),
        ("labelSelectorPath", ("spec", "status")),
    ):
        text = scale.get(key)
        if is_empty(text):
            if key != "labelSelectorPath":
                problems.required((*path, key))
        elif type(text) is str:
            _check_json_path(text, (*path, key), problems)
            if text.startswith(".") and not text.startswith(tuple(f".{root}." for root in roots)):
                where = f".{roots[0]}" if len(roots) == 1 else "either .spec or .status"
                problems.invalid((*path, key), text, f"should be a json path under {where}")


def _check_json_path(text: str, path: Path, problems: FieldErrors) -> None:
    if not text.startswith("."):
        problems.invalid(path, text, "must be a simple json path starting with .", f"write .{text.lstrip('/')}")


def _check_column(column: Json, path: Path, problems: FieldErrors) -> None:
    problems.check_required(column, path, "name")
    kind = column.get("type")
    form = column.get("format")
    json_path = column.get("jsonPath")
    allowed = f"must be one of {','.join(_COLUMN_TYPES)}"
    if is_empty(kind):
        problems.required((*path, "type"), allowed)
    elif type(kind) is str and kind not in _COLUMN_TYPES:
        problems.invalid((*path, "type"), kind, allowed)
    if type(form) is str and form and form not in _COLUMN_FORMATS:
        problems.invalid((*path, "format"), form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if is_empty(json_path):
        problems.required((*path, "jsonPath"))
    elif type(json_path) is str:
        _check_json_path(json_path, (*path, "jsonPath"), problems)


def _check_selectable(fields: Any, schema: Json, path: Path, problems: FieldErrors) -> None:
    seen = set[tuple[str, ...]]()
    for index, field in indexed_mappings(fields):
        text = field.get("jsonPath")
        field_path = (*path, index, "jsonPath")
        if is_empty(text):
            problems.required(field_path)
        if type(text) is not str or not text:
            continue
        try:
            steps, selected = field_at(text, schema, brackets=False)
        except SchemaPathError as error:
            problems.invalid(field_path, text, f"is an invalid path: {error}")
            continue
        if steps[0] == "metadata":
            problems.invalid(field_path, text, "must not point to fields in metadata")
        if selected.get("type") not in _SELECTABLE_TYPES:
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats"
                " are allowed."
            )
            problems.invalid(field_path, text, why)
        if steps in seen:
            problems.duplicate(field_path, text)
        seen.add(steps)
    if len(seen) > _SELECTABLE_MAX:
        problems.too_many(path, len(seen), _SELECTABLE_MAX)


# names


def _check_names(value: Any, problems: FieldErrors) -> None:
    words = as_mapping(value)
    path = ("spec", "names")
    kind = words.get("kind")
    required = ("plural",) if kind else ("plural", "kind", "singular", "listKind")
    problems.check_required(words, path, *required)
    # the server derives the list kind, and the singular, from the kind
    list_kind = words.get("listKind") or (f"{kind}List" if kind else "")
    for key in ("plural", "singular"):
        problems.check_optional_text((*path, key), words.get(key), names.why_not_dns_1035_label)
    for key, text in (("kind", kind), ("listKind", list_kind)):
        problems.check_optional_text((*path, key), text, why_not_kind)
    if kind and kind == list_kind:
        problems.invalid((*path, "listKind"), list_kind, "kind and listKind may not be the same")
    for key in ("shortNames", "categories"):
        for index, text in enumerate(as_strings(words.get(key))):
            problems.check_text((*path, key, index), text, names.why_not_dns_1035_label)


# conversion


def _check_conversion(value: Any, problems: FieldErrors) -> None:
    if type(value) is not dict:
        return
    path: Path = ("spec", "conversion")
    strategy = value.get("strategy")
    webhook = value.get("webhook")
    webhook_path = (*path, "webhook")
    problems.check_required_choice((*path, "strategy"), strategy, _STRATEGIES, help="set None or Webhook")
    config = as_mapping(webhook)
    client = config.get("clientConfig")
    versions = as_strings(config.get("conversionReviewVersions"))
    if strategy == "Webhook":
        if client is None:
            problems.required((*webhook_path, "clientConfig"), "required when strategy is set to Webhook")
        else:
            check_client(client, (*webhook_path, "clientConfig"), problems)
        check_review_versions(versions, (*webhook_path, "conversionReviewVersions"), problems, "")
        return
    why = "should not be set when strategy is not set to Webhook"
    if client is not None:
        problems.forbidden((*webhook_path, "clientConfig"), why)
    if versions:
        problems.forbidden((*webhook_path, "conversionReviewVersions"), why)
