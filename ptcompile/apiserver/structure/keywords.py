"""Schema keywords beyond types: enums, patterns, bounds, list keys, `allOf` and related keywords.

The operators' CRDs hardly use them; users' CRDs do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.structure.scalars import integer_value
from ptcompile.apiserver.structure.violations import (
    SchemaViolation,
    ValueCheck,
    Violations,
    format_value,
    type_mismatch,
)
from ptcompile.diagnostics.fixes import fix_spelling
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.kinds import Schema
    from ptcompile.apiserver.structure.logic import Validates
    from ptcompile.kubernetes.unstructured import Json


_LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PATTERN_HELP = {
    f"^{_LABEL_PATTERN}$": "use lower case letters, digits and '-', with a letter or a digit at both ends",
    rf"^{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*$": (
        "use lower case letters, digits, '-' and '.', with a letter or a digit at both ends"
    ),
}
"""Help for the most common patterns of CRDs."""


_MAX_LISTED_CHOICES = 20
"""Maximum number of choices in a message."""
_MAX_COMPARED_CHOICES = 200
"""Maximum number of choices that are searched for a near miss."""


def are_all_texts(enum: Sequence[Any]) -> bool:
    """Return whether all choices are texts. The API server accepts other choices with `type:
    string` too, and ignores them.
    """
    return all(isinstance(choice, str) for choice in enum)


def list_choices(choices: Sequence[Any]) -> str:
    """Return the choices as a message lists them, with a count instead of the rest if there are
    many.
    """
    if are_all_texts(choices):
        names = [
            f'"{choice}"' if len(choice) <= _CHOICE_CHARACTERS_MAX else format_value(choice)
            for choice in choices[:_MAX_LISTED_CHOICES]
        ]
    else:
        names = [format_value(choice) for choice in choices[:_MAX_LISTED_CHOICES]]
    omitted = len(choices) - _MAX_LISTED_CHOICES
    return ", ".join(names) + (f" and {omitted} more" if omitted > 0 else "")


_CHOICE_CHARACTERS_MAX = 200
"""Maximum number of characters of a choice that a message names unchanged."""


def _compile_search(pattern: str) -> Callable[[str], object] | None:
    """Return a search function for a pattern in Go's syntax, or None if the pattern cannot be
    compiled.
    """
    from ptcompile.apiserver.goregex import UntrustedPattern, matches, to_python_syntax

    if isinstance(pattern, UntrustedPattern):
        return lambda text: matches(pattern, text) or None

    import re

    try:
        return re.compile(to_python_syntax(pattern), re.ASCII).search
    except re.error:
        return None


def compile_string(schema: Schema) -> ValueCheck | None:
    """Return the check of a string's enum, lengths and pattern, or None if the schema has none
    of them.
    """
    pattern = schema.get("pattern")
    enum: tuple[str, ...] = (
        tuple(schema["enum"]) if "enum" in schema and are_all_texts(schema["enum"]) else ()
    )
    low = schema.get("minLength", 0)
    high = schema.get("maxLength")
    if not (enum or pattern or low or high is not None):
        return None

    # Go's `$` only matches the end of the text; Python's also matches before a final line break
    search = _compile_search(pattern) if pattern else None
    allowed = frozenset(enum)
    choices = list_choices(enum)

    def check(value: Any) -> Violations:
        if not isinstance(value, str):
            return [type_mismatch("string", value)]
        if enum and value not in allowed:
            text = f"Unsupported value: {format_value(value)}: supported values: {choices}"
            near = closest_match(value, enum) if len(enum) <= _MAX_COMPARED_CHOICES else None
            help = f'did you mean "{near}"?' if near else "use one of them"
            fix = fix_spelling(value, near)
            return [SchemaViolation("unsupported-value", text, help, fix_template=fix)]

        if high is not None and len(value) > high:
            text = f"Too long: may not be more than {high} bytes"
            return [SchemaViolation("too-long-value", text, "shorten it")]
        if len(value) < low:
            text = f'Invalid value: "": must be at least {low} characters long'
            return [SchemaViolation("invalid-value", text, "fill it in")]

        if search is not None and search(value) is None:
            text = f"Invalid value: {format_value(value)}: must match '{pattern}'"
            help = _PATTERN_HELP.get(pattern or "", "write a value that matches the pattern")
            return [SchemaViolation("invalid-value", text, help)]
        return None

    return check


def compile_int_or_string(schema: Schema) -> ValueCheck:
    """Return the check of `x-kubernetes-int-or-string`: an integer, or text that matches the
    schema's pattern.
    """
    as_text = compile_string(schema)

    def check(value: Any) -> Violations:
        if isinstance(value, str):
            return as_text(value) if as_text else None
        if integer_value(value) is not None:
            return None
        return [type_mismatch("integer or string", value)]

    return check


def compile_list_bounds(schema: Schema, item_defaults: Json) -> ValueCheck | None:
    """Return the check of a list's length and keys, or None if the schema does not limit them."""
    low = schema.get("minItems", 0)
    high = schema.get("maxItems")
    keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ())
    is_set = schema.get("x-kubernetes-list-type") == "set"
    if not (low or high is not None or keys or is_set):
        return None

    def check(value: Any) -> Violations:
        if high is not None and len(value) > high:
            text = f"Too many: {len(value)}: must have at most {high} items"
            return [SchemaViolation("too-many-items", text, f"keep at most {high}")]
        if len(value) < low:
            return [
                SchemaViolation(
                    "invalid-value",
                    f"Invalid value: {len(value)}: must have at least {low} items",
                    "add an item",
                )
            ]
        if len(value) < 2:
            return None
        if keys:
            return _duplicate_keys(value, keys, item_defaults)
        return _duplicate_items(value) if is_set else None

    return check


