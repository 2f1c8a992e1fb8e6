"""What the API server declares for CEL expressions: of admission policies, of device selectors, and
of CRD rules.

Source: apiserver 1.36 `pkg/admission/plugin/cel/compile.go`, dynamic-resource-allocation
`cel/compile.go`, apiserver `pkg/cel/common/schemas.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.cel.checker import CelTypeError, Environment, type_of
from ptcompile.apiserver.cel.declarations import read_type
from ptcompile.apiserver.cel.syntax import CelLimitError
from ptcompile.apiserver.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    CelType,
    format_type,
    list_of,
    map_of,
)
from ptcompile.kubernetes.unstructured import nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.checker import FieldTypes
    from ptcompile.kubernetes.unstructured import Json


def _fields(text: str) -> FieldTypes:
    """Return the fields in a text such as `name: string; size: int`, with their types."""
    return {
        name: read_type(kind)
        for name, _, kind in (part.partition(": ") for part in text.split("; "))
    }


_VARIABLES = "kubernetes.variables"


@cache
def _policy_objects() -> Mapping[str, FieldTypes]:
    table = load_table("apiserver/cel/policy_objects.json")["fields"]
    return {name: _fields(text) for name, text in table.items()}


def policy_environment(
    *,
    params: bool,
    authorizer: bool = True,
    patches: bool = False,
    variables: FieldTypes | None = None,
) -> Environment:
    """Return what an expression of an admission policy or of a webhook's match condition may use.

    `params` is declared if the policy has a `paramKind`; `authorizer` everywhere but in message
    expressions; `patches` are the types of mutations; `variables` are the policy's variables so
    far, if the expression may use them.
    """
    declared = {
        "object": DYN,
        "oldObject": DYN,
        "request": CelType("kubernetes.AdmissionRequest"),
        "namespaceObject": CelType("kubernetes.Namespace"),
    }
    objects = _policy_objects()
    if params:
        declared["params"] = DYN
    if authorizer:
        declared["authorizer"] = read_type("Authorizer")
        declared["authorizer.requestResource"] = read_type("ResourceCheck")
    if variables is not None:
        declared["variables"] = CelType(_VARIABLES)
        objects = {**objects, _VARIABLES: variables}

    return Environment(declared, objects, ("Object", "JSONPatch") if patches else ())


def variable_type(text: str, environment: Environment) -> CelType:
    """Return the type of a policy's variable, which is only known at run time if the expression
    does not compile.
    """
    try:
        return type_of(text, environment)
    except (CelTypeError, CelLimitError):
        return DYN


def why_invalid_policy_expression(
    text: str, environment: Environment, allowed: Iterable[CelType]
) -> str | None:
    """Return why the API server rejects an expression of a policy, or None. No `allowed` types
    mean any type.
    """
    try:
        kind = type_of(text, environment)
    except CelTypeError as error:
        return f"compilation failed: {error}"
    except CelLimitError:
        # too long or too deep to be read here, but the API server may accept it
        return None

    names = [format_type(each) for each in allowed]
    if not names or format_type(kind) in names:
        return None

    expected = names[0] if len(names) == 1 else f"one of [{' '.join(names)}]"
    return f"must evaluate to {expected} but got {format_type(kind)}"


_DEVICE = Environment(
    {"device": CelType("kubernetes.DRADevice")},
    {
        "kubernetes.DRADevice": _fields(
            "driver: string; allowMultipleAllocations: bool; attributes: map(string, map(string, "
            "any)); "
            "capacity: map(string, map(string, Quantity))"
        )
    },
)


def why_invalid_device_expression(text: str) -> str | None:
    """Return why the API server rejects the selector of a device, or None."""
    try:
        kind = type_of(text, _DEVICE)
    except CelTypeError as error:
        return f"compilation failed: {error}"
    except CelLimitError:
        return None
    if kind in (BOOL, CelType("any")):
        return None
    return f"must evaluate to bool or the unknown type, not {format_type(kind)}"


_STRING_FORMATS = {
    "byte": BYTES,
    "duration": DURATION,
    "date": TIMESTAMP,
    "date-time": TIMESTAMP,
    "datetime": TIMESTAMP,
}
_SCALARS = {"boolean": BOOL, "number": DOUBLE, "integer": INT}


class _SchemaTypes:
    """Declares the object types of a schema."""

    def __init__(self) -> None:
        self.objects: dict[str, FieldTypes] = {}

    def declare(self, schema: Json, *, root: bool) -> CelType | None:
        """Return the type of a schema's values, or None if expressions cannot use them."""
        if schema.get("x-kubernetes-int-or-string"):
            return DYN

        kind = schema.get("type")
        if kind == "array":
            items = schema.get("items")
            item = self.declare_child(items) if isinstance(items, Mapping) else None
            return None if item is None else list_of(item)
        if kind == "object" or root:
            return self._declare_object(schema, root)
        if kind == "string":
            return _STRING_FORMATS.get(str(schema.get("format")), STRING)

        return _SCALARS.get(str(kind))

    def declare_child(self, schema: Json) -> CelType | None:
        return self.declare(schema, root=schema.get("x-kubernetes-embedded-resource") is True)

    def _declare_object(self, schema: Json, root: bool) -> CelType | None:
        """Declare an object's fields and return its type; None if the type of its values is
        unknown.
        """
        additional = schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            value = self.declare_child(additional)
            return None if value is None else map_of(STRING, value)

        name = f"object.{len(self.objects)}"
        fields: dict[str, CelType] = {}
        self.objects[name] = fields
        for key, child in nested_map(schema, "properties").items():
            kind = self.declare_child(child) if isinstance(child, Mapping) else None
            if kind is not None:
                fields[key] = kind

        if root and not self._has_metadata(fields):
            fields["apiVersion"] = fields["kind"] = STRING
            self.objects[f"{name}.metadata"] = {"name": STRING, "generateName": STRING}
            fields["metadata"] = CelType(f"{name}.metadata")

        return CelType(name)

    def _has_metadata(self, fields: FieldTypes) -> bool:
        """Return whether a schema declares all fields that objects have anyway; it may then
        declare further ones.
        """
        metadata = self.objects.get(fields["metadata"].name, {}) if "metadata" in fields else {}
        declared = [
            fields.get("apiVersion"),
            fields.get("kind"),
            metadata.get("name"),
            metadata.get("generateName"),
        ]
        return declared == [STRING] * 4


def rule_environment(schema: Json, *, root: bool, optional_old: bool = False) -> Environment | None:
    """Return what a rule of a CRD at this schema may use, or None if the schema has no type."""
    types = _SchemaTypes()
    kind = types.declare(schema, root=root)
    if kind is None:
        return None
    old = CelType("optional_type", (kind,), kind.depth + 1) if optional_old else kind
    return Environment({"self": kind, "oldSelf": old}, types.objects)
