"""Type check of CEL expressions, with cel-go's messages (cel-go 0.26 `checker/checker.go`).

A check visits each part of an expression once. It stops at the first error, where cel-go reports
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.cel import values
from ptcompile.apiserver.cel.declarations import Overload, overloads
from ptcompile.apiserver.cel.evaluation import unescape
from ptcompile.apiserver.cel.syntax import (
    MACRO_ARGUMENTS,
    Binary,
    CelLimitError,
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
    Uint,
    Unary,
    count_variables,
    parse,
)
from ptcompile.apiserver.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    UINT,
    CelType,
    are_assignable,
    compose,
    format_type,
    is_assignable,
    is_dyn,
    is_parameter,
    list_of,
    map_of,
    most_general,
    optional_of,
    parameters_of,
    substitute,
)
from ptcompile.apiserver.goregex import is_invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.syntax import Expression
    from ptcompile.apiserver.cel.types import Substitutions

    FieldTypes = Mapping[str, CelType]
    Scope = dict[str, CelType]


class CelTypeError(Exception):
    """Raised when an expression has no valid types, with cel-go's message."""


class Environment(NamedTuple):
    """What expressions of one kind may use."""

    variables: Mapping[str, CelType]
    objects: Mapping[str, FieldTypes] = {}
    """The types of fields of object types, by type name."""
    creates: tuple[str, ...] = ()
    """Types that expressions may create: `JSONPatch{...}`. Those within `Object` need no
    declared fields.
    """


def type_of(text: str, environment: Environment) -> CelType:
    """Return the type of an expression's value.

    Raises CelTypeError if it does not compile, and CelLimitError if it is too long or nested too
    deeply to tell.
    """
    checker = _Checker(environment)
    try:
        return substitute(
            checker.check(parse(text), dict(environment.variables)), checker.types, final=True
        )
    except CelLimitError:
        raise
    except CelSyntaxError as error:
        raise CelTypeError(str(error)) from None
    except RecursionError:
        raise CelLimitError("the expression is nested too deeply") from None


_CONSTANT_TYPES: dict[type, CelType] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