def _duplicate_keys(items: Sequence[Any], keys: Sequence[str], defaults: Json) -> Violations:
    # nearly always: each item is an object with its own text under the only key
    if len(keys) == 1:
        (key,) = keys
        texts = [item.get(key) for item in items if type(item) is dict]
        if set(map(type, texts)) == {str} and len(set(texts)) == len(items):
            return None

    violations: list[SchemaViolation] = []
    seen = set()
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue

        parts = [item.get(key) for key in keys]
        if None in parts:
            parts = [
                defaults.get(key) if part is None else part
                for key, part in zip(keys, parts, strict=True)
            ]

        identity = tuple(parts)
        # a missing key or a key of the wrong type is reported elsewhere
        if None in identity or any(isinstance(part, list | dict) for part in parts):
            continue

        if identity in seen:
            violations.append(_duplicate_value(index, dict(zip(keys, parts, strict=True))))
        seen.add(identity)

    return violations or None


def _duplicate_items(items: Sequence[Any]) -> Violations:
    violations: list[SchemaViolation] = []
    seen = set()
    for index, item in enumerate(items):
        if isinstance(item, list | dict):
            continue
        if item in seen:
            violations.append(_duplicate_value(index, item))
        seen.add(item)
    return violations or None


def _duplicate_value(index: int, value: Any) -> SchemaViolation:
    import json

    text = (
        "Duplicate value: "
        f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'), default=str)}"
    )
    violation = SchemaViolation(
        "duplicate-value", text, "remove one of the two, or give it another key"
    )
    violation.path.append(index)
    return violation


def min_properties(schema: Schema) -> int:
    """Return the minimum number of fields of an object."""
    return int(schema.get("minProperties", 0))


LOGIC_KEYWORDS = ("allOf", "anyOf", "oneOf", "not")
NUMBER_KEYWORDS = ("minimum", "maximum", "multipleOf")


