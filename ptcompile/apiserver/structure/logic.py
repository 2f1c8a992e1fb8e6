"""`allOf`, `anyOf`, `oneOf` and `not` of a CRD, for values whose structure is valid.

Each branch becomes a predicate. As on the API server, a keyword ignores values of other types:
`multipleOf` accepts a string.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.structure.keywords import NUMBER_KEYWORDS
from ptcompile.apiserver.structure.scalars import integer_value
from ptcompile.kubernetes.unstructured import Json

Validates = Callable[["Any", Evaluations], bool]

_TYPE_PREDICATES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: integer_value(value) is not None,
    "number": lambda value: is_number(value),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}
_SIZE_KEYWORDS: tuple[tuple[str, str, type], ...] = (
    ("minLength", "maxLength", str),
    ("minItems", "maxItems", list),
    ("minProperties", "maxProperties", dict),
)


def is_number(value: Any) -> bool:
    """Return whether a value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def comparable_form(value: Any) -> Any:
    """Return a hashable form that is equal for equal JSON: that of 1 equals that of 1.0, but not
    that of true.
    """
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, Mapping):
        return "object", frozenset((key, comparable_form(item)) for key, item in value.items())
    if isinstance(value, list):
        return "array", tuple(comparable_form(item) for item in value)
    return value


def is_multiple(value: float, step: float) -> bool:
    """Return whether a number is a multiple, with the tolerance for fractions of kube-openapi."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        quotient = float(value) / step
        return abs(quotient - round(quotient)) <= 1e-9 * max(1.0, abs(quotient))
    except OverflowError:
        return True


def compile_number(schema: Json) -> Callable[[Any], str | None]:
    """Return a function that returns why a value breaks `minimum`, `maximum` or `multipleOf`, or
    None; it accepts values that are not numbers.
    """
    low, high, step = (schema.get(key) for key in NUMBER_KEYWORDS)
    above = schema.get("exclusiveMinimum") is True
    below = schema.get("exclusiveMaximum") is True

    def why_not(value: Any) -> str | None:
        if not is_number(value):
            return None
        if low is not None and (value < low or (above and value == low)):
            return f"must be greater than {'' if above else 'or equal to '}{low}"
        if high is not None and (value > high or (below and value == high)):
            return f"must be less than {'' if below else 'or equal to '}{high}"
        if step and not is_multiple(value, step):
            return f"must be a multiple of {step}"
        return None

    return why_not


def compile_logic(schema: Json) -> Validates:
    """Compile the keywords of a schema, including its type, into a predicate."""
    checks = [*_compile_keywords(schema), *_compile_children(schema), *_compile_branches(schema)]

    def holds(value: Any, evaluations: Evaluations) -> bool:
        evaluations.spend(1 + len(checks))
        return all(check(value, evaluations) for check in checks)

    return holds


def _compile_keywords(schema: Json) -> list[Validates]:
    """Return a check for each keyword of a schema that limits a value by itself."""
    checks: list[Validates] = []
    if is_type := _TYPE_PREDICATES.get(schema.get("type") or ""):
        checks.append(lambda value, _: is_type(value))
    if schema.get("enum"):
        choices = frozenset(map(comparable_form, schema["enum"]))
        checks.append(lambda value, _: comparable_form(value) in choices)
    if any(schema.get(key) is not None for key in NUMBER_KEYWORDS):
        why_not = compile_number(schema)
        checks.append(lambda value, _: why_not(value) is None)
    for min_key, max_key, kind in _SIZE_KEYWORDS:
        low = schema.get(min_key)
        high = schema.get(max_key)
        if low is not None or high is not None:
            checks.append(_compile_size(kind, low or 0, high))

    if pattern := schema.get("pattern"):
        from ptcompile.apiserver.goregex import matches

        checks.append(lambda value, _: not isinstance(value, str) or matches(pattern, value))
    if required := [name or "" for name in schema.get("required") or ()]:
        checks.append(
            lambda value, _: not isinstance(value, dict) or all(name in value for name in required)
        )

    return checks


def _compile_size(kind: type, low: int, high: int | None) -> Validates:
    def holds(value: Any, _: Evaluations) -> bool:
        if not isinstance(value, kind):
            return True

        size = len(value)  # type: ignore[arg-type]
        return low <= size and (high is None or size <= high)

    return holds


def _compile_children(schema: Json) -> list[Validates]:
    checks: list[Validates] = []
    if isinstance(schema.get("items"), Mapping):
        item_holds = compile_logic(schema["items"])
        checks.append(
            lambda value, evaluations: (
                not isinstance(value, list) or all(item_holds(item, evaluations) for item in value)
            )
        )

    fields = {
        name: compile_logic(field)
        for name, field in (schema.get("properties") or {}).items()
        if field is not None
    }

    def fields_hold(value: Any, evaluations: Evaluations) -> bool:
        if not isinstance(value, dict):
            return True
        return all(
            fields[name](item, evaluations) for name, item in value.items() if name in fields
        )

    return [*checks, fields_hold] if fields else checks


def _compile_branches(schema: Json) -> list[Validates]:
    """Return a check for each keyword of a schema that combines other schemas."""
    checks: list[Validates] = []
    if every := _branches(schema, "allOf"):
        checks.append(
            lambda value, evaluations: all(branch(value, evaluations) for branch in every)
        )
    if some := _branches(schema, "anyOf"):
        checks.append(lambda value, evaluations: any(branch(value, evaluations) for branch in some))
    if exactly := _branches(schema, "oneOf"):
        checks.append(lambda value, evaluations: _holds_once(exactly, value, evaluations))
    if isinstance(schema.get("not"), Mapping):
        unwanted = compile_logic(schema["not"])
        checks.append(lambda value, evaluations: not unwanted(value, evaluations))

    return checks


def _holds_once(branches: Sequence[Validates], value: Any, evaluations: Evaluations) -> bool:
    count = 0
    for branch in branches:
        count += branch(value, evaluations)
        if count > 1:
            return False
    return count == 1


def _branches(schema: Json, key: str) -> list[Validates]:
    return [compile_logic(branch or {}) for branch in schema.get(key) or ()]
