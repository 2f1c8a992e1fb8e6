"""Cost estimates of CEL rules, by which the API server rejects a CRD on creation.

The API server assumes the largest lists, maps and strings that a schema allows, or that fit into a
request. The estimate here is a lower bound: uncertain values cost nothing, such as strings that a
call returns and items of filtered lists. Only a CRD far above a limit is rejected; one slightly
above it is accepted. Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation
(limits and messages); apiserver, pkg/cel/common/schemas.go (sizes) and pkg/cel/library/cost.go;
cel-go, checker/cost.go (prices).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.cel.evaluation import unescape
from ptcompile.apiserver.cel.syntax import (
    Binary,
    CelSyntaxError,
    Conditional,
    Constant,
    FieldStep,
    FunctionCall,
    IndexStep,
    ListLiteral,
    Logic,
    MapLiteral,
    MemberAccess,
    Name,
    ObjectLiteral,
    Unary,
    count_variables,
    parse,
)
from ptcompile.apiserver.cel.values import type_named
from ptcompile.apiserver.crds.schema import schemas_of
from ptcompile.diagnostics import Path, Problem
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes.unstructured import Json, as_list, as_mapping, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.syntax import Expression

    CostSchema = Json
    TypeBindings = Json
    """Variables by name; the minimum sizes of the schemas have the name ""."""

RULE_LIMIT = 10_000_000
"""Maximum estimated cost of one rule: `StaticEstimatedCostLimit`."""
TOTAL_LIMIT = 100_000_000
"""Maximum estimated cost of all rules of a version: `StaticEstimatedCRDCostLimit`."""
_MARGIN = 10
"""Factor by which an estimate must exceed a limit before the CRD is rejected."""
_REQUEST_BYTES_MAX = 3 * 1024 * 1024
"""Maximum number of bytes of a request."""
_COST_MAX = 2**64 - 1
_HELP = "simplify the rule, or set maxItems, maxProperties and maxLength in the schema"


_NO_SCHEMA: CostSchema = {}


class _Value(NamedTuple):
    """Properties of a value that are known before the rule runs."""

    size: int = 0
    """Maximum size in items or characters; 0 if unknown."""
    schema: CostSchema = _NO_SCHEMA
    least: int = 0
    """Minimum size; only known for constants."""


class _Estimate(NamedTuple):
    """The cost of an expression and the properties of its value."""

    cost: int
    value: _Value


_UNKNOWN = _Value()
_SINGLE_VALUE = _Value(1, {}, 1)
_MAP_SCHEMA = {"type": "object"}


def crd_cost_problems(crd: CostSchema) -> list[Problem]:
    """Return a problem for each rule of a CRD whose estimated cost is far above the API server's
    limits.
    """
    return [
        problem
        for path, schema, _ in schemas_of(crd)
        for problem in _version_problems(schema, path)
    ]


def _version_problems(schema: CostSchema, path: Path) -> FieldErrors:
    problems = FieldErrors()
    total = 0
    sizes: dict[int, int] = {}
    stack: list[tuple[Path, CostSchema, int | None]] = [(path, schema, 1)]
    while stack:
        node_path, node, count = stack.pop()
        for index, rule in indexed_mappings(node.get("x-kubernetes-validations")):
            if count is None:
                repeated = _REQUEST_BYTES_MAX // (_min_bytes(node, sizes) + 1)
            else:
                repeated = count

            value = _value_of_schema(node, sizes)
            scope = {"": sizes, "self": value, "oldSelf": value}
            text = str(rule.get("rule") or "")
            cost = min(_estimate_text(text, scope) * repeated, _COST_MAX)
            total += cost
            if cost > RULE_LIMIT * _MARGIN:
                rule_path = (*node_path, "x-kubernetes-validations", index, "rule")
                problems.forbidden(
                    rule_path, _budget_message("estimated rule cost", cost, RULE_LIMIT), _HELP
                )

        stack += _children(node, node_path, count)

    if total > TOTAL_LIMIT * _MARGIN:
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        problems.forbidden(path, _budget_message(name, total, TOTAL_LIMIT), _HELP)

    return problems


def _budget_message(name: str, cost: int, limit: int) -> str:
    """Return the API server's message. The server's own estimate and factor may be higher than
    this one.
    """
    factor = f"{cost / limit:.1f}x" if cost <= 100 * limit else "more than 100x"
    return (
        f"{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding "
        "maxItems, maxProperties, and"
        " maxLength where arrays, maps, and strings are declared)"
    )


def _children(
    node: CostSchema, path: Path, count: int | None
) -> list[tuple[Path, CostSchema, int | None]]:
    """Return the children of a schema and the maximum number of each in an object, or None if it
    is unbounded.
    """
    children: list[tuple[Path, CostSchema, int | None]] = []
    for name, field in nested_map(node, "properties").items():
        children.append(((*path, "properties", name), as_mapping(field), count))
    for key, limit_key in (("items", "maxItems"), ("additionalProperties", "maxProperties")):
        part = node.get(key)
        limit = node.get(limit_key)
        if isinstance(part, Mapping):
            if count is None or limit is None:
                bounded = None
            else:
                bounded = min(count * _as_count(limit), _COST_MAX)
            children.append(((*path, key), part, bounded))

    return children


def _as_count(value: object) -> int:
    return max(int(value), 0) if isinstance(value, int | float) else 0


_TIME_FORMATS = ("date", "date-time", "datetime", "duration")
"""Formats whose shortest text is taken to be a date and time, the longest of them."""


def _min_bytes(node: CostSchema, cache: dict[int, int]) -> int:
    """Return the bytes of the shortest JSON for a schema, by the API server's rules. `cache`
    keeps the results.
    """
    size = cache.get(id(node))
    if size is not None:
        return size

    kind = node.get("type")
    size = 2
    if node.get("x-kubernetes-int-or-string") or kind in ("integer", "number"):
        size = 1
    elif kind == "boolean":
        size = 4
    elif kind == "string" and node.get("format") in _TIME_FORMATS:
        size = 21

    if kind == "object" and not isinstance(node.get("additionalProperties"), Mapping):
        properties = nested_map(node, "properties")
        for name in set(as_list(node.get("required"))):
            field = nested_map(properties, name)
            if field and field.get("default") is None:
                size += len(name.encode()) + _min_bytes(field, cache) + 4

    cache[id(node)] = size
    return size


def _value_of_schema(node: CostSchema, sizes: dict[int, int]) -> _Value:
    """Return the properties of a value with this schema. Only lists, maps and strings have a
    size.
    """
    kind = node.get("type")
    if node.get("x-kubernetes-int-or-string"):
        return _Value(0, node)
    if kind == "string":
        return _Value(_max_characters(node), node)

    part, limit_key = (
        ("items", "maxItems") if kind == "array" else ("additionalProperties", "maxProperties")
    )
    inner = node.get(part)
    if kind not in ("array", "object") or not isinstance(inner, Mapping):
        return _Value(0, node)
    if node.get(limit_key) is not None:
        return _Value(_as_count(node[limit_key]), node)

    item = _min_bytes(inner, sizes) + (1 if kind == "array" else 6)
    return _Value((_REQUEST_BYTES_MAX - 2) // item, node)


def _max_characters(node: CostSchema) -> int:
    """Return the maximum number of characters of a string, or 0 for a format whose value is not
    a string in CEL.
    """
    if node.get("format") in ("byte", "date", "date-time", "datetime", "duration"):
        return 0
    if node.get("maxLength") is not None:
        return _as_count(node["maxLength"]) * 4
    choices = node.get("enum")
    if isinstance(choices, list) and choices:
        return max(len(choice) if isinstance(choice, str) else 0 for choice in choices)
    return _REQUEST_BYTES_MAX - 2


def _estimate_text(text: str, scope: TypeBindings) -> int:
    """Return the estimated cost of one evaluation, or 0 if the expression cannot be parsed."""
    try:
        return _estimate(parse(text), scope).cost
    except (CelSyntaxError, RecursionError):
        return 0


_ATTRIBUTES_MAX = 32
"""Maximum number of domains, and of attributes or capacities per domain, of a device."""
_DEVICE_MAP = {"type": "object", "maxProperties": _ATTRIBUTES_MAX}
_DEVICE: CostSchema = {
    "type": "object",
    "properties": {
        name: {**_DEVICE_MAP, "additionalProperties": {**_DEVICE_MAP, "additionalProperties": {}}}
        for name in ("attributes", "capacity")
    },
}
SELECTOR_LIMIT = 1_000_000
"""Maximum estimated cost of a device selector: `CELSelectorExpressionMaxCost` of
resource.k8s.io.
"""


def device_selector_cost(text: str) -> int:
    """Return the estimated cost of a device selector."""
    if _compares_types(text):
        return _COST_MAX
    return _estimate_text(text, {"": {}, "device": _value_of_schema(_DEVICE, {})})


def _compares_types(text: str) -> bool:
    """Return whether an expression compares two types, such as `type(x) == int`.

    The size of a type is unknown, so the API server estimates the cost of the comparison above any
    limit. In a CRD's rule, the name of a type counts as `self`, whose size is known.
    """
    try:
        pending: list[Any] = [parse(text)]
    except CelSyntaxError:
        return False

    while pending:
        node = pending.pop()
        if isinstance(node, Binary):
            mark, operand = node.operations[0]
            if mark in ("==", "!=") and _is_type(node.first) and _is_type(operand):
                return True
        if isinstance(node, tuple | list):
            pending += node

    return False


def _is_type(node: Expression) -> bool:
    if isinstance(node, FunctionCall):
        return node.name == "type"
    return isinstance(node, Name) and type_named(node.name) is not None


def _estimate(node: Expression, scope: TypeBindings) -> _Estimate:
    cost, value = _ESTIMATORS[type(node)](node, scope)
    return _Estimate(min(cost, _COST_MAX), value)


def _sum_costs(nodes: Iterable[Expression], scope: TypeBindings) -> int:
    return sum(_estimate(node, scope).cost for node in nodes)


def _estimate_constant(node: Constant, _scope: TypeBindings) -> _Estimate:
    size = len(node.value) if isinstance(node.value, str | bytes) else 1
    return _Estimate(0, _Value(size, {}, size))


def _estimate_list(node: ListLiteral, scope: TypeBindings) -> _Estimate:
    cost = _sum_costs([item.value for item in node.items], scope)
    return _Estimate(10 + cost, _Value(len(node.items)))


def _estimate_map(node: MapLiteral, scope: TypeBindings) -> _Estimate:
    cost = 30
    for entry in node.entries:
        cost += _sum_costs((entry.key, entry.value), scope)
    return _Estimate(cost, _Value(len(node.entries), _MAP_SCHEMA))


def _estimate_condition(node: Conditional, scope: TypeBindings) -> _Estimate:
    """Add up the conditions and the most expensive branch, each branch with the conditions
    before it.
    """
    dearest = _estimate(node.otherwise, scope).cost
    size = 0
    for condition, then in reversed(node.cases):
        cost, value = _estimate(then, scope)
        dearest = _estimate(condition, scope).cost + max(cost, dearest)
        size = max(size, value.size)
    return _Estimate(dearest, _Value(size))


def _estimate_function(node: FunctionCall, scope: TypeBindings) -> _Estimate:
    if node.name == "has":
        return _Estimate(0, _SINGLE_VALUE)
    return _Estimate(_sum_costs(node.arguments, scope), _UNKNOWN)


def _estimate_operators(node: Binary, scope: TypeBindings) -> _Estimate:
    cost, value = _estimate(node.first, scope)
    for mark, operand in node.operations:
        operand_cost, operand_value = _estimate(operand, scope)
        cost += operand_cost
        if mark == "in":
            is_list = operand_value.schema.get("type") == "array" or not operand_value.schema
            cost = cost + (operand_value.size if is_list else 0)
            value = _SINGLE_VALUE
        elif mark == "+":
            value = _Value(value.size + operand_value.size, {}, value.least + operand_value.least)
        else:
            cost = cost + min(value.size, operand_value.size) // 10
            value = _SINGLE_VALUE

    return _Estimate(cost, value)


def _estimate_member(node: MemberAccess, scope: TypeBindings) -> _Estimate:
    cost, value = _estimate(node.first, scope)
    for step in node.steps:
        if isinstance(step, FieldStep):
            properties = nested_map(value.schema, "properties")
            field = properties.get(step.name, properties.get(unescape(step.name)))
            value = _part_value(field, scope)
        elif isinstance(step, IndexStep):
            cost += _estimate(step.key, scope).cost + 1
            value = _item_value(value, scope)
        else:
            call_cost, value = _estimate_method(step, value, scope)
            cost += call_cost

    return _Estimate(cost, value)


def _item_value(value: _Value, scope: TypeBindings) -> _Value:
    """Return the properties of an item of a list or a value of a map."""
    key = "items" if value.schema.get("type") == "array" else "additionalProperties"
    return _part_value(value.schema.get(key), scope)


def _part_value(schema: Any, scope: TypeBindings) -> _Value:
    if isinstance(schema, Mapping):
        return _value_of_schema(schema, scope[""])
    return _UNKNOWN


def _estimate_method(call: FunctionCall, value: _Value, scope: TypeBindings) -> _Estimate:
    name, arguments = call
    if name in _LOOP_COST_PER_ITEM and len(arguments) >= 2 and isinstance(arguments[0], Name):
        return _estimate_loop(call, value, scope)
    if name in ("optMap", "optFlatMap", "bind"):
        return _Estimate(0, _UNKNOWN)

    estimates = [_estimate(argument, scope) for argument in arguments]
    cost = sum(estimate.cost for estimate in estimates)
    match name, [estimate.value for estimate in estimates]:
        case "matches", [pattern]:
            cost += (value.size + 1) // 10 * (pattern.size // 4)
        case "contains", [part]:
            cost += value.size // 10 * (part.size // 10)
        case "replace", [old, new, *_]:
            return _Estimate(cost + value.size // 5, _replaced_value(value, old, new))

    return _Estimate(cost, _UNKNOWN)


def _estimate_loop(call: FunctionCall, value: _Value, scope: TypeBindings) -> _Estimate:
    name, arguments = call
    count = count_variables(name, arguments)
    variables = [node.name for node in arguments[:count] if isinstance(node, Name)]
    inner = {**scope, **dict.fromkeys(variables, _UNKNOWN)}
    # a single variable of a map is its key, whose length is unknown; of two variables the second is
    # the item
    if count == 2 or value.schema.get("type") == "array":
        inner[variables[-1]] = _item_value(value, scope)

    cost = value.size * (_LOOP_COST_PER_ITEM[name] + _sum_costs(arguments[count:], inner))
    if name in ("filter", "map", "transformList"):
        return _Estimate(cost, _Value(value.size))
    if name == "transformMap":
        return _Estimate(cost, _Value(value.size, _MAP_SCHEMA))

    return _Estimate(cost, _SINGLE_VALUE)


def _replaced_value(value: _Value, old: _Value, new: _Value) -> _Value:
    """Return the longest text that `replace` can produce, or unknown unless the texts are
    constants.
    """
    if not old.least or new.size <= old.least:
        return _UNKNOWN
    return _Value(-(-value.size // old.least) * new.size)


_LOOP_COST_PER_ITEM = {
    "all": 3,
    "exists": 3,
    "exists_one": 1,
    "existsOne": 1,
    "filter": 1,
    "map": 11,
    "transformList": 11,
    "transformMap": 1,
}
"""Cost of a loop per item besides its body: the minimum of all cel-go versions."""

_ESTIMATORS: dict[type, Callable[[Any, TypeBindings], _Estimate]] = {
    Constant: _estimate_constant,
    Name: lambda node, scope: _Estimate(1, scope.get(node.name, _UNKNOWN)),
    ListLiteral: _estimate_list,
    MapLiteral: _estimate_map,
    ObjectLiteral: lambda node, scope: _Estimate(
        _sum_costs([field.value for field in node.fields], scope), _UNKNOWN
    ),
    Conditional: _estimate_condition,
    Logic: lambda node, scope: _Estimate(_sum_costs(node.parts, scope), _SINGLE_VALUE),
    Unary: lambda node, scope: _Estimate(_estimate(node.operand, scope).cost + 1, _SINGLE_VALUE),
    Binary: _estimate_operators,
    MemberAccess: _estimate_member,
    FunctionCall: _estimate_function,
}
