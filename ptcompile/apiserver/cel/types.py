"""Static types of CEL expressions, and which types may stand for which others (cel-go
`checker/types.go`).
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Substitutions = dict[str, "CelType"]
    """Types of the type parameters, by their names."""

_DEPTH_MAX = 8
"""Maximum nesting of a type; deeper parts count as `dyn`, so a short expression cannot have a
huge type.
"""


class CelType(NamedTuple):
    """A type by its name, with the types of its items. Names of type parameters begin with `$`."""

    name: str
    parameters: tuple[CelType, ...] = ()
    depth: int = 0


BOOL = CelType("bool")
INT = CelType("int")
UINT = CelType("uint")
DOUBLE = CelType("double")
STRING = CelType("string")
BYTES = CelType("bytes")
NULL = CelType("null_type")
DYN = CelType("dyn")
ANY = CelType("any")
"""The type of a value that is only known at run time, such as a device attribute. cel-go checks
it like `dyn`.
"""
TIMESTAMP = CelType("google.protobuf.Timestamp")
DURATION = CelType("google.protobuf.Duration")
_SHORT_NAMES = {TIMESTAMP.name: "timestamp", DURATION.name: "duration", NULL.name: "null"}
_NOT_NULLABLE = frozenset(
    ("bool", "int", "uint", "double", "string", "bytes", "list", "map", "type")
)


def compose(name: str, *parameters: CelType) -> CelType:
    """Return a type with parameters, which become dyn if the type is nested too deep."""
    depth = 1 + max(parameter.depth for parameter in parameters)
    if depth <= _DEPTH_MAX:
        return CelType(name, parameters, depth)
    return CelType(name, (DYN,) * len(parameters), 1)


def list_of(item: CelType) -> CelType:
    """Return the type of a list."""
    return compose("list", item)


def map_of(key: CelType, value: CelType) -> CelType:
    """Return the type of a map."""
    return compose("map", key, value)


def optional_of(value: CelType) -> CelType:
    """Return the type of an optional value."""
    return compose("optional_type", value)


def is_dyn(kind: CelType) -> bool:
    """Return whether the type is only known at run time."""
    return kind in (DYN, ANY)


def is_parameter(kind: CelType) -> bool:
    """Return whether the type is a type parameter."""
    return kind.name[:1] == "$"


def format_type(kind: CelType, *, short: bool = False) -> str:
    """Return a type as cel-go prints it; `short` as in its messages about calls."""
    name = _SHORT_NAMES.get(kind.name, kind.name) if short else kind.name
    if is_parameter(kind):
        return "dyn"
    if not kind.parameters:
        return name
    return (
        f"{name}({', '.join(format_type(parameter, short=short) for parameter in kind.parameters)})"
    )


def substitute(kind: CelType, types: Substitutions, *, final: bool = False) -> CelType:
    """Return a type with its parameters replaced by what is known of them. With `final`, unknown
    ones become `dyn`.
    """
    seen = 0
    while is_parameter(kind) and kind.name in types and seen < len(types) + 1:
        kind = types[kind.name]
        seen = seen + 1
    if is_parameter(kind):
        return DYN if final else kind
    if not kind.parameters:
        return kind

    return compose(
        kind.name, *(substitute(parameter, types, final=final) for parameter in kind.parameters)
    )


def _occurs(parameter: CelType, kind: CelType, types: Substitutions) -> bool:
    kind = substitute(kind, types)
    return kind == parameter or any(_occurs(parameter, inner, types) for inner in kind.parameters)


def _is_equal_or_less_specific(a: CelType, b: CelType) -> bool:
    if is_dyn(a) or is_parameter(a):
        return True
    if is_dyn(b) or is_parameter(b) or a.name != b.name or len(a.parameters) != len(b.parameters):
        return False
    return all(
        _is_equal_or_less_specific(*pair) for pair in zip(a.parameters, b.parameters, strict=True)
    )


def most_general(a: CelType, b: CelType) -> CelType:
    """Return the less specific of two types that can stand for each other."""
    return a if _is_equal_or_less_specific(a, b) else b


def _bind(types: Substitutions, kind: CelType, parameter: CelType) -> tuple[bool, bool]:
    """Return whether a type can stand for a parameter, and whether the parameter already had a
    type. Records it.
    """
    if kind == parameter:
        return True, True

    known = types.get(parameter.name)
    if known is None:
        if _occurs(parameter, kind, types):
            return False, False
        types[parameter.name] = kind
        return True, False
    if kind == known:
        return True, True
    if not is_assignable(types, kind, known):
        return False, True

    general = most_general(kind, known)
    if not _occurs(parameter, general, types):
        types[parameter.name] = general

    return True, True


def is_assignable(types: Substitutions, a: CelType, b: CelType) -> bool:
    """Return whether a value of one type can be used as the other. Records the types of type
    parameters.
    """
    if is_parameter(b):
        valid, had_type = _bind(types, a, b)
        if valid or had_type:
            return valid
    if is_parameter(a):
        return _bind(types, b, a)[0]
    if is_dyn(a) or is_dyn(b):
        return True
    if NULL in (a, b):
        other = b if a == NULL else a
        return other.name not in _NOT_NULLABLE
    if a.name != b.name:
        return False
    return a.name == "type" or are_assignable(types, a.parameters, b.parameters)


def are_assignable(types: Substitutions, a: tuple[CelType, ...], b: tuple[CelType, ...]) -> bool:
    """Return whether each of some types can be used as its counterpart."""
    return len(a) == len(b) and all(is_assignable(types, *pair) for pair in zip(a, b, strict=True))


def parameters_of(kinds: Iterable[CelType]) -> set[str]:
    """Return the names of the type parameters in some types."""
    names: set[str] = set()
    for kind in kinds:
        names |= {kind.name} if is_parameter(kind) else parameters_of(kind.parameters)
    return names
