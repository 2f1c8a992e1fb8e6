"""A schema node compiled into a check, and how a schema is read.

Compiled lazily, a field when a document first uses it, and kept. The same schema is read in two ways: `crd=False` as
Go decodes a built-in kind (required fields, enums and list keys are no matter of decoding), `crd=True` as the
apiextensions server holds an operator's object to its CRD.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import CORE, as_tuple, resolve
from ptcompile.apiserver.structure import scalars
from ptcompile.apiserver.structure.faults import (
    KnownFields,
    SchemaViolation,
    Violations,
    bare_unknown_field,
    find_home,
    known_fields,
    type_mismatch,
    unknown_field,
    wrong_version,
)
from ptcompile.apiserver.structure.keywords import bounded_string, crd_amount, further, least_properties, list_bounds
from ptcompile.diagnostics.fixes import NO_ITEM, fix_list
from ptcompile.kubernetes.versions import Version, Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.structure.faults import ValueCheck

    Schema = Mapping[str, Any]


NEWEST: Final = Versions().kubernetes


class SchemaScope(NamedTuple):
    """How a schema is read: which file it is in, for which Kubernetes version, and whether as a CRD's."""

    document: str
    version: str
    crd: bool
    server: Version = NEWEST
    """The API server that holds an object to the CRD; `version` is the one whose types the CRD was made of."""
    complete: bool = False
    """Whether to doubt what is no mistake of a CRD's object: nulls, fractions such as 4.0, what no schema describes."""


def doubted(value: Any) -> Violations:
    """What `Scope.complete` takes for a mistake."""
    return [type_mismatch("value", value)]


def doubtful(scope: SchemaScope) -> frozenset[type]:
    """The types of the values that are doubted wherever they stand."""
    return frozenset({type(None), float} if scope.complete else ())


def in_version(field: Schema, version: str) -> bool:
    """Whether a Kubernetes version knows a field."""
    if "x-since" in field and as_tuple(field["x-since"]) > as_tuple(version):
        return False
    return "x-until" not in field or as_tuple(field["x-until"]) >= as_tuple(version)


def fields_of(schema: Schema, scope: SchemaScope) -> Mapping[str, Any]:
    """The fields of a node through references, list items and map values."""
    for _ in range(4):
        if "$ref" in schema:
            document, name = resolve(scope.document, schema["$ref"])
            schema, scope = load(document)["$defs"][name], SchemaScope(document, scope.version, scope.crd)
        elif "items" in schema:
            schema = schema["items"]
        elif isinstance(schema.get("additionalProperties"), dict):
            schema = schema["additionalProperties"]
        else:
            break
    fields: Mapping[str, Schema] = schema.get("properties", {})
    return {name: field for name, field in fields.items() if in_version(field, scope.version)}


NAMED: Final[dict[tuple[str, bool], ValueCheck]] = {
    ("Quantity", False): scalars.decoded_quantity,
    ("Quantity", True): scalars.crd_quantity,
    ("IntOrString", False): scalars.decoded_int_or_string,
    ("IntOrString", True): scalars.crd_int_or_string,
    ("Time", False): scalars.time,
    ("Time", True): scalars.time,
    ("MicroTime", False): scalars.time,
    ("MicroTime", True): scalars.time,
    ("bytes", False): scalars.base64,
    ("bytes", True): scalars.base64,
}
"""Definitions of the core schema that are one value, by name and by whether a CRD holds them."""

_WRITTEN: Final = {
    "PodFailurePolicyOnPodConditionsPattern": "status",
    "PodTemplateSpec": "spec",
    "ProjectedVolumeSource": "sources",
}
"""Definitions with a field that Go always writes (`apiserver.roundtrip`) and the schema does not require."""

_PLAIN: Final[dict[str, type]] = {"string": str, "boolean": bool}
_BOUNDS: Final = ("enum", "pattern", "minLength", "maxLength", "format", "x-logic")


class Checks(dict[str, "ValueCheck | None"]):
    """The checks of an object's fields, each compiled when a document first has the field."""

    def __init__(self, properties: Mapping[str, Schema], scope: SchemaScope, *, any_other: bool) -> None:
        super().__init__()
        self.properties = properties
        self.scope = scope
        self.other = scalars.anything if any_other else None

    @cached_property
    def known(self) -> KnownFields:
        """What hints about unknown fields need."""
        usable = {name: field for name, field in self.properties.items() if in_version(field, self.scope.version)}
        return known_fields(usable, lambda field: fields_of(field, self.scope))

    def __missing__(self, key: str) -> ValueCheck | None:
        field = self.properties.get(key)
        if field is None or not in_version(field, self.scope.version):
            return self.other
        check = self[key] = compile_node(field, self.scope)
        return check


