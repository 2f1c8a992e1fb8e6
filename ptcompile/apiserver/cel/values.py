"""Values of CEL, their operators, and what evaluating costs.

Strings, bytes, booleans, integers, floats, lists, dictionaries and None are Python's; the other types are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.cel.syntax import Uint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    StepBudget = list[int]
    """The steps that are left, as the only item."""

LARGEST: Final = 1_000_000
"""Characters of a text, or items of a list, that an expression may make."""


class CelError(Exception):
    """Raised when an expression fails on its values, with cel-go's words: the API server refuses the object."""


class CostError(Exception):
    """Raised when an expression takes more steps, or makes longer values, than its budget allows."""


class Duration(int):
    """A duration in nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """A point in time, in nanoseconds since 1970."""

    __slots__ = ()


class Type(NamedTuple):
    """The type of a value, by its name."""

    name: str


class Optional(NamedTuple):
    """A value that may be absent."""

    present: bool
    value: Any = None


ABSENT: Final = Optional(False)
_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    type(None): "null_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Type: "type",
    Optional: "optional_type",
}
_NUMBERS: Final = frozenset((int, float, Uint))
_ORDERED: Final = frozenset((str, bytes, bool, Duration, Timestamp))


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    return _NAMES.get(type(value)) or type(value).__name__


def named_type(name: str) -> Type | None:
    """Return the type of a name that an expression may use, or None."""
    return Type(name) if name in _NAMES.values() else None


def spend(budget: StepBudget, steps: int) -> None:
    """Take steps from a budget. Raises CostError when none are left."""
    budget[0] -= steps
    if budget[0] < 0:
        raise CostError("it takes more steps than an object of this size is given")


def make(budget: StepBudget, size: int) -> None:
    """Pay for a text or a list before it is made."""
    if size > LARGEST:
        raise CostError(f"it makes a value of more than {LARGEST:,} characters or items")
    spend(budget, size // 10)


def no_overload() -> CelError:
    """Return the error for operands of a type that the operator or the function does not take."""
    return CelError("no such overload")


def equal(budget: StepBudget, one: Any, other: Any) -> bool:
    """Return whether two values are equal: numbers by value, everything else only within its type."""
    kind = type(one)
    if kind is not type(other):
        return kind in _NUMBERS and type(other) in _NUMBERS and bool(one == other)
    if kind is list:
        if len(one) != len(other):
            return False
        spend(budget, len(one))
        return all(equal(budget, first, second) for first, second in zip(one, other, strict=True))
    if kind is dict:
        if len(one) != len(other):
            return False
        spend(budget, len(one))
        return all(key in other and equal(budget, value, other[key]) for key, value in one.items())
    if kind is str:
        spend(budget, min(len(one), len(other)) // 10)
    return bool(one == other)


def contains(budget: StepBudget, item: Any, where: Any) -> bool:
    """Return whether a list has an item, or a map a key."""
    if type(where) is list:
        spend(budget, len(where))
        return any(equal(budget, item, one) for one in where)
    if type(where) is dict:
        return key_of(item) in where
    raise no_overload()


def key_of(key: Any) -> Any:
    """Return a map's key as a dictionary has it. Raises CelError for a value that cannot be a key."""
    if type(key) in (str, bool, int, Uint):
        return key
    if type(key) is float:
        return int(key) if key.is_integer() else key
    raise no_overload()


