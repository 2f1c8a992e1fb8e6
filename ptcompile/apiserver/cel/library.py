"""Functions of CEL: the standard ones, and cel-go's extensions for strings, optionals, sets and
math.

The tables map a function name to its overloads, keyed by argument types or argument count. The
budget is the first argument of each overload.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import cmp_to_key, partial
from itertools import pairwise

from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.cel import kubernetes, values
from ptcompile.apiserver.cel.syntax import Uint
from ptcompile.apiserver.cel.values import (
    ABSENT,
    SIZE_MAX,
    CelError,
    CostError,
    Duration,
    Optional,
    Timestamp,
    Type,
    are_equal,
    no_overload,
    pay_for_size,
    spend,
    to_string,
)
from ptcompile.apiserver.goregex import compile_search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.cel.kubernetes import Overloads
    from ptcompile.apiserver.cel.values import StepBudget


class UncheckedError(Exception):
    """Raised when an expression cannot be checked, for example because a pattern is not
    supported.
    """


def _pay_for_reading(budget: StepBudget, *texts: str) -> None:
    """Pay for reading texts."""
    spend(budget, sum(map(len, texts)) // 10)


def _matcher(budget: StepBudget, text: str, pattern: str) -> Callable[[str], Any]:
    """Return the search for a pattern, and pay for its use on a text."""
    spend(budget, (len(text) // 10 + 1) * (len(pattern) // 4 + 1))
    match = compile_search(pattern)
    if match is None:
        raise UncheckedError(f"the pattern {pattern[:60]!r} is not supported")
    return match


def matches(budget: StepBudget, text: str, pattern: str) -> bool:
    """Return whether a pattern in Go's syntax matches anywhere in a text."""
    return _matcher(budget, text, pattern)(text) is not None


def _find(budget: StepBudget, text: str, pattern: str) -> str:
    result = _matcher(budget, text, pattern)(text)
    return "" if result is None else str(result.group())


def _find_all(budget: StepBudget, text: str, pattern: str, limit: int = -1) -> list[str]:
    match = _matcher(budget, text, pattern)
    out: list[str] = []
    while text and limit != len(out):
        spend(budget, len(text) // 10 + 1)
        result = match(text)
        if result is None:
            break
        out.append(result.group())
        text = text[max(result.end(), 1) :]

    return out


def _starts_with(budget: StepBudget, text: str, part: str) -> bool:
    _pay_for_reading(budget, part)
    return text.startswith(part)


def _ends_with(budget: StepBudget, text: str, part: str) -> bool:
    _pay_for_reading(budget, part)
    return text.endswith(part)


def _contains(budget: StepBudget, text: str, part: str) -> bool:
    _pay_for_reading(budget, text, part)
    return part in text


def _index_of(budget: StepBudget, text: str, part: str, start: int = 0) -> int:
    _pay_for_reading(budget, text, part)
    if start < 0:
        raise CelError(f"index out of range: {start}")
    if start < len(text) or not part:
        return text.find(part, start)
    return -1


def _last_index_of(budget: StepBudget, text: str, part: str, last: int | None = None) -> int:
    _pay_for_reading(budget, text, part)
    if last is None:
        return text.rfind(part)
    if last < 0:
        raise CelError(f"index out of range: {last}")
    if last < len(text):
        return text.rfind(part, 0, last + len(part))
    return -1


def _split(budget: StepBudget, text: str, mark: str, limit: int = -1) -> list[str]:
    _pay_for_reading(budget, text, mark)
    if limit == 0:
        return []

    if mark:
        parts = text.split(mark, limit - 1 if limit > 0 else -1)
    elif limit < 0 or limit >= len(text):
        parts = list(text)
    else:
        parts = [*text[: limit - 1], text[limit - 1 :]]

    pay_for_size(budget, len(parts))
    return parts


def _join(budget: StepBudget, items: list[Any], mark: str = "") -> str:
    if any(type(item) is not str for item in items):
        raise no_overload()
    pay_for_size(budget, sum(map(len, items)) + len(mark) * len(items))
    return mark.join(items)


def _replace(budget: StepBudget, text: str, old: str, new: str, limit: int = -1) -> str:
    _pay_for_reading(budget, text)
    count = text.count(old) if limit < 0 else min(limit, text.count(old))
    pay_for_size(budget, len(text) + max(0, len(new) - len(old)) * count)
    return text.replace(old, new, count)


def _substring(budget: StepBudget, text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
    for position in (start, end):
        if not 0 <= position <= len(text):
            raise CelError(f"index out of range: {position}")
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    pay_for_size(budget, end - start)
    return text[start:end]


def _char_at(_budget: StepBudget, text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise CelError(f"index out of range: {position}")
    return text[position : position + 1]


def _text_overload(function: Callable[[str], str]) -> Callable[[StepBudget, str], str]:
    """Return an overload of a function whose result is about as long as its argument."""

    def run(budget: StepBudget, text: str) -> str:
        pay_for_size(budget, len(text))
        return function(text)

    return run


_TO_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})
_TO_UPPER = str.maketrans({chr(code + 32): chr(code) for code in range(65, 91)})
_QUOTE_ESCAPES = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)
_FORMAT_DIGITS_MAX = 1000
"""Maximum number of digits after the decimal point that `format` writes."""


