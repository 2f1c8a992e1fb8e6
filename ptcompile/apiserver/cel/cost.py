"""Cost estimates of CEL rules, from which the API server refuses a CRD when it is created.

The API server assumes the largest lists, maps and strings that a schema allows, or that fit into a request. The
estimate here is a lower bound: whatever is doubtful costs nothing, such as strings that a call returns and items of
filtered lists. Only a CRD far above a limit is refused, so one slightly above it passes unnoticed.
Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation (limits and messages); apiserver,
pkg/cel/common/schemas.go (sizes) and pkg/cel/library/cost.go; cel-go, checker/cost.go (prices).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.cel.evaluation import unescaped
from ptcompile.apiserver.cel.syntax import CelSyntaxError, parse
from ptcompile.apiserver.crds.schema import schemas_of
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.diagnostics import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.cel.syntax import Expression as Tree

    CostSchema = Mapping[str, Any]
    TypeBindings = Mapping[str, Any]
    """The variables by their names; under "" the least sizes of the schemas."""

RULE_LIMIT: Final = 10_000_000
"""Highest estimated cost of one rule: `StaticEstimatedCostLimit`."""
TOTAL_LIMIT: Final = 100_000_000
"""Highest estimated cost of all rules of a version: `StaticEstimatedCRDCostLimit`."""
_MARGIN: Final = 10
"""How many times an estimate must exceed a limit before the CRD is refused here."""
_REQUEST: Final = 3 * 1024 * 1024
"""Bytes of the largest request."""
_MOST: Final = 2**64 - 1
_HELP: Final = "simplify the rule, or set maxItems, maxProperties and maxLength in the schema"


_NOTHING: Final[CostSchema] = {}


class _Value(NamedTuple):
    """What is known of a value before the rule runs."""

    size: int = 0
    """Largest size in items or characters; 0 if unknown."""
    schema: CostSchema = _NOTHING
    least: int = 0
    """Smallest size; only known for constants."""


_UNKNOWN: Final = _Value()
_ONE: Final = _Value(1, {}, 1)
_MAP: Final = {"type": "object"}


def crd_cost_problems(crd: CostSchema) -> f.Problems:
    """Refuse the rules of a CRD whose estimated cost is far above the API server's limits."""
    return [problem for path, schema, _ in schemas_of(crd) for problem in _version_problems(schema, path)]


def _version_problems(schema: CostSchema, path: Path) -> f.Problems:
    found: f.Problems = []
    total = 0
    sizes: dict[int, int] = {}
    stack: list[tuple[Path, CostSchema, int | None]] = [(path, schema, 1)]
    while stack:
        at, node, times = stack.pop()
        for index, rule in f.indexed_mappings(node.get("x-kubernetes-validations")):
            repeated = _REQUEST // (_least_bytes(node, sizes) + 1) if times is None else times
            cost = min(_cost(str(rule.get("rule") or ""), node, sizes) * repeated, _MOST)
            total += cost
            if cost > RULE_LIMIT * _MARGIN:
                where = (*at, "x-kubernetes-validations", index, "rule")
                f.forbidden(found, where, _exceeds("estimated rule cost", cost, RULE_LIMIT), _HELP)
        stack += _children(node, at, times)
    if total > TOTAL_LIMIT * _MARGIN:
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        f.forbidden(found, path, _exceeds(name, total, TOTAL_LIMIT), _HELP)
    return found


def _exceeds(name: str, cost: int, limit: int) -> str:
    """Return the API server's message. Its own estimate may be higher than this one, and so its factor."""
    factor = f"{cost / limit:.1f}x" if cost <= 100 * limit else "more than 100x"
    return (
        f"{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and"
        " maxLength where arrays, maps, and strings are declared)"
    )


def _children(node: CostSchema, path: Path, times: int | None) -> list[tuple[Path, CostSchema, int | None]]:
    """Return the parts of a schema, and how often each occurs in an object at most; None if that is unbounded."""
    out: list[tuple[Path, CostSchema, int | None]] = []
    for name, field in f.as_field_mapping(node.get("properties")).items():
        out.append(((*path, "properties", name), f.as_field_mapping(field), times))
    for key, most in (("items", "maxItems"), ("additionalProperties", "maxProperties")):
        part, limit = node.get(key), node.get(most)
        if isinstance(part, Mapping):
            bounded = None if times is None or limit is None else min(times * _number(limit), _MOST)
            out.append(((*path, key), part, bounded))
    return out


