"""Keywords of a schema beyond types: enums, patterns, bounds, list keys, `allOf` and its like.

The operators' CRDs have next to none of it; users' have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.evaluations import OutOfEvaluationsError, current
from ptcompile.apiserver.structure.faults import SchemaViolation, Violations, format_value, type_mismatch
from ptcompile.apiserver.structure.scalars import whole
from ptcompile.diagnostics.fixes import fix_spelling
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.structure.faults import ValueCheck
    from ptcompile.apiserver.structure.logic import Validates

    Schema = Mapping[str, Any]


_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_FORM = {
    f"^{_NAME}$": "use lower case letters, digits and '-', with a letter or a digit at both ends",
    rf"^{_NAME}(\.{_NAME})*$": "use lower case letters, digits, '-' and '.', with a letter or a digit at both ends",
}
"""The commonest patterns of the CRDs, in words."""


_LISTED = 20
"""Choices in a message."""
_COMPARED = 200
"""Choices among which one that was probably meant is looked for."""


def only_texts(enum: Sequence[Any]) -> bool:
    """Return whether all choices are texts; the API server takes others beside `type: string`, and ignores them."""
    return all(isinstance(choice, str) for choice in enum)


def listed(choices: Sequence[Any]) -> str:
    """Return the choices as a message names them: the first of them, where they are many."""
    if only_texts(choices):
        names = [f'"{choice}"' if len(choice) <= _LONG else format_value(choice) for choice in choices[:_LISTED]]
    else:
        names = [format_value(choice) for choice in choices[:_LISTED]]
    more = len(choices) - _LISTED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


_LONG = 200
"""Characters of a choice that is named as it is written."""


def _search(pattern: str) -> Callable[[str], object] | None:
    """What looks for a pattern of Go's syntax; None where it cannot be read."""
    from ptcompile.apiserver.goregex import Theirs, fits, in_python

    if isinstance(pattern, Theirs):
        return lambda text: fits(pattern, text) or None
    import re

    try:
        return re.compile(in_python(pattern), re.ASCII).search
    except re.error:
        return None


def bounded_string(schema: Schema) -> ValueCheck | None:
    """A check of a string's enum, lengths and pattern, or None where the schema has none of them."""
    pattern = schema.get("pattern")
    enum: tuple[str, ...] = tuple(schema["enum"]) if "enum" in schema and only_texts(schema["enum"]) else ()
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if not (enum or pattern or low or high is not None):
        return None
    # Go's `$` is the end of the text; Python's also stands before a last line break.
    search = _search(pattern) if pattern else None
    allowed = frozenset(enum)
    choices = listed(enum)

    def check(value: Any) -> Violations:
        if not isinstance(value, str):
            return [type_mismatch("string", value)]
        if enum and value not in allowed:
            text = f"Unsupported value: {format_value(value)}: supported values: {choices}"
            near = closest_match(value, enum) if len(enum) <= _COMPARED else None
            fault = SchemaViolation(
                "unsupported-value", text, f'did you mean "{near}"?' if near else "write one of them"
            )
            fault.cure = fix_spelling(value, near)
            return [fault]
        if high is not None and len(value) > high:
            return [SchemaViolation("too-long-value", f"Too long: may not be more than {high} bytes", "shorten it")]
        if len(value) < low:
            return [
                SchemaViolation(
                    "invalid-value", f'Invalid value: "": must be at least {low} characters long', "fill it in"
                )
            ]
        if search is not None and search(value) is None:
            text = f"Invalid value: {format_value(value)}: must match '{pattern}'"
            return [SchemaViolation("invalid-value", text, _FORM.get(pattern or "", "write it in that form"))]
        return None

    return check


def crd_amount(schema: Schema) -> ValueCheck:
    """A check of a CRD's `x-kubernetes-int-or-string`: a whole number, or text of the schema's pattern."""
    as_text = bounded_string(schema)

    def check(value: Any) -> Violations:
        if isinstance(value, str):
            return as_text(value) if as_text else None
        return None if whole(value) is not None else [type_mismatch("integer or string", value)]

    return check


def list_bounds(schema: Schema, item_defaults: Mapping[str, Any]) -> ValueCheck | None:
    """A check of a list as a whole: its length and its keys; None where the schema says nothing of either."""
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ())
    is_set = schema.get("x-kubernetes-list-type") == "set"
    if not (low or high is not None or keys or is_set):
        return None

    def check(value: Any) -> Violations:
        if high is not None and len(value) > high:
            text = f"Too many: {len(value)}: must have at most {high} items"
            return [SchemaViolation("too-many-items", text, f"keep {high} at most")]
        if len(value) < low:
            return [
                SchemaViolation(
                    "invalid-value", f"Invalid value: {len(value)}: must have at least {low} items", "add an item"
                )
            ]
        if len(value) < 2:
            return None
        if keys:
            return _same_keys(value, keys, item_defaults)
        return _same_items(value) if is_set else None

    return check


