"""Compiler from schema nodes to checks.

A field is compiled when a document first uses it, and then kept. The same schema is read in two
ways. With `crd=False` it is read as Go decodes a built-in kind, which ignores required fields,
enums and list keys. With `crd=True` it is read as the apiextensions server validates an operator's
object against its CRD.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import CORE, as_tuple, resolve
from ptcompile.apiserver.structure import scalars
from ptcompile.apiserver.structure.keywords import (
    compile_int_or_string,
    compile_list_bounds,
    compile_string,
    min_properties,
    with_keywords,
)
from ptcompile.apiserver.structure.violations import (
    KnownFields,
    Release,
    SchemaViolation,
    ValueCheck,
    Violations,
    bare_unknown_field,
    field_of_other_release,
    gate_off,
    has_until,
    known_fields,
    set_homes,
    type_mismatch,
    unknown_field,
    value_of_other_release,
    wrong_version,
)
from ptcompile.diagnostics.fixes import fix_list
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.kubernetes.versions import Version, Versions, is_switched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.kinds import Schema
    from ptcompile.kubernetes.versions import Switches


NEWEST = Versions().kubernetes


class SchemaScope(NamedTuple):
    """How a schema is read: its file, the Kubernetes version, and whether it is a CRD's."""

    document: str
    version: str
    crd: bool
    server: Version = NEWEST
    """API server version that validates the object; `version` is the one from whose types the
    CRD was generated.
    """
    complete: bool = False
    """Whether to report valid values too that Go may change: nulls, fractions such as 4.0, and
    values without a schema.
    """
    gates: Switches = ()
    """Feature gates of the API server that differ from their defaults."""
    release: Release | None = None
    """The operator's release, for a schema of an operator's kind."""


def possible_change(value: Any) -> Violations:
    """Return the violation that `SchemaScope.complete` reports for a valid value."""
    return [type_mismatch("value", value)]


def doubtful_types_of(scope: SchemaScope) -> frozenset[type]:
    """Return the types of values that Go might change, null and floats, if the object must be
    complete; else none.
    """
    return frozenset({type(None), float} if scope.complete else ())


def has_gate_off(field: Schema, scope: SchemaScope) -> bool:
    """Return whether the server drops a field because the field's feature gate is off."""
    gate = field.get("x-gate")
    if gate is None:
        return False
    server = scope.server if scope.crd else as_tuple(scope.version)
    switched = is_switched("kubernetes", gate, server, scope.gates)
    if switched is not None:
        return not switched
    return "x-gate-on" not in field or server < as_tuple(field["x-gate-on"])


def is_known(field: Schema, scope: SchemaScope) -> bool:
    """Return whether the Kubernetes version and the operator's release have a field."""
    release = scope.release
    if release is not None and "x-added" in field and release.version < as_tuple(field["x-added"]):
        return False
    if "x-removed" in field:
        return release is not None and has_until(release, field["x-removed"])
    return is_in_version(field, scope.version)


def is_in_version(field: Schema, version: str) -> bool:
    """Return whether a Kubernetes version, and the newest release of an operator, have a field."""
    if "x-removed" in field:
        return False
    if "x-since" in field and as_tuple(field["x-since"]) > as_tuple(version):
        return False
    return "x-until" not in field or as_tuple(field["x-until"]) >= as_tuple(version)


def fields_of(schema: Schema, scope: SchemaScope) -> tuple[Json, SchemaScope]:
    """Return the fields of a node and the scope of their schemas, following references, list
    items and map values.
    """
    for _ in range(4):
        if "$ref" in schema:
            document, name = resolve(scope.document, schema["$ref"])
            schema = load(document)["$defs"][name]
            scope = scope._replace(document=document)
        elif "items" in schema:
            schema = schema["items"]
        elif isinstance(schema.get("additionalProperties"), dict):
            schema = schema["additionalProperties"]
        else:
            break

    fields: Mapping[str, Schema] = schema.get("properties", {})
    return {name: field for name, field in fields.items() if is_known(field, scope)}, scope