def ordered(budget: StepBudget, one: Any, other: Any) -> int:
    """Return -1, 0 or 1 for the order of two values. Raises CelError for values without one."""
    kind = type(one)
    if not (kind is type(other) and kind in _ORDERED) and not (kind in _NUMBERS and type(other) in _NUMBERS):
        raise no_overload()
    if kind is str:
        spend(budget, min(len(one), len(other)) // 10)
    return int(one > other) - int(one < other)


def _bounded(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise CelError("integer overflow")
    return number


def _unsigned(number: int) -> Uint:
    if not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def _lasting(number: int) -> Duration:
    if not -(2**63) <= number < 2**63:
        raise CelError("integer overflow")
    return Duration(number)


def timestamp(nanoseconds: int) -> Timestamp:
    """Return a point in time. Raises CelError outside the years 1 to 9999."""
    if not -62135596800 * 10**9 <= nanoseconds < 253402300800 * 10**9:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds)


def _divided(one: int, other: int) -> int:
    if other == 0:
        raise CelError("division by zero")
    whole = abs(int(one)) // abs(int(other))
    return whole if (one < 0) == (other < 0) else -whole


def _remainder(one: int, other: int) -> int:
    if other == 0:
        raise CelError("modulus by zero")
    rest = abs(int(one)) % abs(int(other))
    return rest if one >= 0 else -rest


def _quotient(one: float, other: float) -> float:
    if other:
        return one / other
    return float("nan") if one == 0 or one != one else float("inf") if one > 0 else float("-inf")


def _joined(budget: StepBudget, one: Any, other: Any) -> Any:
    make(budget, len(one) + len(other))
    return one + other


_SUMS: Final[dict[tuple[str, type, type], Callable[[Any, Any], Any]]] = {
    ("+", int, int): lambda one, other: _bounded(one + other),
    ("-", int, int): lambda one, other: _bounded(one - other),
    ("*", int, int): lambda one, other: _bounded(one * other),
    ("/", int, int): lambda one, other: _bounded(_divided(one, other)),
    ("%", int, int): _remainder,
    ("+", Uint, Uint): lambda one, other: _unsigned(int(one) + int(other)),
    ("-", Uint, Uint): lambda one, other: _unsigned(int(one) - int(other)),
    ("*", Uint, Uint): lambda one, other: _unsigned(int(one) * int(other)),
    ("/", Uint, Uint): lambda one, other: _unsigned(_divided(one, other)),
    ("%", Uint, Uint): lambda one, other: _unsigned(_remainder(one, other)),
    ("+", float, float): lambda one, other: one + other,
    ("-", float, float): lambda one, other: one - other,
    ("*", float, float): lambda one, other: one * other,
    ("/", float, float): _quotient,
    ("+", Duration, Duration): lambda one, other: _lasting(int(one) + int(other)),
    ("-", Duration, Duration): lambda one, other: _lasting(int(one) - int(other)),
    ("+", Timestamp, Duration): lambda one, other: timestamp(int(one) + int(other)),
    ("+", Duration, Timestamp): lambda one, other: timestamp(int(one) + int(other)),
    ("-", Timestamp, Duration): lambda one, other: timestamp(int(one) - int(other)),
    ("-", Timestamp, Timestamp): lambda one, other: _lasting(int(one) - int(other)),
}


def operate(budget: StepBudget, mark: str, one: Any, other: Any) -> Any:
    """Return the result of an arithmetic operator."""
    kind = type(one)
    if mark == "+" and kind is type(other) and kind in (str, bytes, list):
        return _joined(budget, one, other)
    operation = _SUMS.get((mark, kind, type(other)))
    if operation is None:
        raise no_overload()
    return operation(one, other)


def negative(value: Any) -> Any:
    """Return a number with the other sign."""
    if type(value) is int:
        return _bounded(-value)
    if type(value) is float:
        return -value
    raise no_overload()


# conversions

_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|μs|ns)").match
_UNITS: Final = {
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ns": 1,
}
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII | re.IGNORECASE
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def failed_conversion(value: Any, to: str) -> CelError:
    """Return the error for a value that does not convert."""
    return CelError(f"type conversion error from '{type_name(value)}' to '{to}'")


