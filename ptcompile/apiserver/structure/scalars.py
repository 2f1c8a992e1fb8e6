"""Checks of single values, as Go's decoder (built-in kinds) or the CRD's schema (operators' kinds) takes them."""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.structure.faults import SchemaViolation, Violations, format_value, type_mismatch
from ptcompile.diagnostics.fixes import QUOTES, fix_quantity
from ptcompile.kubernetes.quantity import valid as valid_quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.structure.faults import ValueCheck

INT_RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}

# The pattern that controller-gen writes beside every quantity of a CRD.
_CRD_QUANTITY = Pattern(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))?"
).fullmatch
_TIME = Pattern(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_BASE64 = Pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?").fullmatch

_QUANTITY_HELP = 'write a number with a suffix of n, u, m, k, M, G, T, P, E or Ki to Ei, for example "500m" or "16Gi"'


def whole(value: Any) -> int | None:
    """The whole number that a value is, or None. `4.0` is one: kubectl sends it as `4`. `true` is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def anything(value: Any) -> Violations:
    """JSON of any shape."""
    return None


def string(value: Any) -> Violations:
    """Any text."""
    return None if isinstance(value, str) else [type_mismatch("string", value)]


def boolean(value: Any) -> Violations:
    """True or false, not their names in quotes."""
    return None if isinstance(value, bool) else [type_mismatch("boolean", value)]


def integer(kind: str, minimum: int | None = None, maximum: int | None = None) -> ValueCheck:
    """A whole number of the range of `kind` (int32, int64) and of the schema's own bounds."""
    low, high = INT_RANGES.get(kind, INT_RANGES["int64"])
    expected = "integer" if kind not in INT_RANGES else kind
    floor = low if minimum is None else max(low, minimum)
    ceiling = high if maximum is None else min(high, maximum)

    def check(value: Any) -> Violations:
        if type(value) is int and floor <= value <= ceiling:
            return None
        int_value = whole(value)
        if int_value is None:
            return [type_mismatch(expected, value)]
        if not low <= int_value <= high:
            text = f"must be of type {expected}: {int_value} is out of range"
            return [SchemaViolation("wrong-type", text, f"use a number from {floor} to {ceiling}")]
        if int_value < floor:
            text = f"Invalid value: {int_value}: must be greater than or equal to {floor}"
            return [SchemaViolation("invalid-value", text, f"use {floor} or more")]
        if int_value > ceiling:
            text = f"Invalid value: {int_value}: must be less than or equal to {ceiling}"
            return [SchemaViolation("invalid-value", text, f"use {ceiling} or less")]
        return None

    return check


def number(value: Any) -> Violations:
    """Any number."""
    return None if isinstance(value, int | float) and not isinstance(value, bool) else [type_mismatch("number", value)]


def decoded_quantity(value: Any) -> Violations:
    """A quantity as apimachinery's `Quantity.UnmarshalJSON` takes it: text or number."""
    if valid_quantity(value):
        return None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return [type_mismatch("quantity", value)]
    return [_no_quantity(value)]


def _no_quantity(value: Any) -> SchemaViolation:
    fault = SchemaViolation(
        "invalid-quantity", f"Invalid value: {format_value(value)}: is not a quantity", _QUANTITY_HELP
    )
    fault.cure = fix_quantity(value)
    return fault


def crd_quantity(value: Any) -> Violations:
    """A quantity in a CRD: an integer, or text that fits a pattern looser than Go's parser, which reads it later."""
    if isinstance(value, str):
        if _CRD_QUANTITY(value) is None:
            return [_no_quantity(value)]
        if valid_quantity(value):
            return None
        text = f"Invalid value: {format_value(value)}: the CRD accepts it, but it cannot be read as a quantity"
        return [SchemaViolation("invalid-quantity", text, _QUANTITY_HELP, stage="pod")]
    if whole(value) is not None:
        return None
    fault = type_mismatch("integer or string", value)
    if isinstance(value, float):
        fault.help = f'quote the value: "{value}"'
        fault.cure = QUOTES
    return [fault]


def decoded_int_or_string(value: Any) -> Violations:
    """`intstr.IntOrString`: text, or a number of 32 bits."""
    if isinstance(value, str):
        return None
    int_value = whole(value)
    if int_value is None:
        return [type_mismatch("int32 or string", value)]
    low, high = INT_RANGES["int32"]
    if low <= int_value <= high:
        return None
    text = f"must be of type int32: {int_value} is out of range"
    return [SchemaViolation("wrong-type", text, f"use a number from {low} to {high}")]


def crd_int_or_string(value: Any) -> Violations:
    """`x-kubernetes-int-or-string`: a number beyond 32 bits passes here, and the pod is rejected."""
    found = decoded_int_or_string(value)
    if found and whole(value) is not None:
        found[0].stage = "pod"
    return found


def time(value: Any) -> Violations:
    """A time of RFC 3339."""
    if not isinstance(value, str):
        return [type_mismatch("string", value)]
    if _TIME(value):
        return None
    return [
        SchemaViolation(
            "wrong-type",
            f"must be a time, not {format_value(value)}",
            'write a time like "2026-01-31T12:00:00Z", quoted',
        )
    ]


def base64(value: Any) -> Violations:
    """Bytes in base64, line ends ignored, as Go's `encoding/json` reads `[]byte`."""
    if not isinstance(value, str):
        return [type_mismatch("string", value)]
    if _BASE64(value.replace("\n", "").replace("\r", "")):
        return None
    return [
        SchemaViolation(
            "wrong-type", "must be base64", "encode the value with base64; a Secret takes plain text in stringData"
        )
    ]
