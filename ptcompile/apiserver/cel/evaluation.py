"""Compiler from the tree of a CEL expression to a function of its variables.

Each step is paid for from the budget in the scope, which bounds the run time. Costs are similar to
the API server's: one per operator, field, call and item, and a tenth per character read or
produced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel import values
from ptcompile.apiserver.cel.syntax import (
    MACRO_ARGUMENTS,
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
)
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
    return _COMPILERS[type(node)](node, names)


def _compile_name(node: Name, names: frozenset[str]) -> Run:
    name = node.name
    if name in names:

        def run(scope: Bindings) -> Any:
            scope[""][0] -= 1
            return scope[name]

        return run

    kind = values.type_named(name)
    if kind is None:
        raise UnknownNameError(f"undeclared reference to '{name}'")

    return lambda _scope: kind


def _compile_object(node: ObjectLiteral, _names: frozenset[str]) -> Run:
    raise UnknownNameError(f"objects of the type {node.type_name} are not supported")


def _compile_list(node: ListLiteral, names: frozenset[str]) -> Run:
    items = [(compile_tree(item.value, names), item.optional) for item in node.items]

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


def _compile_map(node: MapLiteral, names: frozenset[str]) -> Run:
    entries = [
        (compile_tree(entry.key, names), compile_tree(entry.value, names), entry.optional)
        for entry in node.entries
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


def _compile_condition(node: Conditional, names: frozenset[str]) -> Run:
    cases = [
        (compile_tree(case.condition, names), compile_tree(case.then, names)) for case in node.cases
    ]
    otherwise = compile_tree(node.otherwise, names)

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


def _compile_logic(node: Logic, names: frozenset[str]) -> Run:
    """Compile `&&` or `||`. As in CEL, an operand that decides the result hides the failure of
    another on either side.
    """
    parts = [compile_tree(part, names) for part in node.parts]
    deciding = node.mark == "||"

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


def _compile_unary(node: Unary, names: frozenset[str]) -> Run:
    operand = compile_tree(node.operand, names)
    is_even = node.repeats % 2 == 0

    def run(scope: Bindings) -> Any:
        spend(scope[""], node.repeats)
        value = operand(scope)
        if node.mark == "!":
            return _as_bool(value) is is_even
        negated = values.negate(value)
        return values.negate(negated) if is_even else negated

    return run


def _comparison(orders: tuple[int, ...]) -> Callable[[Any, Any, Any], bool]:
    def compare(budget: Any, a: Any, b: Any) -> bool:
        order = values.compare(budget, a, b)
        if order == 0 and a != b:
            raise CelError("NaN values cannot be ordered")
        return order in orders

    return compare


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


def _compile_binary(node: Binary, names: frozenset[str]) -> Run:
    first = compile_tree(node.first, names)
    steps = [
        (_OPERATORS[operation.mark], compile_tree(operation.operand, names))
        for operation in node.operations
    ]

    def run(scope: Bindings) -> Any:
        budget = scope[""]
        value = first(scope)
        for operator, operand in steps:
            spend(budget, 1)
            value = operator(budget, value, operand(scope))
        return value

    return run


def unescape(name: str) -> str:
    """Return the field that an escaped name means: `a__dash__b` is `a-b`, `__if__` is `if`."""
    if name.startswith("__") and name.endswith("__") and name[2:-2].isalpha():
        return name[2:-2]
    return _ESCAPED.sub(lambda match: _FIELD_ESCAPES[match.group()], name)


def _compile_member(node: MemberAccess, names: frozenset[str]) -> Run:
    steps = node.steps
    function = _namespaced_function(node, names)
    if function is None:
        run = compile_tree(node.first, names)
    else:
        run = _compile_function(function, names)
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


def _namespaced_function(node: MemberAccess, names: frozenset[str]) -> FunctionCall | None:
    """Return the call of a function such as `optional.of(x)` that a member begins with, or
    None.
    """
    first = node.first
    call = node.steps[0] if node.steps else None
    if not isinstance(first, Name) or first.name in names or not isinstance(call, FunctionCall):
        return None
    return FunctionCall(f"{first.name}.{call.name}", call.arguments)


def _compile_step(node: FieldStep | IndexStep | FunctionCall, names: frozenset[str]) -> Evaluation:
    if isinstance(node, FieldStep):
        get_field = _get_optional_field if node.optional else _get_field
        return partial(get_field, node.name, unescape(node.name))
    if isinstance(node, IndexStep):
        get_item = _get_optional_item if node.optional else _get_item
        return partial(get_item, compile_tree(node.key, names))

    name, arguments = node
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
    if type(value) is dict and name in value:
        return value[name]

    field = _get_optional_field(name, unescaped_name, scope, value)
    if type(value) is Optional:
        return field
    if not field.present:
        raise CelError(f"no such key: {unescaped_name}")

    return field.value


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
        if map_key not in value:
            return ABSENT
        return Optional(True, value[map_key])

    raise no_overload()


def _compile_call(node: FunctionCall, names: frozenset[str]) -> Run:
    if node.name == "has":
        return _compile_has(node.arguments, names)
    return _compile_function(node, names)


def _compile_function(node: FunctionCall, names: frozenset[str]) -> Run:
    name, arguments = node
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
    match arguments:
        case [MemberAccess(first, [*before, FieldStep(name)])]:
            unescaped_name = unescape(name)
            operand = compile_tree(MemberAccess(first, before), names)
        case _:
            raise CelSyntaxError("invalid argument to has() macro")

    def run(scope: Bindings) -> bool:
        spend(scope[""], 1)
        return _get_optional_field(name, unescaped_name, scope, operand(scope)).present

    return run


def _compile_bind(arguments: list[Expression], names: frozenset[str]) -> Run:
    variable, bound, result = arguments
    name = _variable_name(variable)
    value = compile_tree(bound, names)
    body = compile_tree(result, names | {name})
    return lambda scope: body({**scope, name: value(scope)})


def _compile_optional_map(
    name: str, arguments: list[Expression], names: frozenset[str]
) -> Evaluation:
    parameter, result_node = arguments
    variable = _variable_name(parameter)
    body = compile_tree(result_node, names | {variable})

    def step(scope: Bindings, value: Any) -> Any:
        if not _as_optional(value).present:
            return ABSENT
        result = body({**scope, variable: value.value})
        if name == "optFlatMap":
            return _as_optional(result)
        return Optional(True, result)

    return step


def _variable_name(node: Expression) -> str:
    if not isinstance(node, Name):
        raise CelSyntaxError("argument must be a simple name")
    return node.name


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
    deciding: bool, scopes: Iterator[Bindings], bodies: list[Run], _variables: tuple[str, ...]
) -> bool:
    """Evaluate `all` or `exists`. As with `&&` and `||`, an item that decides the result hides the
    failure of another.
    """
    (body,) = bodies
    failed: CelError | None = None
    for scope in scopes:
        try:
            if _as_bool(body(scope)) is deciding:
                return deciding
        except CelError as error:
            failed = failed or error

    if failed is not None:
        raise failed

    return not deciding


def _exists_one(scopes: Iterator[Bindings], bodies: list[Run], _variables: tuple[str, ...]) -> bool:
    (body,) = bodies
    return sum(_as_bool(body(scope)) for scope in scopes) == 1


def _filter(scopes: Iterator[Bindings], bodies: list[Run], variables: tuple[str, ...]) -> list[Any]:
    (body,) = bodies
    (item,) = variables
    return [scope[item] for scope in scopes if _as_bool(body(scope))]


def _map_items(
    scopes: Iterator[Bindings], bodies: list[Run], _variables: tuple[str, ...]
) -> list[Any]:
    *conditions, body = bodies
    return [
        body(scope)
        for scope in scopes
        if all(_as_bool(condition(scope)) for condition in conditions)
    ]


def _map_values(
    scopes: Iterator[Bindings], bodies: list[Run], variables: tuple[str, ...]
) -> dict[Any, Any]:
    *conditions, body = bodies
    key, _ = variables
    return {
        scope[key]: body(scope)
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
    count = count_variables(name, arguments)
    variables = tuple(map(_variable_name, arguments[:count]))
    if len(set(variables)) != len(variables):
        raise CelSyntaxError(f"overlapping variable name: {variables[0]}")

    bodies = [compile_tree(body, names | set(variables)) for body in arguments[count:]]
    return lambda scope, value: function(_item_scopes(scope, value, variables), bodies, variables)


_COMPILERS: dict[type, Callable[[Any, frozenset[str]], Run]] = {
    Constant: lambda node, _names: lambda _scope: node.value,
    Name: _compile_name,
    ListLiteral: _compile_list,
    MapLiteral: _compile_map,
    ObjectLiteral: _compile_object,
    Conditional: _compile_condition,
    Logic: _compile_logic,
    Unary: _compile_unary,
    Binary: _compile_binary,
    MemberAccess: _compile_member,
    FunctionCall: _compile_call,
}
