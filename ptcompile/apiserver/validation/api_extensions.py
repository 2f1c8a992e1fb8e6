"""CustomResourceDefinition: names, versions, columns, subresources, selectable fields, and
conversion.

Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation/validation.go. `crds.schema`
validates the schemas, `validation.crd_schemas` their defaults and CEL rules, `validation.updates`
changes.
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
from ptcompile.apiserver.validation.field import FieldValue, byte_count
from ptcompile.apiserver.validation.values import why_not_kind
from ptcompile.diagnostics.field_errors import key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import Json

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


def check_custom_definition(crd: FieldValue) -> None:
    """Check a CustomResourceDefinition, except the generic part of its metadata."""
    spec = crd["spec"]
    plural = spec["names"].get("plural") or ""
    group = spec["group"].or_default("")
    expected = f"{plural}.{group.value}"
    if plural and group.value:
        name_help = f"name it {expected}"
    else:
        name_help = "set spec.names.plural and spec.group"

    for key, help in (("name", name_help), ("generateName", "write metadata.name instead")):
        name = crd["metadata"][key]
        if name.is_text and name.value and name.value != expected:
            name.invalid('must be spec.names.plural+"."+spec.group', help)

    group.check_required_text(_why_not_group)
    spec["scope"].check_required_choice(_SCOPES, help="set Namespaced or Cluster")
    _check_versions(crd)
    _check_names(spec["names"])
    _check_conversion(spec["conversion"])
    _check_approval(group.value, crd["metadata"]["annotations"][_APPROVED])
    if spec.get("preserveUnknownFields") is True:
        why = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        spec["preserveUnknownFields"].invalid(why)

    # as on the server, each part is only checked in a schema that is valid so far
    manifest = crd.mapping
    crd.problems.extend(
        crd_schema_problems(manifest)
        or crd_value_problems(manifest, crd.server)
        or crd_cost_problems(manifest)
    )


def _why_not_group(group: str) -> str | None:
    why = names.why_not_dns_subdomain(group)
    if why is None and "." not in group:
        return "should be a domain with at least one dot"
    return why


def _check_approval(group: Any, approval: FieldValue) -> None:
    """Check that a group of Kubernetes' own domains is approved."""
    if type(group) is not str or not f".{group}".endswith(
        tuple(f".{domain}" for domain in _PROTECTED_GROUPS)
    ):
        return

    why = f'protected groups must have approval annotation "{_APPROVED}"'
    if approval.is_empty:
        help = "use a group of your own domain; Kubernetes reserves this one"
        approval.required(f"{why}, see {_REQUEST}", help, key_path(approval.path))
    elif approval.is_text and not approval.value.startswith("unapproved"):
        scheme, mark, rest = approval.value.partition("://")
        if not mark or not scheme or not rest.partition("/")[0]:
            why += f' with either a URL or a reason starting with "unapproved", see {_REQUEST}'
            approval.invalid(why, field=key_path(approval.path))


def _check_versions(crd: FieldValue) -> None:
    versions = crd["spec"]["versions"]
    seen = set[str]()
    stored = 0
    repeated = False
    for version in versions.objects():
        name = version["name"].or_default("")
        if name.is_text:
            repeated = repeated or name.value in seen
            seen.add(name.value)
            name.check_text(names.why_not_dns_1035_label)
        stored += version.get("storage") is True
        _check_version(version)

    if repeated:
        versions.invalid("must contain unique version names")
    if stored != 1:
        why = "must have exactly one version marked as storage version"
        versions.invalid(why, "set `storage: true` in one version and false in the others")
    if not stored:
        unset = crd["status"]["storedVersions"].replaced([])
        unset.invalid("must have at least one stored version", "set `storage: true` in one version")


def _check_version(version: FieldValue) -> None:
    schema = version["schema"]["openAPIV3Schema"]
    scale = version["subresources"]["scale"]
    if schema.value is None:
        help = "describe the object; to allow any field, set x-kubernetes-preserve-unknown-fields"
        schema.required("schemas are required", help)
    _check_warning(version["deprecationWarning"], version.get("deprecated") is True)
    if scale.is_mapping:
        _check_scale(scale)
    for column in version["additionalPrinterColumns"].objects():
        _check_column(column)
    if schema.is_mapping:
        _check_selectable(version["selectableFields"], schema.value)


