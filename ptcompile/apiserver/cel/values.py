"""Values of CEL, their operators, and the cost of evaluation.

Strings, bytes, booleans, integers, floats, lists, dictionaries and None are Python's; this module
defines the other types.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.cel.syntax import Uint
from ptcompile.kubernetes.goflags import parse_bool

TYPE_CHECKING = False
if TYPE_CHECKING:
    StepBudget = list[int]
    """Remaining steps, as the only item."""

SIZE_MAX = 1_000_000
"""Maximum number of characters of a text, or items of a list, that an expression may produce."""


class CelError(Exception):
    """Raised when an expression fails on its values, with cel-go's message; the API server then
    rejects the object.
    """


class CostError(Exception):
    """Raised when an expression takes more steps or produces longer values than its budget
    allows.
    """


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


class ComputedFields:
    """A value whose fields are computed when an expression reads them."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[str, StepBudget], Any]) -> None:
        self.read = read
        """Returns the value of a field, or raises what the expression then raises."""


ABSENT = Optional(False)
_TYPE_NAMES: dict[type, str] = {
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
_NUMBER_TYPES = frozenset((int, float, Uint))
_ORDERED_TYPES = frozenset((str, bytes, bool, Duration, Timestamp))


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    return _TYPE_NAMES.get(type(value)) or type(value).__name__


def type_named(name: str) -> Type | None:
    """Return the type with this name, or None if expressions cannot use the name."""
    return Type(name) if name in _TYPE_NAMES.values() else None


def spend(budget: StepBudget, steps: int) -> None:
    """Subtract steps from a budget. Raises CostError if it is exhausted."""
    budget[0] -= steps
    if budget[0] < 0:
        raise CostError("it takes more steps than allowed for an object of this size")


def pay_for_size(budget: StepBudget, size: int) -> None:
    """Pay for a text or a list before it is created."""
    if size > SIZE_MAX:
        raise CostError(f"it makes a value of more than {SIZE_MAX:,} characters or items")
    spend(budget, size // 10)


def no_overload() -> CelError:
    """Return the error for operands whose types the operator or function does not accept."""
    return CelError("no such overload")


def are_equal(budget: StepBudget, a: Any, b: Any) -> bool:
    """Return whether two values are equal. Numbers are compared by value; other values must have
    the same type.
    """
    kind = type(a)
    if kind is not type(b):
        return kind in _NUMBER_TYPES and type(b) in _NUMBER_TYPES and bool(a == b)
    if kind is list:
        if len(a) != len(b):
            return False
        spend(budget, len(a))
        return all(are_equal(budget, first, second) for first, second in zip(a, b, strict=True))
    if kind is dict:
        if len(a) != len(b):
            return False
        spend(budget, len(a))
        return all(key in b and are_equal(budget, value, b[key]) for key, value in a.items())

    if kind is str:
        spend(budget, min(len(a), len(b)) // 10)
    return bool(a == b)


def contains(budget: StepBudget, item: Any, container: Any) -> bool:
    """Return whether a list has an item, or a map a key."""
    if type(container) is list:
        spend(budget, len(container))
        return any(are_equal(budget, item, element) for element in container)
    if type(container) is dict:
        return key_of(item) in container
    raise no_overload()


def key_of(key: Any) -> Any:
    """Return a map key as a dictionary key. Raises CelError for a value that cannot be a key."""
    if type(key) in (str, bool, int, Uint):
        return key
    if type(key) is float:
        return int(key) if key.is_integer() else key
    raise no_overload()


def compare(budget: StepBudget, a: Any, b: Any) -> int:
    """Return -1, 0 or 1 for the order of two values. Raises CelError if they have no order."""
    kind = type(a)
    are_numbers = kind in _NUMBER_TYPES and type(b) in _NUMBER_TYPES
    if not are_numbers and (kind is not type(b) or kind not in _ORDERED_TYPES):
        raise no_overload()
    if kind is str:
        spend(budget, min(len(a), len(b)) // 10)
    return int(a > b) - int(a < b)


def _to_int64(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise CelError("integer overflow")
    return number


def _to_uint64(number: int) -> Uint:
    if not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def checked_timestamp(nanoseconds: int) -> Timestamp:
    """Return a point in time. Raises CelError outside the years 1 to 9999."""
    if not -62135596800 * 10**9 <= nanoseconds < 253402300800 * 10**9:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds)


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise CelError("division by zero")
    whole = abs(int(a)) // abs(int(b))
    return whole if (a < 0) == (b < 0) else -whole


def _remainder(a: int, b: int) -> int:
    if b == 0:
        raise CelError("modulus by zero")
    rest = abs(int(a)) % abs(int(b))
    return rest if a >= 0 else -rest


def _quotient(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or a != a:
        return float("nan")
    return float("inf") if a > 0 else float("-inf")


_ARITHMETIC: dict[tuple[str, type, type], Callable[[Any, Any], Any]] = {
    ("+", int, int): lambda a, b: _to_int64(a + b),
    ("-", int, int): lambda a, b: _to_int64(a - b),
    ("*", int, int): lambda a, b: _to_int64(a * b),
    ("/", int, int): lambda a, b: _to_int64(_divide(a, b)),
    ("%", int, int): _remainder,
    ("+", Uint, Uint): lambda a, b: _to_uint64(int(a) + int(b)),
    ("-", Uint, Uint): lambda a, b: _to_uint64(int(a) - int(b)),
    ("*", Uint, Uint): lambda a, b: _to_uint64(int(a) * int(b)),
    ("/", Uint, Uint): lambda a, b: _to_uint64(_divide(a, b)),
    ("%", Uint, Uint): lambda a, b: _to_uint64(_remainder(a, b)),
    ("+", float, float): lambda a, b: a + b,
    ("-", float, float): lambda a, b: a - b,
    ("*", float, float): lambda a, b: a * b,
    ("/", float, float): _quotient,
    ("+", Duration, Duration): lambda a, b: Duration(_to_int64(int(a) + int(b))),
    ("-", Duration, Duration): lambda a, b: Duration(_to_int64(int(a) - int(b))),
    ("+", Timestamp, Duration): lambda a, b: checked_timestamp(int(a) + int(b)),
    ("+", Duration, Timestamp): lambda a, b: checked_timestamp(int(a) + int(b)),
    ("-", Timestamp, Duration): lambda a, b: checked_timestamp(int(a) - int(b)),
    ("-", Timestamp, Timestamp): lambda a, b: Duration(_to_int64(int(a) - int(b))),
}


def operate(budget: StepBudget, mark: str, a: Any, b: Any) -> Any:
    """Return the result of an arithmetic operator."""
    kind = type(a)
    if mark == "+" and kind is type(b) and kind in (str, bytes, list):
        pay_for_size(budget, len(a) + len(b))
        return a + b
    operation = _ARITHMETIC.get((mark, kind, type(b)))
    if operation is None:
        raise no_overload()
    return operation(a, b)


def negate(value: Any) -> Any:
    """Return a number with the opposite sign."""
    if type(value) is int:
        return _to_int64(-value)
    if type(value) is float:
        return -value
    raise no_overload()


_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|μs|ns)").match
_UNITS = {
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ns": 1,
}
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def conversion_error(value: Any, to: str) -> CelError:
    """Return the error for a value that cannot be converted."""
    return CelError(f"type conversion error from '{type_name(value)}' to '{to}'")


def to_duration(text: str) -> Duration:
    """Parse a duration like Go's `time.ParseDuration`. Raises CelError."""
    body = text[1:] if text[:1] in ("-", "+") else text
    if len(body) > 100:
        raise conversion_error(text, "google.protobuf.Duration")

    total = 0
    offset = 0
    while offset < len(body):
        match = _DURATION(body, offset)
        if match is None:
            break
        whole, _, fraction = match.group(1).partition(".")
        unit = _UNITS[match.group(2)]
        total += int(whole or 0) * unit + (int(fraction or 0) * unit // 10 ** len(fraction))
        offset = match.end()

    if (body != "0" and (not body or offset < len(body))) or total >= 2**63:
        raise conversion_error(text, "google.protobuf.Duration")

    return Duration(-total if text[0] == "-" else total)


def to_timestamp(text: str) -> Timestamp:
    """Parse an RFC 3339 time. Raises CelError."""
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        day, clock, fraction, sign, hours, minutes = match.groups()
        moment = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        raise conversion_error(text, "google.protobuf.Timestamp") from None

    utc_offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    if sign == "-":
        utc_offset = -utc_offset
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - utc_offset

    return checked_timestamp(seconds * 10**9 + int((fraction or "0")[:9].ljust(9, "0")))


def to_datetime(value: Timestamp) -> datetime:
    """Convert a point in time to a datetime, dropping nanoseconds."""
    return _EPOCH + timedelta(microseconds=int(value) // 1000)


_INT = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_FLOAT = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE
)


def to_int(value: Any) -> int:
    """Convert to an integer."""
    kind = type(value)
    if kind in (int, Uint, Duration):
        return _to_int64(int(value))
    if kind is float:
        if not -(2.0**63) < value < 2.0**63:
            raise CelError("integer overflow")
        return int(value)
    if kind is str:
        if _INT.fullmatch(value) and -(2**63) <= int(value) < 2**63:
            return int(value)
        raise conversion_error(value, "int")
    if kind is Timestamp:
        return int(value) // 10**9

    raise no_overload()


def to_uint(value: Any) -> Uint:
    """Convert to an unsigned integer."""
    kind = type(value)
    if kind in (int, Uint):
        return _to_uint64(int(value))
    if kind is float:
        if not 0 <= value < 2.0**64:
            raise CelError("unsigned integer overflow")
        return Uint(int(value))
    if kind is str:
        if is_short_number(value, 21) and int(value) < 2**64:
            return Uint(int(value))
        raise conversion_error(value, "uint")

    raise no_overload()


def to_double(value: Any) -> float:
    """Convert to a float."""
    kind = type(value)
    if kind in (int, Uint, float):
        return float(value)
    if kind is str:
        if len(value) <= 400 and _FLOAT.fullmatch(value):
            return float(value)
        raise conversion_error(value, "double")
    raise no_overload()


def to_bool(value: Any) -> bool:
    """Convert to a boolean, accepting the texts of Go's `strconv.ParseBool`."""
    if type(value) is bool:
        return value
    if type(value) is str:
        parsed = parse_bool(value)
        if parsed is None:
            raise conversion_error(value, "bool")
        return parsed
    raise no_overload()


def to_string(value: Any) -> str:
    """Convert to text like cel-go."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, Uint):
        return str(int(value))
    if kind is float:
        return _format_float(value)

    if kind is bytes:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise conversion_error(value, "string") from None
    if kind is Duration:
        seconds, rest = divmod(abs(value), 10**9)
        sign = "-" if value < 0 else ""
        return f"{sign}{seconds}{_fraction(rest)}s"
    if kind is Timestamp:
        return f"{to_datetime(value):%Y-%m-%dT%H:%M:%S}{_fraction(value % 10**9)}Z"

    raise no_overload()


def _fraction(nanoseconds: int) -> str:
    return f".{nanoseconds:09}".rstrip("0.")


def _format_float(value: float) -> str:
    """Format a float like Go's `strconv.FormatFloat(value, 'g', -1, 64)`."""
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