def with_keywords(check: ValueCheck, schema: Schema, server: Version) -> ValueCheck:
    """Return the check extended by the schema's other keywords, or the same check if it has
    none.
    """
    checks: list[ValueCheck] = []
    if "enum" in schema and not (schema.get("type") == "string" and are_all_texts(schema["enum"])):
        checks.append(_compile_enum(schema["enum"]))
    if (
        (schema.get("type") == "number" and any(key in schema for key in NUMBER_KEYWORDS))
        or "multipleOf" in schema
        or schema.get("exclusiveMinimum") is True
        or schema.get("exclusiveMaximum") is True
    ):
        checks.append(_compile_number(schema))
    if schema.get("type") == "string" and "format" in schema:
        from ptcompile.apiserver.structure.formats import compile_format

        format_check = compile_format(schema["format"], server)
        if format_check:
            checks.append(format_check)
    if "maxProperties" in schema:
        checks.append(_compile_max_properties(schema["maxProperties"]))
    if "minProperties" in schema and "properties" not in schema:
        checks.append(_compile_min_properties(schema["minProperties"]))
    if "x-logic" in schema:
        checks.append(_compile_logic(schema["x-logic"]))

    return _chain(check, checks) if checks else check


def _chain(first: ValueCheck, rest: list[ValueCheck]) -> ValueCheck:
    """Return a check that runs the rest only if the first one finds nothing."""

    def check(value: Any) -> Violations:
        violations = first(value)
        if violations:
            return violations
        violations = [violation for rest_check in rest for violation in rest_check(value) or ()]
        return violations or None

    return check


def _compile_enum(values: Sequence[Any]) -> ValueCheck:
    from ptcompile.apiserver.structure.logic import comparable_form

    allowed = frozenset(map(comparable_form, values))
    choices = list_choices(values)

    def check(value: Any) -> Violations:
        if comparable_form(value) in allowed:
            return None
        text = f"Unsupported value: {format_value(value)}: supported values: {choices}"
        return [SchemaViolation("unsupported-value", text, "use one of them")]

    return check


def _compile_number(schema: Schema) -> ValueCheck:
    from ptcompile.apiserver.structure.logic import compile_number

    why_not = compile_number(schema)

    def check(value: Any) -> Violations:
        why = why_not(value)
        return [_invalid_value(value, why)] if why else None

    return check


def _compile_max_properties(maximum: int) -> ValueCheck:
    def check(value: Any) -> Violations:
        if not isinstance(value, dict) or len(value) <= maximum:
            return None
        return [
            SchemaViolation(
                "too-many-items",
                f"Too many: {len(value)}: must have at most {maximum} items",
                f"keep at most {maximum}",
            )
        ]

    return check


def _compile_min_properties(minimum: int) -> ValueCheck:
    def check(value: Any) -> Violations:
        if not isinstance(value, dict) or len(value) >= minimum:
            return None
        return [_invalid_value(len(value), f"must have at least {minimum} properties")]

    return check


def _compile_logic(schema: Schema) -> ValueCheck:
    """Return the check of `allOf`, `anyOf`, `oneOf` and `not`. If no evaluations are left, the
    check accepts the value and the caller reports it as unchecked.
    """
    holds: Validates | None = None

    def check(value: Any) -> Violations:
        nonlocal holds
        from ptcompile.apiserver.evaluations import OutOfEvaluationsError, current_evaluations

        if holds is None:
            from ptcompile.apiserver.structure.logic import compile_logic

            holds = compile_logic(schema)

        evaluations = current_evaluations()
        evaluations.grant(1)
        try:
            if holds(value, evaluations):
                return None
        except OutOfEvaluationsError:
            return None

        words = " and ".join(key for key in LOGIC_KEYWORDS if key in schema)
        return [_invalid_value(value, f"must validate {words} of the CRD's schema")]

    return check


def _invalid_value(value: Any, why: str) -> SchemaViolation:
    return SchemaViolation(
        "invalid-value", f"Invalid value: {format_value(value)}: {why}", "see the CRD's schema"
    )