def _same_keys(items: Sequence[Any], keys: Sequence[str], defaults: Mapping[str, Any]) -> Violations:
    if len(keys) == 1 and _all_differ(items, keys[0]):
        return None
    faults: list[SchemaViolation] = []
    seen = set()
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        parts = [item.get(key) for key in keys]
        if None in parts:
            parts = [defaults.get(key) if part is None else part for key, part in zip(keys, parts, strict=True)]
        identity = tuple(parts)
        # A missing or ill-typed key is another fault, told elsewhere.
        if None in identity or any(isinstance(part, list | dict) for part in parts):
            continue
        if identity in seen:
            faults.append(_duplicate(index, dict(zip(keys, parts, strict=True))))
        seen.add(identity)
    return faults or None


def _all_differ(items: Sequence[Any], key: str) -> bool:
    """Whether each item is an object with a text of its own under a key."""
    own = [item.get(key) for item in items if type(item) is dict]
    return set(map(type, own)) == {str} and len(set(own)) == len(items)


def _same_items(items: Sequence[Any]) -> Violations:
    faults: list[SchemaViolation] = []
    seen = set()
    for index, item in enumerate(items):
        if isinstance(item, list | dict):
            continue
        if item in seen:
            faults.append(_duplicate(index, item))
        seen.add(item)
    return faults or None


def _duplicate(index: int, value: Any) -> SchemaViolation:
    import json

    text = f"Duplicate value: {json.dumps(value, ensure_ascii=False, separators=(',', ':'), default=str)}"
    fault = SchemaViolation("duplicate-value", text, "remove one of the two, or give it another key")
    fault.path.append(index)
    return fault


def least_properties(schema: Schema) -> int:
    """How many fields an object must have at least."""
    return int(schema.get("minProperties", 0))


LOGIC: Final = ("allOf", "anyOf", "oneOf", "not")
_NUMBERS: Final = ("minimum", "maximum", "multipleOf")


def further(check: ValueCheck, schema: Schema, server: Version) -> ValueCheck:
    """The check with what else the schema says; the same check where it says nothing more."""
    checks: list[ValueCheck] = []
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
        from ptcompile.apiserver.structure.formats import text_format

        one = text_format(schema["format"], server)
        checks += [one] if one else []
    if "maxProperties" in schema:
        checks.append(_few(schema["maxProperties"]))
    if "minProperties" in schema and "properties" not in schema:
        checks.append(_many(schema["minProperties"]))
    if "x-logic" in schema:
        checks.append(_logic(schema["x-logic"]))
    return _both(check, checks) if checks else check


def _both(first: ValueCheck, rest: list[ValueCheck]) -> ValueCheck:
    def check(value: Any) -> Violations:
        found = first(value)
        if found:
            return found
        faults = [fault for one in rest for fault in one(value) or ()]
        return faults or None

    return check


def _enum(values: Sequence[Any]) -> ValueCheck:
    from ptcompile.apiserver.structure.logic import comparable

    allowed = frozenset(map(comparable, values))
    choices = listed(values)

    def check(value: Any) -> Violations:
        if comparable(value) in allowed:
            return None
        text = f"Unsupported value: {format_value(value)}: supported values: {choices}"
        return [SchemaViolation("unsupported-value", text, "write one of them")]

    return check


def _number(schema: Schema) -> ValueCheck:
    from ptcompile.apiserver.structure.logic import is_multiple, is_number

    low, high, step = (schema.get(key) for key in _NUMBERS)
    above, below = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True

    def check(value: Any) -> Violations:
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


def _few(most: int) -> ValueCheck:
    def check(value: Any) -> Violations:
        if not isinstance(value, dict) or len(value) <= most:
            return None
        return [
            SchemaViolation(
                "too-many-items", f"Too many: {len(value)}: must have at most {most} items", f"keep {most} at most"
            )
        ]

    return check


def _many(least: int) -> ValueCheck:
    def check(value: Any) -> Violations:
        if not isinstance(value, dict) or len(value) >= least:
            return None
        return [_invalid(len(value), f"must have at least {least} properties")]

    return check


def _logic(schema: Schema) -> ValueCheck:
    """Check `allOf`, `anyOf`, `oneOf` and `not`. Without evaluations left, it accepts, and the caller reports that."""
    holds: Validates | None = None

    def check(value: Any) -> Violations:
        nonlocal holds
        if holds is None:
            from ptcompile.apiserver.structure.logic import logic

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


def _invalid(value: Any, why: str) -> SchemaViolation:
    return SchemaViolation("invalid-value", f"Invalid value: {format_value(value)}: {why}", "see the CRD's schema")