def _check_warning(warning: FieldValue, deprecated: bool) -> None:
    text = warning.value
    if type(text) is not str:
        return
    if not deprecated:
        warning.invalid("can only be set for deprecated versions", "set `deprecated: true`")
        return

    if warning.is_longer(_WARNING_MAX):
        warning.invalid(f"must be <= {_WARNING_MAX} characters long")
    if not text:
        warning.invalid("must not be an empty string", "remove it for the usual warning")
    for index, character in enumerate(text):
        if not character.isprintable():
            why = (
                "must only contain printable UTF-8 characters; non-printable character found at "
                f"index {byte_count(text[:index])}"
            )
            warning.invalid(why)
            return


def _check_scale(scale: FieldValue) -> None:
    for key, roots in (
        ("specReplicasPath", ("spec",)),
        ("statusReplicasPath", ("status",)),
        ("labelSelectorPath", ("spec", "status")),
    ):
        path = scale[key]
        if path.is_empty and key != "labelSelectorPath":
            path.required()
        _check_json_path(path)

        text = path.value
        is_path = type(text) is str and text.startswith(".")
        if is_path and not text.startswith(tuple(f".{root}." for root in roots)):
            where = f".{roots[0]}" if len(roots) == 1 else "either .spec or .status"
            path.invalid(f"should be a json path under {where}")


def _check_json_path(path: FieldValue) -> None:
    text = path.value
    if type(text) is str and text and not text.startswith("."):
        path.invalid("must be a simple json path starting with .", f"write .{text.lstrip('/')}")


def _check_column(column: FieldValue) -> None:
    kind = column["type"]
    form = column["format"]
    path = column["jsonPath"]
    allowed = f"must be one of {','.join(_COLUMN_TYPES)}"
    column.require("name")
    if kind.is_empty:
        kind.required(allowed)
    elif kind.is_text and kind.value not in _COLUMN_TYPES:
        kind.invalid(allowed)
    if form.is_text and form.value and form.value not in _COLUMN_FORMATS:
        form.invalid(f"must be one of {','.join(_COLUMN_FORMATS)}")
    path.check_filled()
    _check_json_path(path)


def _check_selectable(fields: FieldValue, schema: Json) -> None:
    seen = set[tuple[str, ...]]()
    for item in fields.objects():
        field = item["jsonPath"]
        field.check_filled()
        if not field.is_text or not field.value:
            continue

        try:
            steps, selected = field_at(field.value, schema, brackets=False)
        except SchemaPathError as error:
            field.invalid(f"is an invalid path: {error}")
            continue

        if steps[0] == "metadata":
            field.invalid("must not point to fields in metadata")
        if selected.get("type") not in _SELECTABLE_TYPES:
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats"
                " are allowed."
            )
            field.invalid(why)
        if steps in seen:
            field.duplicate()
        seen.add(steps)

    if len(seen) > _SELECTABLE_MAX:
        fields.problems.too_many(fields.path, len(seen), _SELECTABLE_MAX)


def _check_names(crd_names: FieldValue) -> None:
    kind = crd_names.get("kind")
    required = ("plural",) if kind else ("plural", "kind", "singular", "listKind")
    crd_names.require(*required)

    # the server derives the list kind, and the singular, from the kind
    list_kind = crd_names["listKind"].or_default(f"{kind}List" if kind else "")
    for key in ("plural", "singular"):
        crd_names[key].check_optional_text(names.why_not_dns_1035_label)
    for name in (crd_names["kind"], list_kind):
        name.check_optional_text(why_not_kind)
    if kind and kind == list_kind.value:
        list_kind.invalid("kind and listKind may not be the same")
    for key in ("shortNames", "categories"):
        for name in crd_names[key].items(crd_names[key].strings):
            name.check_text(names.why_not_dns_1035_label)


def _check_conversion(conversion: FieldValue) -> None:
    if not conversion.is_mapping:
        return

    client = conversion["webhook"]["clientConfig"]
    versions = conversion["webhook"]["conversionReviewVersions"]
    conversion["strategy"].check_required_choice(_STRATEGIES, help="set None or Webhook")
    if conversion.get("strategy") == "Webhook":
        if client.value is None:
            client.required("required when strategy is set to Webhook")
        else:
            check_client(client)
        check_review_versions(versions)
        return

    why = "should not be set when strategy is not set to Webhook"
    client.check_unset(why)
    if versions.strings:
        versions.forbidden(why)