def _format(budget: StepBudget, text: str, arguments: list[Any]) -> str:
    """Format a text with the verbs `%s %d %f %e %b %o %x %X %%` of cel-go's string extension."""
    pieces: list[str] = []
    offset = 0
    used = 0
    while offset < len(text):
        mark = text.find("%", offset)
        if mark < 0:
            pieces.append(text[offset:])
            break

        pieces.append(text[offset:mark])
        end = mark + 1
        while end < len(text) and text[end] in "0123456789.":
            end += 1
        clause = text[mark + 1 : end]
        verb = text[end : end + 1]
        offset = end + 1
        if verb == "%" and not clause:
            pieces.append("%")
            continue
        if used >= len(arguments):
            raise CelError(f"index {used} out of range")

        pieces.append(_format_clause(budget, clause, verb, arguments[used]))
        used += 1

    pay_for_size(budget, sum(map(len, pieces)))
    return "".join(pieces)


def _format_clause(budget: StepBudget, clause: str, verb: str, value: Any) -> str:
    """Return a value as `string.format` writes it for one clause, such as `.2` with the verb
    `f`.
    """
    kind = type(value)
    if verb == "s" and not clause:
        return _format_as_text(budget, value)
    if verb == "d" and not clause and kind in (int, Uint):
        return str(int(value))
    if verb in ("f", "e") and kind in (float, int, Uint):
        digits = clause[1:] or "6"
        is_precision = clause[:1] in ("", ".") and is_short_number(digits, 5)
        if not is_precision or int(digits) > _FORMAT_DIGITS_MAX:
            raise CelError(f"could not parse formatting clause: {clause[:20]}")
        return f"{float(value):.{digits}{verb}}"
    if verb and verb in "boxX" and not clause and kind in (int, Uint, bool):
        return f"{int(value):{verb}}"
    if verb and verb in "xX" and not clause and kind in (str, bytes):
        _pay_for_reading(budget, value)
        content = value.encode() if kind is str else value
        return str(content.hex().upper() if verb == "X" else content.hex())

    raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _format_as_text(budget: StepBudget, value: Any) -> str:
    spend(budget, 1)
    if type(value) is list:
        return "[" + ", ".join(_format_as_text(budget, item) for item in value) + "]"
    if type(value) is dict:
        pairs = sorted(
            (_format_as_text(budget, key), _format_as_text(budget, item))
            for key, item in value.items()
        )
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if value is None:
        return "null"
    if type(value) is Type:
        return value.name

    text = to_string(value)
    pay_for_size(budget, len(text))

    return text


def _size(_budget: StepBudget, value: Any) -> int:
    return len(value)


def _reverse(budget: StepBudget, value: Any) -> Any:
    pay_for_size(budget, len(value))
    return value[::-1]


def _contains_all(budget: StepBudget, container: list[Any], elements: list[Any]) -> bool:
    return all(values.contains(budget, item, container) for item in elements)


def _extremum(sign: int) -> Callable[..., Any]:
    """Return the function for the least item (`sign` -1) or the greatest (1) of a list or the
    arguments.
    """

    def run(budget: StepBudget, *arguments: Any) -> Any:
        items = arguments[0] if len(arguments) == 1 and type(arguments[0]) is list else arguments
        if not items:
            raise no_overload()
        best = items[0]
        for item in items:
            spend(budget, 1)
            if values.compare(budget, item, best) == sign:
                best = item
        return best

    return run


def _to_bytes(budget: StepBudget, text: str) -> bytes:
    pay_for_size(budget, len(text))
    return text.encode("utf-8", "surrogatepass")


def _to_text(budget: StepBudget, value: Any) -> str:
    if type(value) is bytes:
        pay_for_size(budget, len(value))
    return to_string(value)


