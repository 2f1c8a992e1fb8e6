"""What a CRD's schema may say beside types and the common bounds: formats, numbers, enums of any type, `oneOf`.

The operators' CRDs have next to none of it; users' have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.kubernetes.versions import Version
from ptcompile.validate.evaluations import OutOfEvaluationsError, current
from ptcompile.validate.structure_bounds import listed, only_texts
from ptcompile.validate.structure_fault import Fault, Found, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.validate.structure_fault import Check
    from ptcompile.validate.structure_logic import Holds

    Schema = Mapping[str, Any]

LOGIC: Final = ("allOf", "anyOf", "oneOf", "not")
_NUMBERS: Final = ("minimum", "maximum", "multipleOf")


def further(check: Check, schema: Schema, server: Version) -> Check:
    """The check with what else the schema says; the same check where it says nothing more."""
    checks: list[Check] = []
    if "enum" in schema and not (schema.get("type") == "string" and only_texts(schema["enum"])):
        checks.append(_enum(schema["enum"]))
    if (
        (schema.get("type") == "number" and any(key in schema for key in _NUMBERS))
        or "multipleOf" in schema
        or schema.get("exclusiveMinimum") is True
        or schema.get("exclusiveMaximum") is True
    ):
        checks.append(_number(schema))
    if schema.get("type") == "string" and "format" in schema:
        from ptcompile.validate.structure_formats import text_format

        one = text_format(schema["format"], server)
        checks += [one] if one else []
    if "maxProperties" in schema:
        checks.append(_few(schema["maxProperties"]))
    if "minProperties" in schema and "properties" not in schema:
        checks.append(_many(schema["minProperties"]))
    if "x-logic" in schema:
        checks.append(_logic(schema["x-logic"]))
    return _both(check, checks) if checks else check


def _both(first: Check, rest: list[Check]) -> Check:
    def check(value: Any) -> Found:
        found = first(value)
        if found:
            return found
        faults = [fault for one in rest for fault in one(value) or ()]
        return faults or None

    return check


def _enum(values: Sequence[Any]) -> Check:
    from ptcompile.validate.structure_logic import comparable

    allowed = frozenset(map(comparable, values))
    choices = listed(values)

    def check(value: Any) -> Found:
        if comparable(value) in allowed:
            return None
        text = f"Unsupported value: {shown(value)}: supported values: {choices}"
        return [Fault("unsupported-value", text, "write one of them")]

    return check


def _number(schema: Schema) -> Check:
    from ptcompile.validate.structure_logic import is_multiple, is_number

    low, high, step = (schema.get(key) for key in _NUMBERS)
    above, below = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True

    def check(value: Any) -> Found:
        if not is_number(value):
            return None
        if low is not None and (value < low or (above and value == low)):
            return [_invalid(value, f"must be greater than {'' if above else 'or equal to '}{low}")]
        if high is not None and (value > high or (below and value == high)):
            return [_invalid(value, f"must be less than {'' if below else 'or equal to '}{high}")]
        if step and not is_multiple(value, step):
            return [_invalid(value, f"must be a multiple of {step}")]
        return None

    return check


def _few(most: int) -> Check:
    def check(value: Any) -> Found:
        if not isinstance(value, dict) or len(value) <= most:
            return None
        return [
            Fault("too-many-items", f"Too many: {len(value)}: must have at most {most} items", f"keep {most} at most")
        ]

    return check


def _many(least: int) -> Check:
    def check(value: Any) -> Found:
        if not isinstance(value, dict) or len(value) >= least:
            return None
        return [_invalid(len(value), f"must have at least {least} properties")]

    return check


def _logic(schema: Schema) -> Check:
    """Check `allOf`, `anyOf`, `oneOf` and `not`. Without evaluations left, it accepts, and the caller reports that."""
    holds: Holds | None = None

    def check(value: Any) -> Found:
        nonlocal holds
        if holds is None:
            from ptcompile.validate.structure_logic import logic

            holds = logic(schema)
        evaluations = current()
        evaluations.grant(1)
        try:
            if holds(value, evaluations):
                return None
        except OutOfEvaluationsError:
            return None
        words = " and ".join(key for key in LOGIC if key in schema)
        return [_invalid(value, f"must validate {words} of the CRD's schema")]

    return check


def _invalid(value: Any, why: str) -> Fault:
    return Fault("invalid-value", f"Invalid value: {shown(value)}: {why}", "see the CRD's schema")