SCALAR_DEFINITIONS: dict[tuple[str, bool], ValueCheck] = {
    ("Quantity", False): scalars.check_decoded_quantity,
    ("Quantity", True): scalars.check_crd_quantity,
    ("IntOrString", False): scalars.check_decoded_int_or_string,
    ("IntOrString", True): scalars.check_crd_int_or_string,
    ("Time", False): scalars.check_time,
    ("Time", True): scalars.check_crd_time,
    ("MicroTime", False): scalars.check_micro_time,
    ("MicroTime", True): scalars.check_crd_time,
    ("bytes", False): scalars.check_base64,
    ("bytes", True): scalars.check_base64,
}
"""Checks of core definitions that are single values, keyed by name and whether a CRD uses them."""

_ALWAYS_WRITTEN = {
    "PodFailurePolicyOnPodConditionsPattern": "status",
    "PodTemplateSpec": "spec",
    "ProjectedVolumeSource": "sources",
}
"""Fields that Go always writes (`apiserver.roundtrip`) although the schema does not require them,
keyed by definition.
"""

_PLAIN_TYPES: dict[str, type] = {"string": str, "boolean": bool}
_BOUNDS = ("enum", "pattern", "minLength", "maxLength", "format", "x-logic")


class Checks(dict[str, "ValueCheck | None"]):
    """Checks of an object's fields, each compiled when a document first has the field."""

    def __init__(
        self, properties: Mapping[str, Schema], scope: SchemaScope, *, any_other: bool
    ) -> None:
        super().__init__()
        self.properties = properties
        self.scope = scope
        self.default = scalars.accept_any if any_other else None

    @cached_property
    def known(self) -> KnownFields:
        """The fields that the hint about an unknown field may suggest."""
        usable = {
            name: field for name, field in self.properties.items() if is_known(field, self.scope)
        }
        return known_fields(usable, self.scope, fields_of)

    def __missing__(self, key: str) -> ValueCheck | None:
        field = self.properties.get(key)
        if field is None or not is_known(field, self.scope):
            return self.default
        check = _with_release_values(compile_node(field, self.scope), field, self.scope.release)
        if has_gate_off(field, self.scope):
            check = _check_dropped(check, field, self.scope)
        self[key] = check
        return check


def _with_release_values(check: ValueCheck, field: Schema, release: Release | None) -> ValueCheck:
    """Return the check of a field that takes some values in some releases of the operator alone."""
    added = field.get("x-added-values", {})
    removed = field.get("x-removed-values", {})
    if release is None or not (added or removed):
        return check

    def check_release(value: Any) -> Violations:
        if type(value) is str and value in removed:
            if has_until(release, removed[value]):
                return None
            return [value_of_other_release(value, None, removed[value], release)]
        if type(value) is str and value in added and release.version < as_tuple(added[value]):
            return [value_of_other_release(value, added[value], None, release)]
        return check(value)

    return check_release


def _check_dropped(check: ValueCheck, field: Schema, scope: SchemaScope) -> ValueCheck:
    """Return the check of a field that the server decodes and then drops: its feature gate is
    off.
    """
    server = scope.server if scope.crd else as_tuple(scope.version)

    def check_gate(value: Any) -> Violations:
        violations = check(value)
        if violations is None and value not in _UNSET:
            return [gate_off(field["x-gate"], field.get("x-gate-drops", ""), server, scope.gates)]
        return violations

    return check_gate


_UNSET: tuple[object, ...] = ("", [], {})
"""Values that a server keeps as little as an absent field, besides null."""


@cache
def definition_check(name: str, scope: SchemaScope) -> ValueCheck:
    """Return the compiled check of a definition in the schema file of `scope`."""
    if scope.document == CORE and (name, scope.crd) in SCALAR_DEFINITIONS:
        return SCALAR_DEFINITIONS[name, scope.crd]
    schema = load(scope.document)["$defs"][name]
    if scope.crd and "x-in-crd" in schema:
        document, name = resolve(scope.document, schema["x-in-crd"])
        return definition_check(name, scope._replace(document=document))
    if scope.complete and name in _ALWAYS_WRITTEN:
        schema = {**schema, "required": [*schema.get("required", ()), _ALWAYS_WRITTEN[name]]}
    return compile_node(schema, scope)


def compile_node(schema: Schema, scope: SchemaScope) -> ValueCheck:
    """Return the check of one schema node, for values that are not null."""
    if "$ref" in schema:
        crd = scope.crd and not schema.get("x-decoded")
        document, name = resolve(scope.document, schema["$ref"])
        release = None if document == CORE else scope.release
        inner = scope._replace(
            document=document, crd=crd, complete=scope.complete and crd, release=release
        )
        return definition_check(name, inner)

    check = _compile_type(schema, scope)
    if scope.crd:
        return with_keywords(check, schema, scope.server)
    return check