def _local_time(value: Timestamp, zone: str | None) -> datetime:
    moment = values.to_datetime(value)
    if not zone:
        return moment

    try:
        if zone[-3:-2] == ":":
            sign = zone[:1]
            hours = zone.lstrip("+-")[:-3]
            minutes = zone[-2:]
            utc_offset = timedelta(hours=int(hours), minutes=int(minutes))
            return moment.astimezone(timezone(-utc_offset if sign == "-" else utc_offset))
        from zoneinfo import ZoneInfo

        return moment.astimezone(ZoneInfo(zone[:64]))
    except (ValueError, OSError, KeyError, OverflowError):
        raise CelError(f"unknown time zone {zone[:64]}") from None


def _time_accessor(read: Callable[[datetime], int], nanoseconds: int = 0) -> Overloads:
    """Return the overloads of an accessor of times and, with `nanoseconds`, of durations."""
    out: Overloads = {
        (Timestamp,): lambda _budget, value: read(_local_time(value, None)),
        (Timestamp, str): lambda _budget, value, zone: read(_local_time(value, zone)),
    }
    if nanoseconds:
        out[(Duration,)] = lambda _budget, value: (
            (abs(value) // nanoseconds) * (-1 if value < 0 else 1)
        )
    return out


def _optional_value(_budget: StepBudget, value: Optional) -> Any:
    if not value.present:
        raise CelError("optional.none() dereference")
    return value.value


def _of_non_zero_value(_budget: StepBudget, value: Any) -> Optional:
    if value or type(value) is Timestamp:
        return Optional(True, value)
    return ABSENT


def _or_value(_budget: StepBudget, value: Any, default: Any) -> Any:
    if type(value) is not Optional:
        raise no_overload()
    return value.value if value.present else default


def _sum(budget: StepBudget, items: list[Any]) -> Any:
    if not items:
        return 0
    total = items[0]
    if type(total) not in (int, float, Uint, Duration):
        raise no_overload()
    for item in items[1:]:
        spend(budget, 1)
        total = values.operate(budget, "+", total, item)
    return total


def _list_extremum(sign: int, name: str) -> Callable[[StepBudget, list[Any]], Any]:
    best = _extremum(sign)

    def run(budget: StepBudget, items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        return best(budget, items)

    return run


def _is_sorted(budget: StepBudget, items: list[Any]) -> bool:
    for previous, following in pairwise(items):
        spend(budget, 1)
        if values.compare(budget, previous, following) > 0:
            return False
    return True


def _index_of_item(
    budget: StepBudget, items: Any, searched: Any, *, backwards: bool = False
) -> int:
    if type(items) is not list:
        raise no_overload()
    spend(budget, len(items))
    indexes = range(len(items))
    for index in reversed(indexes) if backwards else indexes:
        if are_equal(budget, items[index], searched):
            return index
    return -1


def _sort(budget: StepBudget, items: list[Any]) -> list[Any]:
    pay_for_size(budget, len(items))

    def order(a: Any, b: Any) -> int:
        spend(budget, 1)
        return values.compare(budget, a, b)

    return sorted(items, key=cmp_to_key(order))


def _without_duplicates(budget: StepBudget, items: list[Any]) -> list[Any]:
    out: list[Any] = []
    for item in items:
        if not values.contains(budget, item, out):
            out.append(item)
    return out


def _slice(budget: StepBudget, items: list[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    pay_for_size(budget, end - start)
    return items[start:end]


def _flatten(budget: StepBudget, items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")

    out: list[Any] = []
    for item in items:
        part = _flatten(budget, item, depth - 1) if type(item) is list and depth else [item]
        if len(out) + len(part) > SIZE_MAX:
            raise CostError(f"it produces a value of more than {SIZE_MAX:,} characters or items")
        spend(budget, len(part))
        out += part

    return out


_SIZE_OVERLOADS: Overloads = {(kind,): _size for kind in (str, bytes, list, dict)}


def _conversion(function: Callable[[Any], Any]) -> Overloads:
    return {1: lambda _budget, value: function(value)}


GLOBALS: dict[str, Overloads] = {
    "size": _SIZE_OVERLOADS,
    "int": _conversion(values.to_int),
    "uint": _conversion(values.to_uint),
    "double": _conversion(values.to_double),
    "bool": _conversion(values.to_bool),
    "string": {1: _to_text, **kubernetes.STRING_OVERLOADS},
    "bytes": {(str,): _to_bytes, (bytes,): lambda _budget, value: value},
    "duration": {
        (str,): lambda _budget, text: values.to_duration(text),
        (Duration,): lambda _budget, value: value,
        (int,): lambda _budget, value: Duration(value),
    },
    "timestamp": {
        (str,): lambda _budget, text: values.to_timestamp(text),
        (Timestamp,): lambda _budget, value: value,
        (int,): lambda _budget, value: values.checked_timestamp(value * 10**9),
    },
    "type": {1: lambda _budget, value: Type(values.type_name(value))},
    "dyn": {1: lambda _budget, value: value},
    "matches": {(str, str): matches},
    "optional.of": {1: lambda _budget, value: Optional(True, value)},
    "optional.none": {0: lambda _budget: ABSENT},
    "optional.ofNonZeroValue": {1: _of_non_zero_value},
    "sets.contains": {(list, list): _contains_all},
    "sets.intersects": {
        (list, list): lambda budget, a, b: any(values.contains(budget, item, a) for item in b)
    },
    "sets.equivalent": {
        (list, list): lambda budget, a, b: (
            _contains_all(budget, a, b) and _contains_all(budget, b, a)
        )
    },
    "math.greatest": {count: _extremum(1) for count in range(1, 20)},
    "math.least": {count: _extremum(-1) for count in range(1, 20)},
    "strings.quote": {
        (str,): _text_overload(lambda text: '"' + text.translate(_QUOTE_ESCAPES) + '"')
    },
    **kubernetes.GLOBALS,
}
MEMBERS: dict[str, Overloads] = {
    "size": _SIZE_OVERLOADS,
    "startsWith": {(str, str): _starts_with},
    "endsWith": {(str, str): _ends_with},
    "contains": {(str, str): _contains},
    "matches": {(str, str): matches},
    "find": {(str, str): _find},
    "findAll": {(str, str): _find_all, (str, str, int): _find_all},
    "indexOf": {(str, str): _index_of, (str, str, int): _index_of, 2: _index_of_item},
    "lastIndexOf": {
        (str, str): _last_index_of,
        (str, str, int): _last_index_of,
        2: partial(_index_of_item, backwards=True),
    },
    "split": {(str, str): _split, (str, str, int): _split},
    "join": {(list,): _join, (list, str): _join},
    "replace": {(str, str, str): _replace, (str, str, str, int): _replace},
    "substring": {(str, int): _substring, (str, int, int): _substring},
    "charAt": {(str, int): _char_at},
    "lowerAscii": {(str,): _text_overload(lambda text: text.translate(_TO_LOWER))},
    "upperAscii": {(str,): _text_overload(lambda text: text.translate(_TO_UPPER))},
    "trim": {(str,): _text_overload(str.strip)},
    "reverse": {(str,): _reverse, (list,): _reverse},
    "format": {(str, list): _format},
    "getFullYear": _time_accessor(lambda when: when.year),
    "getMonth": _time_accessor(lambda when: when.month - 1),
    "getDate": _time_accessor(lambda when: when.day),
    "getDayOfMonth": _time_accessor(lambda when: when.day - 1),
    "getDayOfWeek": _time_accessor(lambda when: when.isoweekday() % 7),
    "getDayOfYear": _time_accessor(lambda when: when.timetuple().tm_yday - 1),
    "getHours": _time_accessor(lambda when: when.hour, 3600 * 10**9),
    "getMinutes": _time_accessor(lambda when: when.minute, 60 * 10**9),
    "getSeconds": _time_accessor(lambda when: when.second, 10**9),
    "getMilliseconds": {
        **_time_accessor(lambda when: when.microsecond // 1000),
        (Duration,): lambda _budget, value: abs(value) % 10**9 // 10**6 * (-1 if value < 0 else 1),
    },
    "hasValue": {(Optional,): lambda _budget, value: value.present},
    "value": {(Optional,): _optional_value},
    "or": {
        (Optional, Optional): lambda _budget, value, default: value if value.present else default
    },
    "orValue": {2: _or_value},
    "first": {(list,): lambda _budget, items: Optional(True, items[0]) if items else ABSENT},
    "last": {(list,): lambda _budget, items: Optional(True, items[-1]) if items else ABSENT},
    "sum": {(list,): _sum},
    "min": {(list,): _list_extremum(-1, "min")},
    "max": {(list,): _list_extremum(1, "max")},
    "isSorted": {(list,): _is_sorted},
    "sort": {(list,): _sort},
    "distinct": {(list,): _without_duplicates},
    "slice": {(list, int, int): _slice},
    "flatten": {(list,): _flatten, (list, int): _flatten},
    **kubernetes.MEMBERS,
}