@cache
def definition(
    document: str, name: str, version: str, crd: bool, server: Version = NEWEST, complete: bool = False
) -> ValueCheck:
    """The compiled definition of a schema file."""
    if document == CORE and (name, crd) in NAMED:
        return NAMED[name, crd]
    schema = load(document)["$defs"][name]
    if crd and "x-in-crd" in schema:
        return definition(*resolve(document, schema["x-in-crd"]), version, crd, server, complete)
    if complete and name in _WRITTEN:
        schema = {**schema, "required": [*schema.get("required", ()), _WRITTEN[name]]}
    return compile_node(schema, SchemaScope(document, version, crd, server, complete))


def compile_node(schema: Schema, scope: SchemaScope) -> ValueCheck:
    """The check of one schema node, for values that are not null."""
    if "$ref" in schema:
        crd = scope.crd and not schema.get("x-decoded")
        complete = scope.complete and crd
        return definition(*resolve(scope.document, schema["$ref"]), scope.version, crd, scope.server, complete)
    check = _typed(schema, scope)
    return further(check, schema, scope.server) if scope.crd else check


def _typed(schema: Schema, scope: SchemaScope) -> ValueCheck:
    kind = schema.get("type", "any")
    if kind == "object":
        return _object(schema, scope)
    if kind == "array":
        return _list(schema, scope)
    if kind == "string":
        return bounded_string(schema) or scalars.string
    if kind == "int-or-string":
        return crd_amount(schema)
    if kind == "integer":
        return _integer(schema, scope)
    if kind == "any":
        return doubted if scope.complete else scalars.anything
    return {"boolean": scalars.boolean, "number": scalars.number}[kind]


def _integer(schema: Schema, scope: SchemaScope) -> ValueCheck:
    """A whole number. Until 1.36 servers dropped the formats of a CRD's integers: 2**31 is one of `int32`."""
    kind, low, high = schema.get("format", ""), schema.get("minimum"), schema.get("maximum")
    if scope.crd and scope.server < (1, 36) and kind in scalars.INT_RANGES:
        own = scalars.INT_RANGES[kind]
        kind, low, high = "", None if low == own[0] else low, None if high == own[1] else high
    return scalars.integer(kind, low, high)


def _plain_type(schema: Schema) -> type | None:
    """The Python type of a value that needs no further check."""
    if "$ref" in schema or any(bound in schema for bound in _BOUNDS):
        return None
    return _PLAIN.get(schema.get("type", "any"))


def _object(schema: Schema, scope: SchemaScope) -> ValueCheck:
    if schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
        return doubted if scope.complete else _any_object
    if isinstance(schema.get("additionalProperties"), dict):
        return _map(schema["additionalProperties"], scope)
    return _fields(schema, scope)


def _any_object(value: Any) -> Violations:
    return None if isinstance(value, dict) else [type_mismatch("object", value)]


def _fields(schema: Schema, scope: SchemaScope) -> ValueCheck:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    any_other = bool(schema.get("x-kubernetes-preserve-unknown-fields")) and not scope.complete
    checks = Checks(properties, scope, any_other=any_other)
    plain = {k: t for k, s in properties.items() if (t := _plain_type(s)) and in_version(s, scope.version)}
    required = tuple(schema.get("required", ())) if scope.crd else ()
    doubts = doubtful(scope)

    def check(value: Any) -> Violations:
        if type(value) is not dict and not isinstance(value, dict):
            return [type_mismatch("object", value)]
        faults: Violations = None
        for key, item in value.items():
            if type(item) is plain.get(key):
                continue
            field = checks[key]
            if field is None:
                found = [_unknown(key, checks, value, len(faults or ()))]
            elif type(item) in doubts:
                found = doubted(item)  # type: ignore[assignment]
            elif item is None or (found := field(item)) is None:  # type: ignore[assignment]
                continue
            else:
                _adopt(found, key)
                find_home(found, properties, value)
            faults = _more(faults, found)
        for name in required:
            if value.get(name) is None:
                faults = _missing(name, faults)
        return faults

    least = least_properties(schema) if scope.crd else 0
    return _with_least(check, least) if least else check


