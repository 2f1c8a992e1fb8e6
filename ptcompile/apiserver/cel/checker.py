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
    CelLimitError,
    CelSyntaxError,
    Uint,
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
    """FieldTypes of object types, by type name."""
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
        self._checks: dict[str, Callable[[Expression, Scope], CelType]] = {
            "constant": lambda node, _scope: _CONSTANT_TYPES[type(node[1])],
            "name": self._check_name,
            "list": self._check_list,
            "map": self._check_map,
            "if": self._check_condition,
            "or": self._check_logic,
            "and": self._check_logic,
            "unary": self._check_unary,
            "binary": self._check_binary,
            "member": self._check_member,
            "call": self._check_call,
            "object": self._check_object,
        }

    def _new_parameter(self) -> CelType:
        self._fresh += 1
        return CelType(f"${self._fresh}")

    def check(self, node: Expression, scope: Scope) -> CelType:
        return self._checks[node[0]](node, scope)

    def _check_name(self, node: Expression, scope: Scope) -> CelType:
        name = node[1]
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

        return kind.parameters[0]

    def _check_list(self, node: Expression, scope: Scope, *, mixed: bool = False) -> CelType:
        item: CelType | None = None
        for each in node[1]:
            optional = each[0] == "optional"
            kind = self._check_entry(each[1] if optional else each, optional, scope)
            item = DYN if mixed else self._join(item, kind)
        return list_of(item or self._new_parameter())

    def _check_map(self, node: Expression, scope: Scope) -> CelType:
        key_type: CelType | None = None
        value_type: CelType | None = None
        for key, value, optional in node[1]:
            key_type = self._join(key_type, self.check(key, scope))
            value_type = self._join(value_type, self._check_entry(value, optional, scope))
        return map_of(key_type or self._new_parameter(), value_type or self._new_parameter())

    def _check_condition(self, node: Expression, scope: Scope) -> CelType:
        result = self.check(node[2], scope)
        for condition, then in reversed(node[1]):
            result = self._call(
                "_?_:_", [self.check(condition, scope), self.check(then, scope), result]
            )
        return result

    def _check_logic(self, node: Expression, scope: Scope) -> CelType:
        operator = "_||_" if node[0] == "or" else "_&&_"
        result = self.check(node[1][0], scope)
        for part in node[1][1:]:
            result = self._call(operator, [result, self.check(part, scope)])
        return result

    def _check_unary(self, node: Expression, scope: Scope) -> CelType:
        return self._call(f"{node[1]}_", [self.check(node[3], scope)])

    def _check_binary(self, node: Expression, scope: Scope) -> CelType:
        result = self.check(node[1], scope)
        for mark, operand in node[2]:
            operator = "@in" if mark == "in" else f"_{mark}_"
            result = self._call(operator, [result, self.check(operand, scope)])
        return result

    def _check_object(self, node: Expression, scope: Scope) -> CelType:
        _, name, entries = node
        if name.partition(".")[0] not in self._environment.creates:
            raise CelTypeError(f"undeclared reference to '{name}' (in container '')")

        fields = self._environment.objects.get(name)
        for field, value, optional in entries:
            kind = self._check_entry(value, optional, scope)
            expected = DYN if fields is None else fields.get(field)
            if expected is None:
                raise CelTypeError(f"undefined field '{field}'")
            if not is_assignable(self.types, expected, kind):
                texts = (
                    format_type(expected, short=True),
                    format_type(substitute(kind, self.types), short=True),
                )
                raise CelTypeError(
                    f"expected type of field '{field}' is '{texts[0]}' but provided type is "
                    f"'{texts[1]}'"
                )

        return CelType(name)

    # fields, items and calls

    def _check_member(self, node: Expression, scope: Scope) -> CelType:
        first = node[1]
        steps = list(node[2])
        kind: CelType
        if (
            first[0] == "name"
            and steps
            and f"{first[1]}.{steps[0][1]}" in scope
            and steps[0][0] == "field"
        ):
            kind = scope[f"{first[1]}.{steps[0][1]}"]
            steps = steps[1:]
        elif first[0] == "name" and first[1] not in scope and steps and steps[0][0] == "call":
            kind = self._check_function(f"{first[1]}.{steps[0][1]}", steps[0][2], scope)
            steps = steps[1:]
        else:
            kind = self.check(first, scope)

        for step in steps:
            if step[0] == "field":
                kind = self._field_type(kind, step[1], optional=step[2])
            elif step[0] == "index":
                kind = self._call(
                    "_[?_]" if step[2] else "_[_]", [kind, self.check(step[1], scope)]
                )
            else:
                kind = self._check_method(kind, step[1], step[2], scope)

        return kind

    def _field_type(self, kind: CelType, name: str, *, optional: bool = False) -> CelType:
        kind = substitute(kind, self.types)
        if kind.name == "optional_type":
            return optional_of(self._field_type(kind.parameters[0], name))

        if is_parameter(kind):
            self.types[kind.name] = DYN
            field = DYN
        elif kind.name == "map":
            field = kind.parameters[1]
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

    def _check_method(
        self, kind: CelType, name: str, arguments: list[Expression], scope: Scope
    ) -> CelType:
        count = len(arguments)
        if count in MACRO_ARGUMENTS.get(name, ()):
            return self._check_macro(kind, name, arguments, scope)
        if name in ("optMap", "optFlatMap") and count == 2:
            return self._check_optional_map(kind, name, arguments, scope)

        candidates = overloads()[1].get(name)
        if candidates is None:
            raise CelTypeError(f"undeclared reference to '{name}' (in container '')")

        types = [
            self._check_list(argument, scope, mixed=True)
            if name == "format" and argument[0] == "list"
            else self.check(argument, scope)
            for argument in arguments
        ]
        if name == "matches" and count == 1:
            _check_literal("matches", arguments[0])

        return self._resolve(name, candidates, [kind, *types], is_method=True)

    def _check_call(self, node: Expression, scope: Scope) -> CelType:
        if node[1] != "has":
            return self._check_function(node[1], node[2], scope)
        argument: Expression = node[2][0] if len(node[2]) == 1 else ("none",)
        if argument[0] != "member" or not argument[2] or argument[2][-1][0] != "field":
            raise CelTypeError("invalid argument to has() macro")
        self._check_member(argument, scope)
        return BOOL

    def _check_function(self, name: str, arguments: list[Expression], scope: Scope) -> CelType:
        if name == "cel.bind" and len(arguments) == 3:
            value = self.check(arguments[1], scope)
            return self.check(arguments[2], {**scope, _variable_name(arguments[0]): value})
        if name.partition(".")[0] in _UNTYPED_NAMESPACES and "." in name:
            for argument in arguments:
                self.check(argument, scope)
            return DYN

        candidates = overloads()[0].get(name)
        if candidates is None:
            reference = name if "." not in name else name.partition(".")[0]
            raise CelTypeError(f"undeclared reference to '{reference}' (in container '')")

        types = [self.check(argument, scope) for argument in arguments]
        if name in _LITERAL_CHECKS and arguments:
            _check_literal(name, arguments[-1])

        return self._resolve(name, candidates, types, is_method=False)

    def _call(self, name: str, types: list[CelType]) -> CelType:
        return self._resolve(name, overloads()[0][name], types, is_method=False)

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

            if is_open:  # its own parameters may become part of the types of others
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
        applied = f"{texts[0]}.({', '.join(texts[1:])})" if is_method else f"({', '.join(texts)})"
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

    # macros

    def _check_optional_map(
        self, kind: CelType, name: str, arguments: list[Expression], scope: Scope
    ) -> CelType:
        kind = substitute(kind, self.types)
        if is_dyn(kind) or is_parameter(kind):
            inner = DYN
        elif kind.name == "optional_type":
            inner = kind.parameters[0]
        else:
            text = format_type(kind, short=True)
            raise CelTypeError(f"found no matching overload for 'hasValue' applied to '{text}.()'")

        result = self.check(arguments[1], {**scope, _variable_name(arguments[0]): inner})
        return optional_of(result) if name == "optMap" else result

    def _check_macro(
        self, kind: CelType, name: str, arguments: list[Expression], scope: Scope
    ) -> CelType:
        if name.startswith("transform") or (name != "map" and len(arguments) == 3):
            variables = 2
        else:
            variables = 1

        first, second = self._item_types(kind, variables)
        names = [_variable_name(argument) for argument in arguments[:variables]]
        inner = {**scope, **dict(zip(names, (first, second), strict=False))}
        *conditions, body = arguments[variables:]
        for condition in conditions:
            self._require_bool(self.check(condition, inner), "_?_:_")
        result = self.check(body, inner)
        if name in ("map", "transformList"):
            return list_of(result)
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

    def _item_types(self, kind: CelType, variables: int) -> tuple[CelType, CelType]:
        """Return the types of a macro's variables: of the items, or of the keys or indexes and
        the values.
        """
        kind = substitute(kind, self.types)
        if kind.name == "list":
            if variables == 1:
                return (kind.parameters[0], DYN)
            return (INT, kind.parameters[0])
        if kind.name == "map":
            return kind.parameters[0], kind.parameters[1]
        if is_dyn(kind) or is_parameter(kind):
            return DYN, DYN

        text = format_type(kind, short=True)
        why = "cannot be range of a comprehension (must be list, map, or dynamic)"
        raise CelTypeError(f"expression of type '{text}' {why}")


_UNTYPED_NAMESPACES = frozenset(("base64", "math", "regex"))
"""Namespaces of cel-go's extensions whose functions are not declared here; a release may have
them.
"""


def _variable_name(node: Expression) -> str:
    if node[0] != "name":
        raise CelTypeError("argument must be a simple name")
    return str(node[1])


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
    if (
        argument[0] == "constant"
        and type(argument[1]) is str
        and _LITERAL_CHECKS[name](argument[1])
    ):
        raise CelTypeError(f"invalid {name} argument")