def to_duration(text: str) -> Duration:
    """Return the duration that Go's `time.ParseDuration` reads. Raises CelError."""
    body = text[1:] if text[:1] in ("-", "+") else text
    total, at = 0, 0
    while at < len(body) and len(body) <= 100:
        found = _DURATION(body, at)
        if found is None:
            break
        whole, _, fraction = found.group(1).partition(".")
        unit = _UNITS[found.group(2)]
        total += int(whole or 0) * unit + (int(fraction or 0) * unit // 10 ** len(fraction))
        at = found.end()
    if (body != "0" and (not body or at < len(body))) or total >= 2**63:
        raise failed_conversion(text, "google.protobuf.Duration")
    return Duration(-total if text[0] == "-" else total)


def to_timestamp(text: str) -> Timestamp:
    """Return the time of an RFC 3339 text. Raises CelError."""
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        day, clock, fraction, sign, hours, minutes = found.groups()
        moment = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        raise failed_conversion(text, "google.protobuf.Timestamp") from None
    away = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1) if sign else 0
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - away
    return timestamp(seconds * 10**9 + int((fraction or "0")[:9].ljust(9, "0")))


def moment(value: Timestamp) -> datetime:
    """Return a point in time as a datetime, without what is below a microsecond."""
    return _EPOCH + timedelta(microseconds=int(value) // 1000)


_INT: Final = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_FLOAT: Final = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)


def to_int(value: Any) -> int:
    """Convert to an integer."""
    kind = type(value)
    if kind in (int, Uint):
        return _bounded(int(value))
    if kind is float:
        if not -(2.0**63) < value < 2.0**63:
            raise CelError("integer overflow")
        return int(value)
    if kind is str and _INT.fullmatch(value) and -(2**63) <= int(value) < 2**63:
        return int(value)
    if kind is Timestamp:
        return int(value) // 10**9
    if kind is Duration:
        return int(value)
    if kind is str:
        raise failed_conversion(value, "int")
    raise no_overload()


def to_uint(value: Any) -> Uint:
    """Convert to an unsigned integer."""
    kind = type(value)
    if kind in (int, Uint):
        return _unsigned(int(value))
    if kind is float:
        if not 0 <= value < 2.0**64:
            raise CelError("unsigned integer overflow")
        return Uint(int(value))
    if kind is str:
        if value.isascii() and value.isdigit() and len(value) <= 20 and int(value) < 2**64:
            return Uint(int(value))
        raise failed_conversion(value, "uint")
    raise no_overload()


def to_double(value: Any) -> float:
    """Convert to a float."""
    kind = type(value)
    if kind in (int, Uint, float):
        return float(value)
    if kind is str:
        if len(value) <= 400 and _FLOAT.fullmatch(value):
            return float(value)
        raise failed_conversion(value, "double")
    raise no_overload()


def to_bool(value: Any) -> bool:
    """Convert to a boolean, with the words that Go's `strconv.ParseBool` reads."""
    if type(value) is bool:
        return value
    if type(value) is str:
        if value in ("1", "t", "T", "TRUE", "true", "True"):
            return True
        if value in ("0", "f", "F", "FALSE", "false", "False"):
            return False
        raise failed_conversion(value, "bool")
    raise no_overload()


def to_string(value: Any) -> str:
    """Convert to text as cel-go does."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, Uint):
        return str(int(value))
    if kind is float:
        return _shortest(value)
    if kind is bytes:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise failed_conversion(value, "string") from None
    if kind is Duration:
        return _exact(int(value)) + "s"
    if kind is Timestamp:
        rest = int(value) % 10**9
        fraction = f".{rest:09}".rstrip("0") if rest else ""
        return f"{moment(value):%Y-%m-%dT%H:%M:%S}{fraction}Z"
    raise no_overload()


def _exact(nanoseconds: int) -> str:
    seconds, rest = divmod(abs(nanoseconds), 10**9)
    return ("-" if nanoseconds < 0 else "") + str(seconds) + (f".{rest:09}".rstrip("0") if rest else "")


def _shortest(value: float) -> str:
    """Write a float as Go's `strconv.FormatFloat(value, 'g', -1, 64)`."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    digits, _, exponent = f"{value:.17e}".partition("e")
    for precision in range(17):
        digits, _, exponent = f"{value:.{precision}e}".partition("e")
        if float(f"{digits}e{exponent}") == value:
            break
    power = int(exponent)
    if -4 <= power < 6:
        return f"{value:.{max(0, len(digits.lstrip('-').replace('.', '')) - 1 - power)}f}"
    return f"{digits}e{'-' if power < 0 else '+'}{abs(power):02}"
