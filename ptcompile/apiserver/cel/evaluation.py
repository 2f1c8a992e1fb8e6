"""From the tree of a CEL expression to a function of its variables.

Every step is paid for from the budget in the scope, so that no expression runs for long. The prices are near those of
the API server: one for each operator, field, call and item, and a tenth for each character that is read or made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ptcompile.apiserver.cel import values
from ptcompile.apiserver.cel.syntax import CelSyntaxError
from ptcompile.apiserver.cel.values import ABSENT, CelError, Optional, equal, no_overload, spend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.cel.syntax import Expression

    Bindings = dict[str, Any]
    """The variables by their names; under "" the budget."""
    Run = Callable[[Bindings], Any]
    Evaluation = Callable[[Bindings, Any], Any]

_FIELD_MARKS: Final = (("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"))


class UnknownNameError(Exception):
    """Raised when an expression uses a function or a variable that does not exist here."""


def compiled(node: Expression, names: frozenset[str]) -> Run:
    """Return what evaluates a tree. Raises UnknownNameError and CelSyntaxError."""
    run: Run = _KINDS[node[0]](node, names)
    return run


def _constant(node: Expression, _names: frozenset[str]) -> Run:
    value = node[1]
    return lambda _scope: value


def _name(node: Expression, names: frozenset[str]) -> Run:
    name = node[1]
    if name in names:

        def run(scope: Bindings) -> Any:
            scope[""][0] -= 1
            return scope[name]

        return run
    kind = values.named_type(name)
    if kind is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")
    return lambda _scope: kind


def _list(node: Expression, names: frozenset[str]) -> Run:
    items = [(compiled(one[1] if one[0] == "optional" else one, names), one[0] == "optional") for one in node[1]]

    def run(scope: Bindings) -> Any:
        spend(scope[""], 10 + len(items))
        out = []
        for item, optional in items:
            value = item(scope)
            if not optional:
                out.append(value)
            elif _optional(value).present:
                out.append(value.value)
        return out

    return run


def _optional(value: Any) -> Optional:
    if type(value) is not Optional:
        raise no_overload()
    return value


def _map(node: Expression, names: frozenset[str]) -> Run:
    entries = [(compiled(key, names), compiled(value, names), optional) for key, value, optional in node[1]]

    def run(scope: Bindings) -> Any:
        spend(scope[""], 30 + len(entries))
        out = {}
        for read_key, read_value, optional in entries:
            key, value = values.key_of(read_key(scope)), read_value(scope)
            if optional:
                if not _optional(value).present:
                    continue
                value = value.value
            if key in out:
                raise CelError(f"Failed with repeated key: {key}")
            out[key] = value
        return out

    return run


def _if(node: Expression, names: frozenset[str]) -> Run:
    cases = [(compiled(condition, names), compiled(then, names)) for condition, then in node[1]]
    other = compiled(node[2], names)

    def run(scope: Bindings) -> Any:
        for condition, then in cases:
            spend(scope[""], 1)
            if _truth(condition(scope)):
                return then(scope)
        return other(scope)

    return run


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise no_overload()
    return value


def _logic(node: Expression, names: frozenset[str]) -> Run:
    """`&&` and `||`: an operand that decides wins over one that fails, on either side."""
    parts = [compiled(one, names) for one in node[1]]
    deciding = node[0] == "or"

    def run(scope: Bindings) -> bool:
        failed: CelError | None = None
        for part in parts:
            spend(scope[""], 1)
            try:
                if _truth(part(scope)) is deciding:
                    return deciding
            except CelError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return not deciding

    return run


def _unary(node: Expression, names: frozenset[str]) -> Run:
    _, mark, count, inner = node
    operand = compiled(inner, names)

    def run(scope: Bindings) -> Any:
        spend(scope[""], count)
        value = operand(scope)
        if mark == "!":
            return _truth(value) is (count % 2 == 0)
        other = values.negative(value)
        return values.negative(other) if count % 2 == 0 else other

    return run


def _compared(wanted: tuple[int, ...]) -> Callable[[Any, Any, Any], bool]:
    return lambda budget, one, other: values.ordered(budget, one, other) in wanted


def _arithmetic(mark: str) -> Callable[[Any, Any, Any], Any]:
    return lambda budget, one, other: values.operate(budget, mark, one, other)


_OPERATORS: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "==": equal,
    "!=": lambda budget, one, other: not equal(budget, one, other),
    "<": _compared((-1,)),
    "<=": _compared((-1, 0)),
    ">": _compared((1,)),
    ">=": _compared((0, 1)),
    "in": values.contains,
    **{mark: _arithmetic(mark) for mark in "+-*/%"},
}


def _binary(node: Expression, names: frozenset[str]) -> Run:
    first = compiled(node[1], names)
    steps = [(_OPERATORS[mark], compiled(operand, names)) for mark, operand in node[2]]

    def run(scope: Bindings) -> Any:
        budget = scope[""]
        value = first(scope)
        for operator, operand in steps:
            spend(budget, 1)
            value = operator(budget, value, operand(scope))
        return value

    return run


# fields, items and calls


def unescaped(name: str) -> str:
    """Return the field that a name in an expression stands for: `a__dash__b` is `a-b`, `__if__` is `if`."""
    if name.startswith("__") and name.endswith("__") and name[2:-2].isalpha():
        return name[2:-2]
    parts = name
    for mark, plain in _FIELD_MARKS[1:]:
        parts = parts.replace(mark, plain)
    return parts.replace(*_FIELD_MARKS[0])


def _member(node: Expression, names: frozenset[str]) -> Run:
    first, steps = node[1], list(node[2])
    space = _namespaced(first, steps, names)
    if space is None:
        run = compiled(first, names)
    else:
        name, arguments = space
        run, steps = _called(name, arguments, names), steps[1:]
    rest = [_step(one, names) for one in steps]
    if not rest:
        return run

    def member(scope: Bindings) -> Any:
        value = run(scope)
        budget = scope[""]
        for step in rest:
            spend(budget, 1)
            value = step(scope, value)
        return value

    return member


def _namespaced(
    first: Expression, steps: Sequence[Expression], names: frozenset[str]
) -> tuple[str, list[Expression]] | None:
    """Return name and arguments of a function such as `optional.of(x)`, or None for anything else."""
    if first[0] != "name" or first[1] in names or not steps or steps[0][0] != "call":
        return None
    return f"{first[1]}.{steps[0][1]}", steps[0][2]


def _step(node: Expression, names: frozenset[str]) -> Evaluation:
    if node[0] == "field":
        return partial(_optional_field if node[2] else _field, node[1], unescaped(node[1]))
    if node[0] == "index":
        key = compiled(node[1], names)
        return partial(_optional_item if node[2] else _item, key)
    name, arguments = node[1], node[2]
    if name in _MACROS and len(arguments) in _MACROS[name][1]:
        return _macro(name, arguments, names)
    if name in ("optMap", "optFlatMap") and len(arguments) == 2:
        return _optional_map(name, arguments, names)
    functions = _functions().MEMBERS.get(name)
    if functions is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")
    given = [compiled(one, names) for one in arguments]
    return lambda scope, value: _invoke(functions, scope, [value, *(one(scope) for one in given)])


def _functions() -> Any:
    from ptcompile.apiserver.cel import library

    return library


def _invoke(functions: Any, scope: Bindings, arguments: list[Any]) -> Any:
    function = functions.get(tuple(map(type, arguments))) or functions.get(len(arguments))
    if function is None:
        raise no_overload()
    return function(scope[""], *arguments)


def _field(name: str, other: str, _scope: Bindings, value: Any) -> Any:
    if type(value) is dict:
        if name in value:
            return value[name]
        if other in value:
            return value[other]
        raise CelError(f"no such key: {other}")
    if type(value) is Optional:
        return _optional_field(name, other, _scope, value)
    raise no_overload()


def _optional_field(name: str, other: str, _scope: Bindings, value: Any) -> Optional:
    if type(value) is Optional:
        if not value.present:
            return ABSENT
        value = value.value
    if type(value) is not dict:
        raise no_overload()
    for key in (name, other):
        if key in value:
            return Optional(True, value[key])
    return ABSENT


def _item(key: Run, scope: Bindings, value: Any) -> Any:
    if type(value) is Optional:
        return _optional_item(key, scope, value)
    at = key(scope)
    if type(value) is list:
        index = _index(at)
        if not 0 <= index < len(value):
            raise CelError(f"index out of bounds: {index}")
        return value[index]
    if type(value) is dict:
        found = values.key_of(at)
        if found not in value:
            raise CelError(f"no such key: {at}")
        return value[found]
    raise no_overload()


def _index(at: Any) -> int:
    if type(at) is float and at.is_integer():
        return int(at)
    if type(at) is bool or not isinstance(at, int):
        raise CelError(f"unsupported index type '{values.type_name(at)}' in list")
    return int(at)


def _optional_item(key: Run, scope: Bindings, value: Any) -> Optional:
    if type(value) is Optional:
        if not value.present:
            return ABSENT
        value = value.value
    at = key(scope)
    if type(value) is list:
        index = _index(at)
        return Optional(True, value[index]) if 0 <= index < len(value) else ABSENT
    if type(value) is dict:
        found = values.key_of(at)
        return Optional(True, value[found]) if found in value else ABSENT
    raise no_overload()


def _call(node: Expression, names: frozenset[str]) -> Run:
    name, arguments = node[1], node[2]
    return _has(arguments, names) if name == "has" else _called(name, arguments, names)


def _called(name: str, arguments: list[Expression], names: frozenset[str]) -> Run:
    if name == "cel.bind" and len(arguments) == 3:
        return _bind(arguments, names)
    functions = _functions().GLOBALS.get(name)
    if functions is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")
    given = [compiled(one, names) for one in arguments]

    def run(scope: Bindings) -> Any:
        values = [one(scope) for one in given]
        # most of these functions parse a text, which takes longer than other steps
        spend(scope[""], _CALL + sum(len(one) for one in values if type(one) is str) // 10)
        return _invoke(functions, scope, values)

    return run


_CALL: Final = 5
"""Steps of a function that is no method of a value."""


def _has(arguments: list[Expression], names: frozenset[str]) -> Run:
    node = arguments[0] if len(arguments) == 1 else ("none",)
    if node[0] != "member" or not node[2] or node[2][-1][0] != "field":
        raise CelSyntaxError("invalid argument to has() macro")
    *before, (_, name, _) = node[2]
    other = unescaped(name)
    operand = compiled(("member", node[1], before), names)

    def run(scope: Bindings) -> bool:
        spend(scope[""], 1)
        return _optional_field(name, other, scope, operand(scope)).present

    return run


def _bind(arguments: list[Expression], names: frozenset[str]) -> Run:
    name = _variable(arguments[0])
    value, body = compiled(arguments[1], names), compiled(arguments[2], names | {name})
    return lambda scope: body({**scope, name: value(scope)})


def _optional_map(name: str, arguments: list[Expression], names: frozenset[str]) -> Evaluation:
    variable = _variable(arguments[0])
    body = compiled(arguments[1], names | {variable})

    def step(scope: Bindings, value: Any) -> Any:
        if not _optional(value).present:
            return ABSENT
        result = body({**scope, variable: value.value})
        return _optional(result) if name == "optFlatMap" else Optional(True, result)

    return step


# macros over lists and maps


def _variable(node: Expression) -> str:
    if node[0] != "name":
        raise CelSyntaxError("argument must be a simple name")
    return str(node[1])


def _items(scope: Bindings, value: Any, own: tuple[str, ...]) -> Iterator[Bindings]:
    """Yield the scope of each item: with one variable an item or a key, with two also the index or the value."""
    if type(value) not in (list, dict):
        raise no_overload()
    inner = dict(scope)
    budget = scope[""]
    if len(own) == 1:
        (name,) = own
        for item in value:
            spend(budget, 2)
            inner[name] = item
            yield inner
        return
    first, second = own
    for key, item in value.items() if type(value) is dict else enumerate(value):
        spend(budget, 2)
        inner[first], inner[second] = key, item
        yield inner


def _decided(scopes: Iterator[Bindings], bodies: Sequence[Run], deciding: bool) -> bool:
    """`all` and `exists`: as with `&&` and `||`, an item that decides wins over one that fails."""
    failed: CelError | None = None
    for scope in scopes:
        try:
            if _truth(bodies[0](scope)) is deciding:
                return deciding
        except CelError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return not deciding


def _all(_value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], _own: tuple[str, ...]) -> bool:
    return _decided(scopes, bodies, False)


def _exists(_value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], _own: tuple[str, ...]) -> bool:
    return _decided(scopes, bodies, True)


def _exists_one(_value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], _own: tuple[str, ...]) -> bool:
    return sum(_truth(bodies[0](scope)) for scope in scopes) == 1


def _filter(_value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], own: tuple[str, ...]) -> list[Any]:
    return [scope[own[0]] for scope in scopes if _truth(bodies[0](scope))]


def _mapped(_value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], _own: tuple[str, ...]) -> list[Any]:
    *conditions, body = bodies
    return [body(scope) for scope in scopes if all(_truth(one(scope)) for one in conditions)]


def _mapped_values(
    _value: Any, scopes: Iterator[Bindings], bodies: Sequence[Run], own: tuple[str, ...]
) -> dict[Any, Any]:
    *conditions, body = bodies
    return {scope[own[0]]: body(scope) for scope in scopes if all(_truth(one(scope)) for one in conditions)}


_MACROS: Final[dict[str, tuple[Callable[..., Any], tuple[int, ...]]]] = {
    "all": (_all, (2, 3)),
    "exists": (_exists, (2, 3)),
    "exists_one": (_exists_one, (2, 3)),
    "existsOne": (_exists_one, (2, 3)),
    "filter": (_filter, (2,)),
    "map": (_mapped, (2, 3)),
    "transformList": (_mapped, (3, 4)),
    "transformMap": (_mapped_values, (3, 4)),
}
"""What evaluates a macro, and the numbers of arguments that it takes."""


def _macro(name: str, arguments: list[Expression], names: frozenset[str]) -> Evaluation:
    function = _MACROS[name][0]
    if name == "map":
        variables = 1
    elif name.startswith("transform"):
        variables = 2
    else:
        variables = len(arguments) - 1
    own = tuple(map(_variable, arguments[:variables]))
    if len(set(own)) != len(own):
        raise CelSyntaxError(f"overlapping variable name: {own[0]}")
    bodies = [compiled(one, names | set(own)) for one in arguments[variables:]]
    return lambda scope, value: function(value, _items(scope, value, own), bodies, own)


_KINDS: Final[dict[str, Callable[[Expression, frozenset[str]], Run]]] = {
    "constant": _constant,
    "name": _name,
    "list": _list,
    "map": _map,
    "if": _if,
    "or": _logic,
    "and": _logic,
    "unary": _unary,
    "binary": _binary,
    "member": _member,
    "call": _call,
}