def _compile_type(schema: Schema, scope: SchemaScope) -> ValueCheck:
    kind = schema.get("type", "any")
    if kind == "object":
        return _compile_object(schema, scope)
    if kind == "array":
        return _compile_list(schema, scope)
    if kind == "string":
        return compile_string(schema) or scalars.check_string
    if kind == "int-or-string":
        return compile_int_or_string(schema)
    if kind == "integer":
        return _compile_integer(schema, scope)
    if kind == "any":
        return possible_change if scope.complete else scalars.accept_any

    return {"boolean": scalars.check_boolean, "number": scalars.check_number}[kind]


def _compile_integer(schema: Schema, scope: SchemaScope) -> ValueCheck:
    """Return the check of an integer. Until 1.36 servers ignore the formats of a CRD's integers, so
    2**31 is a valid `int32`.
    """
    kind = schema.get("format", "")
    low = schema.get("minimum")
    high = schema.get("maximum")
    if scope.crd and scope.server < (1, 36) and kind in scalars.INT_RANGES:
        lowest, highest = scalars.INT_RANGES[kind]
        kind = ""
        if low == lowest:
            low = None
        if high == highest:
            high = None
    return scalars.compile_integer(kind, low, high)


def _plain_type(schema: Schema) -> type | None:
    """Return the Python type of a value that needs no further check, or None."""
    if "$ref" in schema or any(bound in schema for bound in _BOUNDS):
        return None
    return _PLAIN_TYPES.get(schema.get("type", "any"))


def _compile_object(schema: Schema, scope: SchemaScope) -> ValueCheck:
    if schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
        return possible_change if scope.complete else _check_any_object
    if isinstance(schema.get("additionalProperties"), dict):
        return _compile_map(schema["additionalProperties"], scope)
    return _compile_fields(schema, scope)


def _check_any_object(value: Any) -> Violations:
    if isinstance(value, dict):
        return None
    return [type_mismatch("object", value)]


def _not_a_mapping(value: Any, schema: Schema) -> SchemaViolation:
    """Return the violation of a value in place of fields; a text is that of the only field that
    must be set.
    """
    violation = type_mismatch("object", value)
    required = schema.get("required", ())
    if (
        isinstance(value, str)
        and len(required) == 1
        and schema.get("properties", {}).get(required[0], {}).get("type") == "string"
    ):
        violation.help = f"write {{{required[0]}: {value}}}"
    return violation


def _compile_fields(schema: Schema, scope: SchemaScope) -> ValueCheck:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    any_other = bool(schema.get("x-kubernetes-preserve-unknown-fields")) and not scope.complete
    checks = Checks(properties, scope, any_other=any_other)
    plain = {
        key: kind
        for key, field in properties.items()
        if (kind := _plain_type(field))
        and is_known(field, scope)
        and not has_gate_off(field, scope)
    }
    required = tuple(schema.get("required", ())) if scope.crd else ()
    doubtful_types = doubtful_types_of(scope)

    def check(value: Any) -> Violations:
        if type(value) is not dict and not isinstance(value, dict):
            return [_not_a_mapping(value, schema)]

        violations: Violations = None
        for key, item in value.items():
            if type(item) is plain.get(key):
                continue

            field = checks[key]
            if field is None:
                field_violations = [_unknown_key(key, checks, value, len(violations or ()))]
            elif type(item) in doubtful_types:
                field_violations = possible_change(item)  # type: ignore[assignment]
            elif item is None or (field_violations := field(item)) is None:  # type: ignore[assignment]
                continue
            else:
                _prepend_key(field_violations, key)
                set_homes(field_violations, properties, value)

            violations = _extend(violations, field_violations)

        for name in required:
            if value.get(name) is None:
                violations = _add_missing(name, violations)

        return violations

    minimum = min_properties(schema) if scope.crd else 0

    return _with_min_properties(check, minimum) if minimum else check


def _with_min_properties(check: ValueCheck, minimum: int) -> ValueCheck:
    """Return the check with `minProperties`, which is checked only if nothing else is wrong."""

    def check_with_minimum(value: Any) -> Violations:
        violations = check(value)
        if not violations and sum(item is not None for item in value.values()) < minimum:
            return [
                SchemaViolation(
                    "invalid-value",
                    f"Invalid value: must have at least {minimum} properties",
                    "fill it in",
                )
            ]

        return violations

    return check_with_minimum


