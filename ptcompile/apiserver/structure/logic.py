"""`allOf`, `anyOf`, `oneOf` and `not` of a CRD: they validate values whose structure is known by now.

Each branch becomes a function from a value to whether it holds. As on the API server, a keyword says nothing of values
of other types: `multipleOf` of a string holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.structure.scalars import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

Validates = Callable[["Any", Evaluations], bool]

_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: whole(value) is not None,
    "number": lambda value: is_number(value),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}
_SIZES: Final[tuple[tuple[str, str, type], ...]] = (
    ("minLength", "maxLength", str),
    ("minItems", "maxItems", list),
    ("minProperties", "maxProperties", dict),
)


def is_number(value: Any) -> bool:
    """Return whether a value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def comparable(value: Any) -> Any:
    """Return what can be put into a set, and is equal for equal JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, Mapping):
        return "object", frozenset((key, comparable(one)) for key, one in value.items())
    if isinstance(value, list):
        return "array", tuple(comparable(one) for one in value)
    return value


def is_multiple(value: float, step: float) -> bool:
    """Return whether a number is a multiple, with a tolerance for fractions as in kube-openapi."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        quotient = float(value) / step
        return abs(quotient - round(quotient)) <= 1e-9 * max(1.0, abs(quotient))
    except OverflowError:
        return True


def number_holds(schema: Mapping[str, Any]) -> Callable[[Any], bool]:
    """Return the check of `minimum`, `maximum` and `multipleOf`; of no number it says anything."""
    low, high, step = (schema.get(key) for key in ("minimum", "maximum", "multipleOf"))
    above, below = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True

    def holds(value: Any) -> bool:
        if not is_number(value):
            return True
        if low is not None and (value < low or (above and value == low)):
            return False
        if high is not None and (value > high or (below and value == high)):
            return False
        return not step or is_multiple(value, step)

    return holds


def logic(schema: Mapping[str, Any]) -> Validates:
    """Compile what a schema says of values, its type included."""
    checks = [*_own(schema), *_parts(schema), *_choices(schema)]

    def holds(value: Any, evaluations: Evaluations) -> bool:
        evaluations.spend(1 + len(checks))
        return all(check(value, evaluations) for check in checks)

    return holds


def _own(schema: Mapping[str, Any]) -> list[Validates]:
    checks: list[Validates] = []
    if is_type := _TYPES.get(schema.get("type") or ""):
        checks.append(lambda value, _: is_type(value))
    if schema.get("enum"):
        choices = frozenset(map(comparable, schema["enum"]))
        checks.append(lambda value, _: comparable(value) in choices)
    if any(schema.get(key) is not None for key in ("minimum", "maximum", "multipleOf")):
        number = number_holds(schema)
        checks.append(lambda value, _: number(value))
    for least, most, kind in _SIZES:
        low, high = schema.get(least), schema.get(most)
        if low is not None or high is not None:
            checks.append(_size(kind, low or 0, high))
    if pattern := schema.get("pattern"):
        from ptcompile.apiserver.goregex import fits

        checks.append(lambda value, _: not isinstance(value, str) or fits(pattern, value))
    if required := [name or "" for name in schema.get("required") or ()]:
        checks.append(lambda value, _: not isinstance(value, dict) or all(name in value for name in required))
    return checks


def _size(kind: type, low: int, high: int | None) -> Validates:
    def holds(value: Any, _: Evaluations) -> bool:
        return not isinstance(value, kind) or (low <= len(value) and (high is None or len(value) <= high))  # type: ignore[arg-type]

    return holds


def _parts(schema: Mapping[str, Any]) -> list[Validates]:
    checks: list[Validates] = []
    if isinstance(schema.get("items"), Mapping):
        item = logic(schema["items"])
        checks.append(lambda value, left: not isinstance(value, list) or all(item(one, left) for one in value))
    fields = {name: logic(field) for name, field in (schema.get("properties") or {}).items() if field is not None}

    def fields_hold(value: Any, evaluations: Evaluations) -> bool:
        if not isinstance(value, dict):
            return True
        return all(fields[name](one, evaluations) for name, one in value.items() if name in fields)

    return [*checks, fields_hold] if fields else checks


def _choices(schema: Mapping[str, Any]) -> list[Validates]:
    checks: list[Validates] = []
    if every := _branches(schema, "allOf"):
        checks.append(lambda value, left: all(branch(value, left) for branch in every))
    if some := _branches(schema, "anyOf"):
        checks.append(lambda value, left: any(branch(value, left) for branch in some))
    if exactly := _branches(schema, "oneOf"):
        checks.append(lambda value, left: _once(exactly, value, left))
    if isinstance(schema.get("not"), Mapping):
        unwanted = logic(schema["not"])
        checks.append(lambda value, left: not unwanted(value, left))
    return checks


def _once(branches: Sequence[Validates], value: Any, evaluations: Evaluations) -> bool:
    count = 0
    for branch in branches:
        count += branch(value, evaluations)
        if count > 1:
            return False
    return count == 1


def _branches(schema: Mapping[str, Any], key: str) -> list[Validates]:
    return [logic(one or {}) for one in schema.get(key) or ()]