def _number(value: object) -> int:
    return max(int(value), 0) if isinstance(value, int | float) else 0


# sizes


def _least_bytes(node: CostSchema, known: dict[int, int]) -> int:
    """Return the bytes of the shortest JSON for a schema, by the API server's rules. `known` is filled."""
    size = known.get(id(node))
    if size is not None:
        return size
    kind = node.get("type")
    if node.get("x-kubernetes-int-or-string") or kind in ("integer", "number"):
        size = 1
    elif kind == "boolean":
        size = 4
    elif kind == "string":
        # at most 21 for a format, which is a date and a time
        size = 21 if node.get("format") in ("date", "date-time", "datetime", "duration") else 2
    else:
        size = 2
    if kind == "object" and not isinstance(node.get("additionalProperties"), Mapping):
        needed = node.get("required")
        properties = f.as_field_mapping(node.get("properties"))
        for name in set(needed if isinstance(needed, list) else ()):
            field = f.as_field_mapping(properties.get(name))
            if field and field.get("default") is None:
                size += len(name.encode()) + _least_bytes(field, known) + 4
    known[id(node)] = size
    return size


def _of_schema(node: CostSchema, sizes: dict[int, int]) -> _Value:
    """Return what a schema says of a value. Only lists, maps and strings have a size."""
    kind = node.get("type")
    if node.get("x-kubernetes-int-or-string"):
        return _Value(0, node)
    if kind == "string":
        return _Value(_longest(node), node)
    part, most = ("items", "maxItems") if kind == "array" else ("additionalProperties", "maxProperties")
    inner = node.get(part)
    if kind not in ("array", "object") or not isinstance(inner, Mapping):
        return _Value(0, node)
    if node.get(most) is not None:
        return _Value(_number(node[most]), node)
    item = _least_bytes(inner, sizes) + (1 if kind == "array" else 6)
    return _Value((_REQUEST - 2) // item, node)


def _longest(node: CostSchema) -> int:
    """Return the most characters of a string; 0 for a format, whose value is no string in CEL."""
    if node.get("format") in ("byte", "date", "date-time", "datetime", "duration"):
        return 0
    if node.get("maxLength") is not None:
        return _number(node["maxLength"]) * 4
    choices = node.get("enum")
    if isinstance(choices, list) and choices:
        return max(len(one) if isinstance(one, str) else 0 for one in choices)
    return _REQUEST - 2


# costs


def _cost(text: str, node: CostSchema, sizes: dict[int, int]) -> int:
    """Return the estimated cost of one evaluation; 0 if the expression cannot be read."""
    try:
        tree = parse(text)
        own = _of_schema(node, sizes)
        return _estimate(tree, {"": sizes, "self": own, "oldSelf": own})[0]
    except (CelSyntaxError, RecursionError):
        return 0


def _estimate(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    """Return the cost of an expression and what is known of its value."""
    cost, value = _KINDS.get(tree[0], _of_parts)(tree, scope)
    return min(cost, _MOST), value


def _sum(trees: Any, scope: TypeBindings) -> int:
    return sum(_estimate(one, scope)[0] for one in trees)


def _of_constant(tree: Tree, _scope: TypeBindings) -> tuple[int, _Value]:
    size = len(tree[1]) if isinstance(tree[1], str | bytes) else 1
    return 0, _Value(size, {}, size)


def _of_name(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    return 1, scope.get(tree[1], _UNKNOWN)


def _of_list(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    items = [one[1] if one[0] == "optional" else one for one in tree[1]]
    return 10 + _sum(items, scope), _Value(len(items))


def _of_map(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    parts = [one for key, value, _ in tree[1] for one in (key, value)]
    return 30 + _sum(parts, scope), _Value(len(tree[1]), _MAP)


def _of_condition(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    """Add up the conditions and the dearest branch, each branch with the conditions up to it."""
    dearest, size = _estimate(tree[2], scope)[0], 0
    for condition, then in reversed(tree[1]):
        cost, value = _estimate(then, scope)
        dearest, size = _estimate(condition, scope)[0] + max(cost, dearest), max(size, value.size)
    return dearest, _Value(size)


def _of_parts(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    """Add up the parts of `&&`, `||`, a sign or a global function."""
    if tree[0] == "call" and tree[1] == "has":
        return 0, _ONE
    if tree[0] == "call":
        return _sum(tree[2], scope), _UNKNOWN
    if tree[0] == "unary":
        return _estimate(tree[3], scope)[0] + 1, _ONE
    return _sum(tree[1], scope), _ONE


def _of_operators(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    cost, value = _estimate(tree[1], scope)
    for mark, operand in tree[2]:
        more, other = _estimate(operand, scope)
        cost += more
        if mark == "in":
            cost, value = cost + (other.size if _is_list(other) else 0), _ONE
        elif mark == "+":
            value = _Value(value.size + other.size, {}, value.least + other.least)
        else:
            cost, value = cost + min(value.size, other.size) // 10, _ONE
    return cost, value


def _of_member(tree: Tree, scope: TypeBindings) -> tuple[int, _Value]:
    cost, value = _estimate(tree[1], scope)
    for step in tree[2]:
        if step[0] == "call":
            more, value = _call(step, value, scope)
        elif step[0] == "index":
            more, value = _estimate(step[1], scope)[0] + 1, _part(value, scope)
        else:
            more, value = 0, _field(value, step[1], scope)
        cost += more
    return cost, value


def _part(value: _Value, scope: TypeBindings) -> _Value:
    """Return an item of a list, or a value of a map."""
    key = "items" if value.schema.get("type") == "array" else "additionalProperties"
    inner = value.schema.get(key)
    return _of_schema(inner, scope[""]) if isinstance(inner, Mapping) else _UNKNOWN


def _field(value: _Value, name: str, scope: TypeBindings) -> _Value:
    properties = f.as_field_mapping(value.schema.get("properties"))
    field = properties.get(name, properties.get(unescaped(name)))
    return _of_schema(field, scope[""]) if isinstance(field, Mapping) else _UNKNOWN


def _call(step: Tree, value: _Value, scope: TypeBindings) -> tuple[int, _Value]:
    _, name, arguments = step
    if name in _PER_ITEM and len(arguments) >= 2 and arguments[0][0] == "name":
        return _loop(name, arguments, value, scope)
    if name in ("optMap", "optFlatMap", "bind"):
        return 0, _UNKNOWN
    given = [_estimate(one, scope) for one in arguments]
    cost, values = sum(one for one, _ in given), [one for _, one in given]
    if name == "matches" and len(values) == 1:
        cost += (value.size + 1) // 10 * (values[0].size // 4)
    elif name == "contains" and len(values) == 1:
        cost += value.size // 10 * (values[0].size // 10)
    elif name == "replace" and len(values) >= 2:
        return cost + value.size // 5, _replaced(value, *values[:2])
    return cost, _UNKNOWN


def _loop(name: str, arguments: list[Tree], value: _Value, scope: TypeBindings) -> tuple[int, _Value]:
    variables = 2 if name.startswith("transform") or (len(arguments) == 3 and name != "map") else 1
    inner = dict(scope)
    for one in arguments[:variables]:
        inner[str(one[1])] = _UNKNOWN
    # in a map one variable is the key, whose length is unknown; of two the second is the item
    if variables == 2 or value.schema.get("type") == "array":
        inner[str(arguments[variables - 1][1])] = _part(value, scope)
    cost = value.size * (_PER_ITEM[name] + _sum(arguments[variables:], inner))
    if name in ("filter", "map", "transformList"):
        return cost, _Value(value.size)
    return cost, _Value(value.size, _MAP) if name == "transformMap" else _ONE


def _is_list(value: _Value) -> bool:
    return value.schema.get("type") == "array" or not value.schema


def _replaced(value: _Value, old: _Value, new: _Value) -> _Value:
    """Return the longest text that `replace` makes; unknown unless the texts are constants."""
    if not old.least or new.size <= old.least:
        return _UNKNOWN
    return _Value(-(-value.size // old.least) * new.size)


_PER_ITEM: Final = {
    "all": 3,
    "exists": 3,
    "exists_one": 1,
    "existsOne": 1,
    "filter": 1,
    "map": 11,
    "transformList": 11,
    "transformMap": 1,
}
"""What a loop costs for each item besides its body: the least of all versions of cel-go."""

_KINDS: Final[dict[str, Callable[[Tree, TypeBindings], tuple[int, _Value]]]] = {
    "constant": _of_constant,
    "name": _of_name,
    "list": _of_list,
    "map": _of_map,
    "if": _of_condition,
    "binary": _of_operators,
    "member": _of_member,
}