class _Checker:
    """The types of one expression."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._fresh = 0
        self.types: Substitutions = {}
        self._checks: dict[type, Callable[[Any, Scope], CelType]] = {
            Constant: lambda node, _scope: _CONSTANT_TYPES[type(node.value)],
            Name: self._check_name,
            ListLiteral: self._check_list,
            MapLiteral: self._check_map,
            ObjectLiteral: self._check_object,
            Conditional: self._check_condition,
            Logic: self._check_logic,
            Unary: lambda node, scope: self._call(
                f"{node.mark}_", [self.check(node.operand, scope)]
            ),
            Binary: self._check_binary,
            MemberAccess: self._check_member,
            FunctionCall: self._check_call,
        }

    def _new_parameter(self) -> CelType:
        self._fresh += 1
        return CelType(f"${self._fresh}")

    def check(self, node: Expression, scope: Scope) -> CelType:
        return self._checks[type(node)](node, scope)

    def _check_name(self, node: Name, scope: Scope) -> CelType:
        name = node.name
        if name in scope:
            return scope[name]
        if values.type_named(name) is not None:
            return compose("type", CelType(name))
        raise CelTypeError(f"undeclared reference to '{name}' (in container '')")

    def _join(self, known: CelType | None, kind: CelType) -> CelType:
        if known is None:
            return kind
        if is_assignable(self.types, known, kind):
            return most_general(substitute(known, self.types), substitute(kind, self.types))
        known, kind = (substitute(each, self.types) for each in (known, kind))
        raise CelTypeError(
            f"expected type '{format_type(known, short=True)}' but found "
            f"'{format_type(kind, short=True)}'"
        )

    def _check_entry(self, node: Expression, optional: bool, scope: Scope) -> CelType:
        kind = self.check(node, scope)
        if not optional:
            return kind

        kind = substitute(kind, self.types)
        if is_dyn(kind):
            return DYN
        if kind.name != "optional_type":
            raise CelTypeError(
                f"expected type 'optional_type({format_type(kind)})' but found "
                f"'{format_type(kind)}'"
            )

        (value_type,) = kind.parameters
        return value_type

    def _check_list(self, node: ListLiteral, scope: Scope, *, mixed: bool = False) -> CelType:
        item_type: CelType | None = None
        for item in node.items:
            kind = self._check_entry(item.value, item.optional, scope)
            item_type = DYN if mixed else self._join(item_type, kind)
        return list_of(item_type or self._new_parameter())

    def _check_map(self, node: MapLiteral, scope: Scope) -> CelType:
        key_type: CelType | None = None
        value_type: CelType | None = None
        for key, value, optional in node.entries:
            key_type = self._join(key_type, self.check(key, scope))
            value_type = self._join(value_type, self._check_entry(value, optional, scope))
        return map_of(key_type or self._new_parameter(), value_type or self._new_parameter())

    def _check_condition(self, node: Conditional, scope: Scope) -> CelType:
        result = self.check(node.otherwise, scope)
        for condition, then in reversed(node.cases):
            result = self._call(
                "_?_:_", [self.check(condition, scope), self.check(then, scope), result]
            )
        return result

    def _check_logic(self, node: Logic, scope: Scope) -> CelType:
        first, *others = node.parts
        result = self.check(first, scope)
        for part in others:
            result = self._call(f"_{node.mark}_", [result, self.check(part, scope)])
        return result

    def _check_binary(self, node: Binary, scope: Scope) -> CelType:
        result = self.check(node.first, scope)
        for mark, operand in node.operations:
            operator = "@in" if mark == "in" else f"_{mark}_"
            result = self._call(operator, [result, self.check(operand, scope)])
        return result

    def _check_object(self, node: ObjectLiteral, scope: Scope) -> CelType:
        name = node.type_name
        root, _, _ = name.partition(".")
        if root not in self._environment.creates:
            raise CelTypeError(f"undeclared reference to '{name}' (in container '')")

        declared = self._environment.objects.get(name)
        for field, value, optional in node.fields:
            kind = self._check_entry(value, optional, scope)
            expected = DYN if declared is None else declared.get(field)
            if expected is None:
                raise CelTypeError(f"undefined field '{field}'")
            if not is_assignable(self.types, expected, kind):
                expected_text = format_type(expected, short=True)
                text = format_type(substitute(kind, self.types), short=True)
                raise CelTypeError(
                    f"expected type of field '{field}' is '{expected_text}' but provided type is "
                    f"'{text}'"
                )

        return CelType(name)

    def _check_member(self, node: MemberAccess, scope: Scope) -> CelType:
        steps = node.steps
        match node:
            case MemberAccess(Name(name), [FieldStep(field), *_]) if f"{name}.{field}" in scope:
                kind = scope[f"{name}.{field}"]
                steps = steps[1:]
            case MemberAccess(Name(name), [FunctionCall(function, arguments), *_]) if (
                name not in scope
            ):
                kind = self._check_function(f"{name}.{function}", arguments, scope)
                steps = steps[1:]
            case _:
                kind = self.check(node.first, scope)

        for step in steps:
            if isinstance(step, FieldStep):
                kind = self._field_type(kind, step.name, optional=step.optional)
            elif isinstance(step, IndexStep):
                operator = "_[?_]" if step.optional else "_[_]"
                kind = self._call(operator, [kind, self.check(step.key, scope)])
            else:
                kind = self._check_method(kind, step, scope)

        return kind

    def _field_type(self, kind: CelType, name: str, *, optional: bool = False) -> CelType:
        kind = substitute(kind, self.types)
        if kind.name == "optional_type":
            (value_type,) = kind.parameters
            return optional_of(self._field_type(value_type, name))

        if is_parameter(kind):
            self.types[kind.name] = DYN
            field = DYN
        elif kind.name == "map":
            _, field = kind.parameters
        elif is_dyn(kind):
            field = DYN
        else:
            fields = self._environment.objects.get(kind.name)
            if fields is None:
                raise CelTypeError(
                    f"type '{format_type(kind, short=True)}' does not support field selection"
                )
            if name not in fields and unescape(name) not in fields:
                raise CelTypeError(f"undefined field '{name}'")
            field = fields[name] if name in fields else fields[unescape(name)]

        return optional_of(field) if optional else field

    def _check_method(self, kind: CelType, call: FunctionCall, scope: Scope) -> CelType:
        name, arguments = call
        count = len(arguments)
        if count in MACRO_ARGUMENTS.get(name, ()):
            return self._check_macro(kind, name, arguments, scope)
        if name in ("optMap", "optFlatMap") and count == 2:
            return self._check_optional_map(kind, name, arguments, scope)

        candidates = overloads().methods.get(name)
        if candidates is None:
            raise CelTypeError(f"undeclared reference to '{name}' (in container '')")

        types = [kind]
        for argument in arguments:
            if name == "format" and isinstance(argument, ListLiteral):
                types.append(self._check_list(argument, scope, mixed=True))
            else:
                types.append(self.check(argument, scope))
        if name == "matches" and count == 1:
            _check_literal(name, *arguments)

        return self._resolve(name, candidates, types, is_method=True)

    def _check_call(self, node: FunctionCall, scope: Scope) -> CelType:
        if node.name != "has":
            return self._check_function(node.name, node.arguments, scope)

        match node.arguments:
            case [MemberAccess(_, [*_, FieldStep()]) as member]:
                self._check_member(member, scope)
            case _:
                raise CelTypeError("invalid argument to has() macro")

        return BOOL

    def _check_function(self, name: str, arguments: list[Expression], scope: Scope) -> CelType:
        if name == "cel.bind" and len(arguments) == 3:
            variable, bound, result = arguments
            value = self.check(bound, scope)
            return self.check(result, {**scope, _variable_name(variable): value})

        # a name without a dot is its own namespace
        namespace, dot, _ = name.partition(".")
        if dot and namespace in _UNTYPED_NAMESPACES:
            for argument in arguments:
                self.check(argument, scope)
            return DYN

        candidates = overloads().functions.get(name)
        if candidates is None:
            raise CelTypeError(f"undeclared reference to '{namespace}' (in container '')")

        types = [self.check(argument, scope) for argument in arguments]
        if name in _LITERAL_CHECKS and arguments:
            _check_literal(name, arguments[-1])

        return self._resolve(name, candidates, types, is_method=False)

    def _call(self, name: str, types: list[CelType]) -> CelType:
        return self._resolve(name, overloads().functions[name], types, is_method=False)

    def _resolve(
        self, name: str, candidates: list[Overload], types: list[CelType], *, is_method: bool
    ) -> CelType:
        """Return the type of a call. If the overloads that fit have different results, it is
        only known at run time.
        """
        types = [substitute(kind, self.types) for kind in types]
        is_open = bool(parameters_of(types))
        result: CelType | None = None
        for overload in candidates:
            if len(overload.arguments) != len(types):
                continue

            # type parameters of the overload may become part of the types of arguments
            if is_open:
                overload = self._instance(overload)
            bound: Substitutions = {}
            if not are_assignable(bound, tuple(types), overload.arguments):
                continue

            if is_open:
                self.types.update(bound)
            kind = substitute(overload.result, bound)
            if result is None:
                result = kind
            elif not is_dyn(result) and kind != result:
                result = DYN

        if result is not None:
            return self._with_new_parameters(result)

        texts = [format_type(kind, short=True) for kind in types]
        receiver = f"{texts.pop(0)}." if is_method else ""
        applied = f"{receiver}({', '.join(texts)})"
        raise CelTypeError(f"found no matching overload for '{name}' applied to '{applied}'")

    def _instance(self, overload: Overload) -> Overload:
        """Return an overload with new type parameters."""
        names = parameters_of((*overload.arguments, overload.result))
        if not names:
            return overload
        new = {name: self._new_parameter() for name in sorted(names)}
        arguments = tuple(substitute(argument, new) for argument in overload.arguments)
        return Overload(arguments, substitute(overload.result, new))

    def _with_new_parameters(self, kind: CelType) -> CelType:
        """Return a type with new parameters in place of those of a declaration."""
        names = [name for name in parameters_of((kind,)) if name[1:].isalpha()]
        if names:
            return substitute(kind, {name: self._new_parameter() for name in sorted(names)})
        return kind

    def _check_optional_map(
        self, kind: CelType, name: str, arguments: list[Expression], scope: Scope
    ) -> CelType:
        kind = substitute(kind, self.types)
        if is_dyn(kind) or is_parameter(kind):
            inner = DYN
        elif kind.name == "optional_type":
            (inner,) = kind.parameters
        else:
            text = format_type(kind, short=True)
            raise CelTypeError(f"found no matching overload for 'hasValue' applied to '{text}.()'")

        variable, body = arguments
        result = self.check(body, {**scope, _variable_name(variable): inner})
        return optional_of(result) if name == "optMap" else result

    def _check_macro(
        self, kind: CelType, name: str, arguments: list[Expression], scope: Scope
    ) -> CelType:
        variables = count_variables(name, arguments)
        types = self._item_types(kind, variables)
        names = [_variable_name(argument) for argument in arguments[:variables]]
        inner = {**scope, **dict(zip(names, types, strict=True))}
        *conditions, body = arguments[variables:]
        for condition in conditions:
            self._require_bool(self.check(condition, inner), "_?_:_")
        result = self.check(body, inner)
        if name in ("map", "transformList"):
            return list_of(result)

        first = types[0]
        if name == "transformMap":
            return map_of(first, result)
        if name == "transformMapEntry":
            return result
        if name == "sortBy":
            return substitute(kind, self.types)

        self._require_bool(result, {"all": "_&&_", "exists": "_||_"}.get(name, "_?_:_"))
        return list_of(first) if name == "filter" else BOOL

    def _require_bool(self, kind: CelType, operator: str) -> None:
        self._call(operator, [kind, BOOL, BOOL] if operator == "_?_:_" else [BOOL, kind])

    def _item_types(self, kind: CelType, variables: int) -> tuple[CelType, ...]:
        """Return the types of a macro's one or two variables: of a list's items or a map's keys,
        or of the indexes or keys and the values.
        """
        kind = substitute(kind, self.types)
        if kind.name == "list":
            return (INT, *kind.parameters)[-variables:]
        if kind.name == "map":
            return kind.parameters[:variables]
        if is_dyn(kind) or is_parameter(kind):
            return (DYN,) * variables

        text = format_type(kind, short=True)
        why = "cannot be range of a comprehension (must be list, map, or dynamic)"
        raise CelTypeError(f"expression of type '{text}' {why}")


_UNTYPED_NAMESPACES = frozenset(("base64", "math", "regex"))
"""Namespaces of cel-go's extensions whose functions are not declared here; a release may have
them.
"""


def _variable_name(node: Expression) -> str:
    if not isinstance(node, Name):
        raise CelTypeError("argument must be a simple name")
    return node.name


def _is_invalid_conversion(convert: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            convert(text)
        except values.CelError:
            return True
        return False

    return check


_LITERAL_CHECKS: dict[str, Callable[[str], bool]] = {
    "matches": is_invalid,
    "duration": _is_invalid_conversion(values.to_duration),
    "timestamp": _is_invalid_conversion(values.to_timestamp),
}
"""Functions whose literal arguments are validated, each with whether a text is invalid."""


def _check_literal(name: str, argument: Expression) -> None:
    text = argument.value if isinstance(argument, Constant) else None
    if type(text) is str and _LITERAL_CHECKS[name](text):
        raise CelTypeError(f"invalid {name} argument")
