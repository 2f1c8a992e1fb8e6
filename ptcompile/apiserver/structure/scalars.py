"""Checks of single values, as Go's decoder (built-in kinds) or the CRD's schema (operators'
kinds) accepts them.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile.apiserver.structure.violations import (
    SchemaViolation,
    ValueCheck,
    Violations,
    format_value,
    type_mismatch,
)
from ptcompile.diagnostics.fixes import QUOTES, fix_quantity
from ptcompile.kubernetes.quantity import is_quantity as valid_quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any


INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}

# controller-gen adds this pattern to every quantity of a CRD
_match_crd_quantity = bounded_cache(1024)(
    Pattern(
        r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))?"
    ).fullmatch
)
_GO_TIME = (
    r"([0-9]{{4}})-(0[1-9]|1[0-2])-([0-9]{{2}})T(?:[01]?[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"{fraction}(?:Z|[+-](?:[01][0-9]|2[0-4]):(?:[0-5][0-9]|60))"
)
_match_go_time = Pattern(_GO_TIME.format(fraction=r"(?:[.,][0-9]+)?")).fullmatch
_match_micro_time = Pattern(_GO_TIME.format(fraction=r"[.,][0-9]{6}")).fullmatch
_match_crd_time = Pattern(
    r"([0-9]{4})-(0[1-9]|1[0-2])-([0-9]{2})[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_BASE64 = Pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?").fullmatch

_QUANTITY_HELP = (
    'write a number with a suffix of n, u, m, k, M, G, T, P, E or Ki to Ei, for example "500m" or '
    '"16Gi"'
)


def integer_value(value: Any) -> int | None:
    """Return the value as an integer, or None if it is not one. `4.0` is one, because kubectl sends
    it as `4`; `true` is not.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def accept_any(value: Any) -> Violations:
    """Accept any JSON value."""
    return None


def check_string(value: Any) -> Violations:
    """Check that the value is a text."""
    if isinstance(value, str):
        return None
    return [type_mismatch("string", value)]


def check_boolean(value: Any) -> Violations:
    """Check that the value is a boolean, not a quoted one."""
    if isinstance(value, bool):
        return None
    return [type_mismatch("boolean", value)]


def compile_integer(
    kind: str, minimum: int | None = None, maximum: int | None = None
) -> ValueCheck:
    """Return the check of an integer in the range of `kind` (int32, int64) and within the
    schema's bounds.
    """
    low, high = INT_RANGES.get(kind, INT_RANGES["int64"])
    expected = "integer" if kind not in INT_RANGES else kind
    floor = low if minimum is None else max(low, minimum)
    ceiling = high if maximum is None else min(high, maximum)

    def check(value: Any) -> Violations:
        if type(value) is int and floor <= value <= ceiling:
            return None

        int_value = integer_value(value)
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


def check_number(value: Any) -> Violations:
    """Check that the value is a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None
    return [type_mismatch("number", value)]


def check_decoded_quantity(value: Any) -> Violations:
    """Check a quantity as apimachinery's `Quantity.UnmarshalJSON` accepts it: text or number."""
    if valid_quantity(value):
        return None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return [type_mismatch("quantity", value)]
    return [_invalid_quantity(value)]


def _invalid_quantity(value: Any) -> SchemaViolation:
    return SchemaViolation(
        "invalid-quantity",
        f"Invalid value: {format_value(value)}: is not a quantity",
        _QUANTITY_HELP,
        fix_template=fix_quantity(value),
    )


def check_crd_quantity(value: Any) -> Violations:
    """Check a quantity in a CRD: an integer, or text of a pattern that is looser than Go's parser,
    which reads it later.
    """
    if isinstance(value, str):
        if not _match_crd_quantity(value):
            return [_invalid_quantity(value)]
        if valid_quantity(value):
            return None
        text = (
            f"Invalid value: {format_value(value)}: the CRD accepts it, but it cannot be read as "
            "a quantity"
        )
        return [SchemaViolation("invalid-quantity", text, _QUANTITY_HELP, stage="pod")]
    if integer_value(value) is not None:
        return None

    violation = type_mismatch("integer or string", value)
    if isinstance(value, float):
        violation.help = "put the value in quotes"
        violation.fix_template = QUOTES

    return [violation]


def check_decoded_int_or_string(value: Any) -> Violations:
    """Check an `intstr.IntOrString`: text, or a 32-bit integer."""
    if isinstance(value, str):
        return None

    int_value = integer_value(value)
    if int_value is None:
        return [type_mismatch("int32 or string", value)]

    low, high = INT_RANGES["int32"]
    if low <= int_value <= high:
        return None

    text = f"must be of type int32: {int_value} is out of range"
    return [SchemaViolation("wrong-type", text, f"use a number from {low} to {high}")]


def check_crd_int_or_string(value: Any) -> Violations:
    """Check `x-kubernetes-int-or-string`: the CRD accepts larger integers, but the pod is
    rejected.
    """
    violations = check_decoded_int_or_string(value)
    if violations and integer_value(value) is not None:
        violations[0].stage = "pod"
    return violations


def check_time(value: Any) -> Violations:
    """Check a time as Go's `time.Parse(time.RFC3339, ...)` reads it: of an existing day, with
    upper-case T and Z.
    """
    return _check_time(value, _match_go_time)


def check_micro_time(value: Any) -> Violations:
    """Check a `MicroTime`: a time with exactly six digits of a second's fraction."""
    return _check_time(value, _match_micro_time, "2026-01-31T12:00:00.000000Z")


def check_crd_time(value: Any) -> Violations:
    """Check the format `date-time` of a CRD, which accepts a lower-case t and z."""
    return _check_time(value, _match_crd_time)


def _check_time(
    value: Any,
    parse: Callable[[str], re.Match[str] | None],
    example: str = "2026-01-31T12:00:00Z",
) -> Violations:
    """Check a time that `parse` reads: its day must exist too."""
    if not isinstance(value, str):
        return [type_mismatch("string", value)]

    match = parse(value)
    if match:
        year, month, day = map(int, match.groups())
        is_leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if 1 <= day <= _DAYS[month - 1] + is_leap:
            return None

    text = f"must be a time, not {format_value(value)}"
    return [SchemaViolation("wrong-type", text, f'write a time like "{example}", quoted')]


def check_base64(value: Any) -> Violations:
    """Check base64 text, ignoring line breaks, as Go's `encoding/json` reads `[]byte`."""
    if not isinstance(value, str):
        return [type_mismatch("string", value)]
    if _BASE64(value.replace("\n", "").replace("\r", "")):
        return None
    return [
        SchemaViolation(
            "wrong-type",
            "must be base64",
            "encode the value with base64, or use stringData for plain text in a Secret",
        )
    ]
