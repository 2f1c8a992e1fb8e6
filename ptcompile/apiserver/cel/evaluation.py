"""Compiler from the tree of a CEL expression to a function of its variables.

Each step is paid for from the budget in the scope, which bounds the run time. Costs are similar to
the API server's: one per operator, field, call and item, and a tenth per character read or
produced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel import values
from ptcompile.apiserver.cel.syntax import MACRO_ARGUMENTS, CelSyntaxError
from ptcompile.apiserver.cel.values import (
    ABSENT,
    CelError,
    ComputedFields,
    Optional,
    are_equal,
    no_overload,
    spend,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.cel.syntax import Expression

    Bindings = dict[str, Any]
    """Variables by name; the budget has the name ""."""
    Run = Callable[[Bindings], Any]
    Evaluation = Callable[[Bindings, Any], Any]

_FIELD_ESCAPES = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_ESCAPED = Pattern("__(?:underscores|dot|dash|slash)__")


class UnknownNameError(Exception):
    """Raised when an expression uses an undefined function or variable."""


def compile_tree(node: Expression, names: frozenset[str]) -> Run:
    """Compile a tree to a function. Raises UnknownNameError and CelSyntaxError."""
    run: Run = _COMPILERS[node[0]](node, names)
    return run


def _compile_constant(node: Expression, _names: frozenset[str]) -> Run:
    value = node[1]
    return lambda _scope: value


def _compile_name(node: Expression, names: frozenset[str]) -> Run:
    name = node[1]
    if name in names:

        def run(scope: Bindings) -> Any:
            scope[""][0] -= 1
            return scope[name]

        return run

    kind = values.type_named(name)
    if kind is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")

    return lambda _scope: kind


def _compile_object(node: Expression, _names: frozenset[str]) -> Run:
    raise UnknownNameError(f"objects of the type {node[1]} are not supported")


def _compile_list(node: Expression, names: frozenset[str]) -> Run:
    items = [
        (compile_tree(item[1] if item[0] == "optional" else item, names), item[0] == "optional")
        for item in node[1]
    ]

    def run(scope: Bindings) -> Any:
        spend(scope[""], 10 + len(items))
        out = []
        for item, optional in items:
            value = item(scope)
            if not optional:
                out.append(value)
            elif _as_optional(value).present:
                out.append(value.value)
        return out

    return run


def _as_optional(value: Any) -> Optional:
    if type(value) is not Optional:
        raise no_overload()
    return value


def _compile_map(node: Expression, names: frozenset[str]) -> Run:
    entries = [
        (compile_tree(key, names), compile_tree(value, names), optional)
        for key, value, optional in node[1]
    ]

    def run(scope: Bindings) -> Any:
        spend(scope[""], 30 + len(entries))
        out = {}
        for read_key, read_value, optional in entries:
            key = values.key_of(read_key(scope))
            value = read_value(scope)
            if optional:
                if not _as_optional(value).present:
                    continue
                value = value.value
            if key in out:
                raise CelError(f"Failed with repeated key: {key}")
            out[key] = value

        return out

    return run


def _compile_condition(node: Expression, names: frozenset[str]) -> Run:
    cases = [
        (compile_tree(condition, names), compile_tree(then, names)) for condition, then in node[1]
    ]
    otherwise = compile_tree(node[2], names)

    def run(scope: Bindings) -> Any:
        for condition, then in cases:
            spend(scope[""], 1)
            if _as_bool(condition(scope)):
                return then(scope)
        return otherwise(scope)

    return run


def _as_bool(value: Any) -> bool:
    if type(value) is not bool:
        raise no_overload()
    return value


def _compile_logic(node: Expression, names: frozenset[str]) -> Run:
    """Compile `&&` or `||`. As in CEL, an operand that decides the result hides the failure of
    another on either side.
    """
    parts = [compile_tree(part, names) for part in node[1]]
    deciding = node[0] == "or"

    def run(scope: Bindings) -> bool:
        failed: CelError | None = None
        for part in parts:
            spend(scope[""], 1)
            try:
                if _as_bool(part(scope)) is deciding:
                    return deciding
            except CelError as error:
                failed = failed or error

        if failed is not None:
            raise failed

        return not deciding

    return run


def _compile_unary(node: Expression, names: frozenset[str]) -> Run:
    _, mark, count, inner = node
    operand = compile_tree(inner, names)

    def run(scope: Bindings) -> Any:
        spend(scope[""], count)
        value = operand(scope)
        if mark == "!":
            return _as_bool(value) is (count % 2 == 0)
        negated = values.negate(value)
        return values.negate(negated) if count % 2 == 0 else negated

    return run


def _comparison(orders: tuple[int, ...]) -> Callable[[Any, Any, Any], bool]:
    return lambda budget, a, b: values.compare(budget, a, b) in orders


def _arithmetic(mark: str) -> Callable[[Any, Any, Any], Any]:
    return lambda budget, a, b: values.operate(budget, mark, a, b)


_OPERATORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "==": are_equal,
    "!=": lambda budget, a, b: not are_equal(budget, a, b),
    "<": _comparison((-1,)),
    "<=": _comparison((-1, 0)),
    ">": _comparison((1,)),
    ">=": _comparison((0, 1)),
    "in": values.contains,
    **{mark: _arithmetic(mark) for mark in "+-*/%"},
}


def _compile_binary(node: Expression, names: frozenset[str]) -> Run:
    first = compile_tree(node[1], names)
    steps = [(_OPERATORS[mark], compile_tree(operand, names)) for mark, operand in node[2]]

    def run(scope: Bindings) -> Any:
        budget = scope[""]
        value = first(scope)
        for operator, operand in steps:
            spend(budget, 1)
            value = operator(budget, value, operand(scope))
        return value

    return run


# fields, items and calls


def unescape(name: str) -> str:
    """Return the field that an escaped name means: `a__dash__b` is `a-b`, `__if__` is `if`."""
    if name.startswith("__") and name.endswith("__") and name[2:-2].isalpha():
        return name[2:-2]
    return _ESCAPED.sub(lambda match: _FIELD_ESCAPES[match[0]], name)


def _compile_member(node: Expression, names: frozenset[str]) -> Run:
    first = node[1]
    steps = list(node[2])
    space = _namespaced_call(first, steps, names)
    if space is None:
        run = compile_tree(first, names)
    else:
        name, arguments = space
        run = _compile_function(name, arguments, names)
        steps = steps[1:]

    rest = [_compile_step(step, names) for step in steps]
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


def _namespaced_call(
    first: Expression, steps: Sequence[Expression], names: frozenset[str]
) -> tuple[str, list[Expression]] | None:
    """Return the name and arguments of a function such as `optional.of(x)`, or None for anything
    else.
    """
    if first[0] != "name" or first[1] in names or not steps or steps[0][0] != "call":
        return None
    return f"{first[1]}.{steps[0][1]}", steps[0][2]


def _compile_step(node: Expression, names: frozenset[str]) -> Evaluation:
    if node[0] == "field":
        return partial(_get_optional_field if node[2] else _get_field, node[1], unescape(node[1]))
    if node[0] == "index":
        key = compile_tree(node[1], names)
        return partial(_get_optional_item if node[2] else _get_item, key)

    name = node[1]
    arguments = node[2]
    if name in _MACROS and len(arguments) in MACRO_ARGUMENTS[name]:
        return _compile_macro(name, arguments, names)
    if name in ("optMap", "optFlatMap") and len(arguments) == 2:
        return _compile_optional_map(name, arguments, names)

    functions = _load_library().MEMBERS.get(name)
    if functions is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")

    compiled_arguments = [compile_tree(argument, names) for argument in arguments]
    return lambda scope, value: _invoke(
        functions, scope, [value, *(argument(scope) for argument in compiled_arguments)]
    )


def _load_library() -> Any:
    from ptcompile.apiserver.cel import library

    return library


def _invoke(functions: Any, scope: Bindings, arguments: list[Any]) -> Any:
    function = functions.get(tuple(map(type, arguments))) or functions.get(len(arguments))
    if function is None:
        raise no_overload()
    return function(scope[""], *arguments)


def _get_field(name: str, unescaped_name: str, scope: Bindings, value: Any) -> Any:
    if type(value) is dict:
        if name in value:
            return value[name]
        if unescaped_name in value:
            return value[unescaped_name]
        raise CelError(f"no such key: {unescaped_name}")
    if type(value) is Optional:
        return _get_optional_field(name, unescaped_name, scope, value)
    if type(value) is ComputedFields:
        return value.read(unescaped_name, scope[""])
    raise no_overload()


def _get_optional_field(name: str, unescaped_name: str, scope: Bindings, value: Any) -> Optional:
    if type(value) is Optional:
        if not value.present:
            return ABSENT
        value = value.value
    if type(value) is ComputedFields:
        return Optional(True, value.read(unescaped_name, scope[""]))
    if type(value) is not dict:
        raise no_overload()

    for key in (name, unescaped_name):
        if key in value:
            return Optional(True, value[key])

    return ABSENT


def _get_item(key: Run, scope: Bindings, value: Any) -> Any:
    if type(value) is Optional:
        return _get_optional_item(key, scope, value)

    index_value = key(scope)
    if type(value) is list:
        index = _as_index(index_value)
        if not 0 <= index < len(value):
            raise CelError(f"index out of bounds: {index}")
        return value[index]
    if type(value) is dict:
        map_key = values.key_of(index_value)
        if map_key not in value:
            raise CelError(f"no such key: {index_value}")
        return value[map_key]

    raise no_overload()


def _as_index(value: Any) -> int:
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is bool or not isinstance(value, int):
        raise CelError(f"unsupported index type '{values.type_name(value)}' in list")
    return int(value)


def _get_optional_item(key: Run, scope: Bindings, value: Any) -> Optional:
    if type(value) is Optional:
        if not value.present:
            return ABSENT
        value = value.value

    index_value = key(scope)
    if type(value) is list:
        index = _as_index(index_value)
        if 0 <= index < len(value):
            return Optional(True, value[index])
        return ABSENT
    if type(value) is dict:
        map_key = values.key_of(index_value)
        return Optional(True, value[map_key]) if map_key in value else ABSENT

    raise no_overload()


def _compile_call(node: Expression, names: frozenset[str]) -> Run:
    name = node[1]
    arguments = node[2]
    if name == "has":
        return _compile_has(arguments, names)
    return _compile_function(name, arguments, names)


def _compile_function(name: str, arguments: list[Expression], names: frozenset[str]) -> Run:
    if name == "cel.bind" and len(arguments) == 3:
        return _compile_bind(arguments, names)

    functions = _load_library().GLOBALS.get(name)
    if functions is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")

    compiled_arguments = [compile_tree(argument, names) for argument in arguments]

    def run(scope: Bindings) -> Any:
        argument_values = [argument(scope) for argument in compiled_arguments]
        # most of these functions parse a text, which is slower than other steps
        characters = sum(len(text) for text in argument_values if type(text) is str)
        spend(scope[""], _STEPS_PER_CALL + characters // 10)
        return _invoke(functions, scope, argument_values)

    return run


_STEPS_PER_CALL = 5
"""Steps of a call to a global function."""


def _compile_has(arguments: list[Expression], names: frozenset[str]) -> Run:
    node = arguments[0] if len(arguments) == 1 else ("none",)
    if node[0] != "member" or not node[2] or node[2][-1][0] != "field":
        raise CelSyntaxError("invalid argument to has() macro")

    *before, (_, name, _) = node[2]
    unescaped_name = unescape(name)
    operand = compile_tree(("member", node[1], before), names)

    def run(scope: Bindings) -> bool:
        spend(scope[""], 1)
        return _get_optional_field(name, unescaped_name, scope, operand(scope)).present

    return run


def _compile_bind(arguments: list[Expression], names: frozenset[str]) -> Run:
    name = _variable_name(arguments[0])
    value = compile_tree(arguments[1], names)
    body = compile_tree(arguments[2], names | {name})
    return lambda scope: body({**scope, name: value(scope)})


def _compile_optional_map(
    name: str, arguments: list[Expression], names: frozenset[str]
) -> Evaluation:
    variable = _variable_name(arguments[0])
    body = compile_tree(arguments[1], names | {variable})

    def step(scope: Bindings, value: Any) -> Any:
        if not _as_optional(value).present:
            return ABSENT
        result = body({**scope, variable: value.value})
        if name == "optFlatMap":
            return _as_optional(result)
        return Optional(True, result)

    return step


# macros over lists and maps


def _variable_name(node: Expression) -> str:
    if node[0] != "name":
        raise CelSyntaxError("argument must be a simple name")
    return str(node[1])


def _item_scopes(scope: Bindings, value: Any, variables: tuple[str, ...]) -> Iterator[Bindings]:
    """Yield the scope of each item: one variable gets the item or key, a second one the index or
    value.
    """
    if type(value) not in (list, dict):
        raise no_overload()

    inner = dict(scope)
    budget = scope[""]
    if len(variables) == 1:
        (name,) = variables
        for item in value:
            spend(budget, 2)
            inner[name] = item
            yield inner
        return

    first, second = variables
    for key, item in value.items() if type(value) is dict else enumerate(value):
        spend(budget, 2)
        inner[first], inner[second] = key, item
        yield inner


def _quantify(
    deciding: bool, scopes: Iterator[Bindings], bodies: Sequence[Run], _variables: tuple[str, ...]
) -> bool:
    """Evaluate `all` or `exists`. As with `&&` and `||`, an item that decides the result hides the
    failure of another.
    """
    failed: CelError | None = None
    for scope in scopes:
        try:
            if _as_bool(bodies[0](scope)) is deciding:
                return deciding
        except CelError as error:
            failed = failed or error

    if failed is not None:
        raise failed

    return not deciding


def _exists_one(
    scopes: Iterator[Bindings], bodies: Sequence[Run], _variables: tuple[str, ...]
) -> bool:
    return sum(_as_bool(bodies[0](scope)) for scope in scopes) == 1


def _filter(
    scopes: Iterator[Bindings], bodies: Sequence[Run], variables: tuple[str, ...]
) -> list[Any]:
    return [scope[variables[0]] for scope in scopes if _as_bool(bodies[0](scope))]


def _map_items(
    scopes: Iterator[Bindings], bodies: Sequence[Run], _variables: tuple[str, ...]
) -> list[Any]:
    *conditions, body = bodies
    return [
        body(scope)
        for scope in scopes
        if all(_as_bool(condition(scope)) for condition in conditions)
    ]


def _map_values(
    scopes: Iterator[Bindings], bodies: Sequence[Run], variables: tuple[str, ...]
) -> dict[Any, Any]:
    *conditions, body = bodies
    return {
        scope[variables[0]]: body(scope)
        for scope in scopes
        if all(_as_bool(condition(scope)) for condition in conditions)
    }


_MACROS: dict[str, Callable[..., Any]] = {
    "all": partial(_quantify, False),
    "exists": partial(_quantify, True),
    "exists_one": _exists_one,
    "existsOne": _exists_one,
    "filter": _filter,
    "map": _map_items,
    "transformList": _map_items,
    "transformMap": _map_values,
}
"""Functions that evaluate a macro."""


def _compile_macro(name: str, arguments: list[Expression], names: frozenset[str]) -> Evaluation:
    function = _MACROS[name]
    if name == "map":
        count = 1
    elif name.startswith("transform"):
        count = 2
    else:
        count = len(arguments) - 1

    variables = tuple(map(_variable_name, arguments[:count]))
    if len(set(variables)) != len(variables):
        raise CelSyntaxError(f"overlapping variable name: {variables[0]}")

    bodies = [compile_tree(body, names | set(variables)) for body in arguments[count:]]
    return lambda scope, value: function(_item_scopes(scope, value, variables), bodies, variables)


_COMPILERS: dict[str, Callable[[Expression, frozenset[str]], Run]] = {
    "constant": _compile_constant,
    "name": _compile_name,
    "list": _compile_list,
    "map": _compile_map,
    "if": _compile_condition,
    "or": _compile_logic,
    "and": _compile_logic,
    "unary": _compile_unary,
    "binary": _compile_binary,
    "member": _compile_member,
    "call": _compile_call,
    "object": _compile_object,
}