def _with_least(check: ValueCheck, least: int) -> ValueCheck:
    """The check with `minProperties`, which is asked where nothing else is wrong."""

    def checked(value: Any) -> Violations:
        faults = check(value)
        if not faults and sum(item is not None for item in value.values()) < least:
            return [
                SchemaViolation("invalid-value", f"Invalid value: must have at least {least} properties", "fill it in")
            ]
        return faults

    return checked


def _more(faults: Violations, found: list[SchemaViolation]) -> list[SchemaViolation]:
    """Add faults to those of the same object, in place: a sum would copy all of them for each."""
    if faults is None:
        return [*found]
    faults.extend(found)
    return faults


def _adopt(found: list[SchemaViolation], key: str | int) -> None:
    for fault in found:
        fault.path.append(key)


def _missing(name: str, faults: Violations) -> Violations:
    """A required field that is not there, unless it is there under a name that was probably meant to be it."""
    if faults and any(fault.suggestion == name and len(fault.path) == 1 for fault in faults):
        return faults
    fault = SchemaViolation("required-value", "Required value", f'add "{name}"')
    fault.path.append(name)
    return [*(faults or ()), fault]


def _unknown(key: str, checks: Checks, there: Mapping[str, Any], faults: int) -> SchemaViolation:
    """Return the fault for a key that the schema, or this version of it, does not know; `faults` came before it."""
    scope = checks.scope
    field = checks.properties.get(key)
    if field is not None:
        return wrong_version(key, field.get("x-since"), field.get("x-until"), scope.version, in_crd=scope.crd)
    if faults >= limits().findings:
        return bare_unknown_field(key)  # reported only if others are ignored, and a hint takes long
    fault = unknown_field(key, checks.known, there)
    if fault.cure is not None and fault.suggestion is not None and there[key] is not None:
        wrong = compile_node(checks.properties[fault.suggestion], scope)(there[key]) or ()
        if any(one.name == "wrong-type" and not one.path for one in wrong):
            fault.cure = None  # a list under the name of a number would only be wrong in another way
    return fault


def _map(values: Schema, scope: SchemaScope) -> ValueCheck:
    plain = _plain_type(values)
    check_item = compile_node(values, scope)
    doubts = doubtful(scope)

    def check(value: Any) -> Violations:
        if type(value) is not dict and not isinstance(value, dict):
            return [type_mismatch("object", value)]
        faults: Violations = None
        for key, item in value.items():
            if type(item) in doubts:
                found = doubted(item)
            elif type(item) is plain or item is None:
                continue
            else:
                found = check_item(item)
            if found is not None:
                _adopt(found, key)
                faults = _more(faults, found)
        return faults

    return check


def _list(schema: Schema, scope: SchemaScope) -> ValueCheck:
    items: Schema = schema["items"]
    plain = _plain_type(items)
    check_item = compile_node(items, scope)
    as_whole = list_bounds(schema, _defaults(items, scope)) if scope.crd else None
    crd = scope.crd
    doubts = doubtful(scope)

    def check(value: Any) -> Violations:
        if type(value) is not list and not isinstance(value, list):
            return [_no_list(value, plain)]
        faults: Violations = None
        for index, item in enumerate(value):
            if type(item) is plain:
                continue
            if item is None:
                # Go leaves a null item at its zero value; a CRD's schema refuses it.
                found: Violations = [_no_item(items.get("type", "object"))] if crd else None
            elif type(item) in doubts:
                found = doubted(item)
            else:
                found = check_item(item)
            if found is not None:
                _adopt(found, index)
                faults = _more(faults, found)
        if as_whole is not None and (found := as_whole(value)) is not None:
            faults = _more(faults, found)
        return faults

    return check


def _no_list(value: Any, items: type | None) -> SchemaViolation:
    fault = type_mismatch("array", value)
    fault.cure = fix_list(value) if items is str else None
    return fault


def _no_item(expected: str) -> SchemaViolation:
    fault = type_mismatch(expected, None)
    fault.cure = NO_ITEM
    return fault


def _defaults(items: Schema, scope: SchemaScope) -> dict[str, Any]:
    """The defaults of a list item's fields: the server fills them in before it compares list-map keys."""
    return {name: field["default"] for name, field in fields_of(items, scope).items() if "default" in field}