def _extend(violations: Violations, added: list[SchemaViolation]) -> list[SchemaViolation]:
    """Add violations to those of the same object, in place: concatenation would copy them all
    for each addition.
    """
    if violations is None:
        return [*added]
    violations.extend(added)
    return violations


def _prepend_key(violations: list[SchemaViolation], key: str | int) -> None:
    for violation in violations:
        violation.path.append(key)


def _add_missing(name: str, violations: Violations) -> Violations:
    """Add the violation of a missing required field, unless an unknown field was probably meant
    to be it.
    """
    if violations and any(
        violation.suggestion == name and len(violation.path) == 1 for violation in violations
    ):
        return violations
    violation = SchemaViolation("required-value", "Required value", f'add "{name}"')
    violation.path.append(name)
    return [*(violations or ()), violation]


def _unknown_key(key: str, checks: Checks, siblings: Json, count: int) -> SchemaViolation:
    """Return the violation for a key that the schema, or this version of it, does not have.

    `count` is the number of violations that came before it in the same object.
    """
    scope = checks.scope
    field = checks.properties.get(key)
    if field is not None:
        if scope.release is not None and ("x-added" in field or "x-removed" in field):
            return field_of_other_release(
                key, field.get("x-added"), field.get("x-removed"), scope.release
            )
        return wrong_version(
            key, field.get("x-since"), field.get("x-until"), scope.version, in_crd=scope.crd
        )
    if count >= limits().findings:
        # the search for a hint is slow, and a problem beyond the limit is rarely reported
        return bare_unknown_field(key)

    violation = unknown_field(key, checks.known, siblings)
    if (
        violation.fix_template is not None
        and violation.suggestion is not None
        and siblings[key] is not None
    ):
        wrong = compile_node(checks.properties[violation.suggestion], scope)(siblings[key]) or ()
        if any(violation.name == "wrong-type" and not violation.path for violation in wrong):
            # a list renamed to a number field would still be wrong
            violation.fix_template = None

    return violation


def _compile_map(values: Schema, scope: SchemaScope) -> ValueCheck:
    plain = _plain_type(values)
    check_item = compile_node(values, scope)
    doubtful_types = doubtful_types_of(scope)

    def check(value: Any) -> Violations:
        if type(value) is not dict and not isinstance(value, dict):
            return [type_mismatch("object", value)]

        violations: Violations = None
        for key, item in value.items():
            if type(item) in doubtful_types:
                item_violations = possible_change(item)
            elif type(item) is plain or item is None:
                continue
            else:
                item_violations = check_item(item)
            if item_violations is not None:
                _prepend_key(item_violations, key)
                violations = _extend(violations, item_violations)

        return violations

    return check


def _compile_list(schema: Schema, scope: SchemaScope) -> ValueCheck:
    items: Schema = schema["items"]
    plain = _plain_type(items)
    check_item = compile_node(items, scope)
    as_whole = compile_list_bounds(schema, _item_defaults(items, scope)) if scope.crd else None
    crd = scope.crd
    doubtful_types = doubtful_types_of(scope)

    def check(value: Any) -> Violations:
        if type(value) is not list and not isinstance(value, list):
            violation = type_mismatch("array", value)
            violation.fix_template = fix_list(value) if plain is str else None
            return [violation]

        violations: Violations = None
        for index, item in enumerate(value):
            if type(item) is plain:
                continue

            if item is None:
                # Go leaves a null item at its zero value; a CRD's schema rejects it
                item_violations: Violations = (
                    [type_mismatch(items.get("type", "object"), None)] if crd else None
                )
            elif type(item) in doubtful_types:
                item_violations = possible_change(item)
            else:
                item_violations = check_item(item)
            if item_violations is not None:
                _prepend_key(item_violations, index)
                violations = _extend(violations, item_violations)

        if as_whole is not None and (item_violations := as_whole(value)) is not None:
            violations = _extend(violations, item_violations)
        return violations

    return check


def _item_defaults(items: Schema, scope: SchemaScope) -> JsonDict:
    """Return the defaults of a list item's fields, which the server sets before it compares
    list-map keys.
    """
    return {
        name: field["default"]
        for name, field in fields_of(items, scope)[0].items()
        if "default" in field
    }
