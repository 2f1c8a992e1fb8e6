"""The functions of CEL: the standard ones, and cel-go's extensions for strings, optionals, sets and math.

Tables from a function's name to its overloads, by the types of the arguments or by their number. Each overload takes
the budget first.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import pairwise

from ptcompile.apiserver.cel import kubernetes, values
from ptcompile.apiserver.cel.syntax import Uint
from ptcompile.apiserver.cel.values import (
    ABSENT,
    LARGEST,
    CelError,
    CostError,
    Duration,
    Optional,
    Timestamp,
    Type,
    equal,
    make,
    no_overload,
    spend,
    to_string,
)
from ptcompile.apiserver.goregex import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.cel.values import StepBudget

    Overloads = dict[tuple[type, ...] | int, Callable[..., Any]]


class UncheckedError(Exception):
    """Raised where an expression needs a pattern that cannot be matched here."""


def _read(budget: StepBudget, *texts: str) -> None:
    """Pay for reading texts."""
    spend(budget, sum(map(len, texts)) // 10)


def _matcher(budget: StepBudget, text: str, pattern: str) -> Callable[[str], Any]:
    spend(budget, (len(text) // 10 + 1) * (len(pattern) // 4 + 1))
    match = search(pattern)
    if match is None:
        raise UncheckedError(f"the pattern {pattern[:60]!r} cannot be matched here")
    return match


def matches(budget: StepBudget, text: str, pattern: str) -> bool:
    """Return whether a pattern of Go's syntax matches somewhere in a text."""
    return _matcher(budget, text, pattern)(text) is not None


def _find(budget: StepBudget, text: str, pattern: str) -> str:
    found = _matcher(budget, text, pattern)(text)
    return "" if found is None else str(found.group())


def _find_all(budget: StepBudget, text: str, pattern: str, most: int = -1) -> list[str]:
    match = _matcher(budget, text, pattern)
    out: list[str] = []
    while text and most != len(out):
        spend(budget, len(text) // 10 + 1)
        found = match(text)
        if found is None:
            break
        out.append(found.group())
        text = text[max(found.end(), 1) :]
    return out


# strings


def _starts(budget: StepBudget, text: str, part: str) -> bool:
    _read(budget, part)
    return text.startswith(part)


def _ends(budget: StepBudget, text: str, part: str) -> bool:
    _read(budget, part)
    return text.endswith(part)


def _within(budget: StepBudget, text: str, part: str) -> bool:
    _read(budget, text, part)
    return part in text


def _index_of(budget: StepBudget, text: str, part: str, start: int = 0) -> int:
    _read(budget, text, part)
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return text.find(part, start) if start < len(text) or not part else -1


def _last_index_of(budget: StepBudget, text: str, part: str, last: int | None = None) -> int:
    _read(budget, text, part)
    if last is None:
        return text.rfind(part)
    if last < 0:
        raise CelError(f"index out of range: {last}")
    return text.rfind(part, 0, last + len(part)) if last < len(text) else -1


def _split(budget: StepBudget, text: str, mark: str, most: int = -1) -> list[str]:
    _read(budget, text, mark)
    if most == 0:
        return []
    if mark:
        parts = text.split(mark, most - 1 if most > 0 else -1)
    elif most < 0 or most >= len(text):
        parts = list(text)
    else:
        parts = [*text[: most - 1], text[most - 1 :]]
    make(budget, len(parts))
    return parts


def _join(budget: StepBudget, items: list[Any], mark: str = "") -> str:
    if any(type(one) is not str for one in items):
        raise no_overload()
    make(budget, sum(map(len, items)) + len(mark) * len(items))
    return mark.join(items)


def _replace(budget: StepBudget, text: str, old: str, new: str, most: int = -1) -> str:
    _read(budget, text)
    count = text.count(old) if most < 0 else min(most, text.count(old))
    make(budget, len(text) + max(0, len(new) - len(old)) * count)
    return text.replace(old, new, count)


def _substring(budget: StepBudget, text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    for at in (start, end):
        if not 0 <= at <= len(text):
            raise CelError(f"index out of range: {at}")
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    make(budget, end - start)
    return text[start:end]


def _char_at(_budget: StepBudget, text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise CelError(f"index out of range: {at}")
    return text[at : at + 1]


def _made(function: Callable[[str], str]) -> Callable[[StepBudget, str], str]:
    """Return an overload for a function whose result is about as long as its argument."""

    def run(budget: StepBudget, text: str) -> str:
        make(budget, len(text))
        return function(text)

    return run


_LOWER: Final = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})
_UPPER: Final = str.maketrans({chr(code + 32): chr(code) for code in range(65, 91)})
_QUOTED: Final = str.maketrans(
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
_DIGITS: Final = 1000
"""The most digits after the point that `format` writes."""


def _format(budget: StepBudget, text: str, arguments: list[Any]) -> str:
    """`%s %d %f %e %b %o %x %X %%` of cel-go's string extension."""
    out: list[str] = []
    at, used = 0, 0
    while at < len(text):
        mark = text.find("%", at)
        if mark < 0:
            out.append(text[at:])
            break
        out.append(text[at:mark])
        end = mark + 1
        while end < len(text) and (text[end].isdigit() or text[end] == "."):
            end += 1
        clause, verb, at = text[mark + 1 : end], text[end : end + 1], end + 1
        if verb == "%" and not clause:
            out.append("%")
            continue
        if used >= len(arguments):
            raise CelError(f"index {used} out of range")
        out.append(_formatted(budget, clause, verb, arguments[used]))
        used += 1
    make(budget, sum(map(len, out)))
    return "".join(out)


def _formatted(budget: StepBudget, clause: str, verb: str, value: Any) -> str:
    kind = type(value)
    if verb == "s" and not clause:
        return _shown(budget, value)
    if verb == "d" and not clause and kind in (int, Uint):
        return str(int(value))
    if verb in ("f", "e") and kind in (float, int, Uint):
        digits = clause[1:] or "6"
        if (clause and clause[0] != ".") or not digits.isdigit() or len(digits) > 4 or int(digits) > _DIGITS:
            raise CelError(f"could not parse formatting clause: {clause[:20]}")
        return f"{float(value):.{digits}{verb}}"
    if verb and verb in "boxX" and not clause and kind in (int, Uint, bool):
        return f"{int(value):{verb}}"
    if verb and verb in "xX" and not clause and kind in (str, bytes):
        _read(budget, value)
        content = value.encode() if kind is str else value
        return str(content.hex().upper() if verb == "X" else content.hex())
    raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _shown(budget: StepBudget, value: Any) -> str:
    spend(budget, 1)
    if type(value) is list:
        return "[" + ", ".join(_shown(budget, one) for one in value) + "]"
    if type(value) is dict:
        pairs = sorted((_shown(budget, key), _shown(budget, one)) for key, one in value.items())
        return "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    if value is None:
        return "null"
    if type(value) is Type:
        return value.name
    text = to_string(value)
    make(budget, len(text))
    return text


# lists, sizes, conversions, times


def _size(_budget: StepBudget, value: Any) -> int:
    return len(value)


def _reversed(budget: StepBudget, value: Any) -> Any:
    make(budget, len(value))
    return value[::-1]


def _contained(budget: StepBudget, one: list[Any], other: list[Any]) -> bool:
    return all(values.contains(budget, item, one) for item in other)


def _greatest(sign: int) -> Callable[..., Any]:
    def run(budget: StepBudget, *arguments: Any) -> Any:
        items = arguments[0] if len(arguments) == 1 and type(arguments[0]) is list else arguments
        if not items:
            raise no_overload()
        best = items[0]
        for one in items:
            spend(budget, 1)
            if values.ordered(budget, one, best) == sign:
                best = one
        return best

    return run


def _to_bytes(budget: StepBudget, text: str) -> bytes:
    make(budget, len(text))
    return text.encode("utf-8", "surrogatepass")


def _to_text(budget: StepBudget, value: Any) -> str:
    if type(value) is bytes:
        make(budget, len(value))
    return to_string(value)


def _local(value: Timestamp, zone: str | None) -> datetime:
    when = values.moment(value)
    if not zone:
        return when
    try:
        if zone[-3:-2] == ":":
            sign, hours, minutes = zone[:1], zone.lstrip("+-")[:-3], zone[-2:]
            away = timedelta(hours=int(hours), minutes=int(minutes))
            return when.astimezone(timezone(-away if sign == "-" else away))
        from zoneinfo import ZoneInfo

        return when.astimezone(ZoneInfo(zone[:64]))
    except (ValueError, OSError, KeyError, OverflowError):
        raise CelError(f"unknown time zone {zone[:64]}") from None


def _part(read: Callable[[datetime], int], nanoseconds: int = 0) -> Overloads:
    """Return the overloads of an accessor of times, and of durations if it has a unit."""
    out: Overloads = {
        (Timestamp,): lambda _budget, value: read(_local(value, None)),
        (Timestamp, str): lambda _budget, value, zone: read(_local(value, zone)),
    }
    if nanoseconds:
        out[(Duration,)] = lambda _budget, value: (abs(value) // nanoseconds) * (-1 if value < 0 else 1)
    return out


def _milliseconds(_budget: StepBudget, value: Duration) -> int:
    return abs(value) % 10**9 // 10**6 * (-1 if value < 0 else 1)


def _optional_value(_budget: StepBudget, value: Optional) -> Any:
    if not value.present:
        raise CelError("optional.none() dereference")
    return value.value


def _unless_zero(_budget: StepBudget, value: Any) -> Optional:
    return Optional(True, value) if value or type(value) is Timestamp else ABSENT


def _first(_budget: StepBudget, items: list[Any]) -> Optional:
    return Optional(True, items[0]) if items else ABSENT


def _last(_budget: StepBudget, items: list[Any]) -> Optional:
    return Optional(True, items[-1]) if items else ABSENT


_SIZED: Final[Overloads] = {(kind,): _size for kind in (str, bytes, list, dict)}


def _convert(function: Callable[[Any], Any]) -> Overloads:
    return {1: lambda _budget, value: function(value)}


GLOBALS: Final[dict[str, Overloads]] = {
    "size": _SIZED,
    "int": _convert(values.to_int),
    "uint": _convert(values.to_uint),
    "double": _convert(values.to_double),
    "bool": _convert(values.to_bool),
    "string": {1: _to_text, **kubernetes.STRINGS},
    "bytes": {(str,): _to_bytes, (bytes,): lambda _budget, value: value},
    "duration": {
        (str,): lambda _budget, text: values.to_duration(text),
        (Duration,): lambda _budget, value: value,
        (int,): lambda _budget, value: Duration(value),
    },
    "timestamp": {
        (str,): lambda _budget, text: values.to_timestamp(text),
        (Timestamp,): lambda _budget, value: value,
        (int,): lambda _budget, value: values.timestamp(value * 10**9),
    },
    "type": {1: lambda _budget, value: Type(values.type_name(value))},
    "dyn": {1: lambda _budget, value: value},
    "matches": {(str, str): matches},
    "optional.of": {1: lambda _budget, value: Optional(True, value)},
    "optional.none": {0: lambda _budget: ABSENT},
    "optional.ofNonZeroValue": {1: _unless_zero},
    "sets.contains": {(list, list): _contained},
    "sets.intersects": {
        (list, list): lambda budget, one, other: any(values.contains(budget, item, one) for item in other)
    },
    "sets.equivalent": {
        (list, list): lambda budget, one, other: _contained(budget, one, other) and _contained(budget, other, one)
    },
    "math.greatest": {count: _greatest(1) for count in range(1, 20)},
    "math.least": {count: _greatest(-1) for count in range(1, 20)},
    "strings.quote": {(str,): _made(lambda text: '"' + text.translate(_QUOTED) + '"')},
    **kubernetes.GLOBALS,
}
MEMBERS: Final[dict[str, Overloads]] = {
    "size": _SIZED,
    "startsWith": {(str, str): _starts},
    "endsWith": {(str, str): _ends},
    "contains": {(str, str): _within},
    "matches": {(str, str): matches},
    "find": {(str, str): _find},
    "findAll": {(str, str): _find_all, (str, str, int): _find_all},
    "indexOf": {(str, str): _index_of, (str, str, int): _index_of},
    "lastIndexOf": {(str, str): _last_index_of, (str, str, int): _last_index_of},
    "split": {(str, str): _split, (str, str, int): _split},
    "join": {(list,): _join, (list, str): _join},
    "replace": {(str, str, str): _replace, (str, str, str, int): _replace},
    "substring": {(str, int): _substring, (str, int, int): _substring},
    "charAt": {(str, int): _char_at},
    "lowerAscii": {(str,): _made(lambda text: text.translate(_LOWER))},
    "upperAscii": {(str,): _made(lambda text: text.translate(_UPPER))},
    "trim": {(str,): _made(str.strip)},
    "reverse": {(str,): _reversed, (list,): _reversed},
    "format": {(str, list): _format},
    "getFullYear": _part(lambda when: when.year),
    "getMonth": _part(lambda when: when.month - 1),
    "getDate": _part(lambda when: when.day),
    "getDayOfMonth": _part(lambda when: when.day - 1),
    "getDayOfWeek": _part(lambda when: when.isoweekday() % 7),
    "getDayOfYear": _part(lambda when: when.timetuple().tm_yday - 1),
    "getHours": _part(lambda when: when.hour, 3600 * 10**9),
    "getMinutes": _part(lambda when: when.minute, 60 * 10**9),
    "getSeconds": _part(lambda when: when.second, 10**9),
    "getMilliseconds": {**_part(lambda when: when.microsecond // 1000), (Duration,): _milliseconds},
    "hasValue": {(Optional,): lambda _budget, value: value.present},
    "value": {(Optional,): _optional_value},
    "or": {(Optional, Optional): lambda _budget, value, other: value if value.present else other},
    "orValue": {2: lambda _budget, value, other: _or_value(value, other)},
    "first": {(list,): _first},
    "last": {(list,): _last},
    **{name: dict(table) for name, table in kubernetes.MEMBERS.items()},
}


def _or_value(value: Any, other: Any) -> Any:
    if type(value) is not Optional:
        raise no_overload()
    return value.value if value.present else other


def _sum(budget: StepBudget, items: list[Any]) -> Any:
    if not items:
        return 0
    total = items[0]
    if type(total) not in (int, float, Uint, Duration):
        raise no_overload()
    for one in items[1:]:
        spend(budget, 1)
        total = values.operate(budget, "+", total, one)
    return total


def _extreme(sign: int, name: str) -> Callable[[StepBudget, list[Any]], Any]:
    best = _greatest(sign)

    def run(budget: StepBudget, items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        return best(budget, items)

    return run


def _is_sorted(budget: StepBudget, items: list[Any]) -> bool:
    for one, other in pairwise(items):
        spend(budget, 1)
        if values.ordered(budget, one, other) > 0:
            return False
    return True


def _item_at(budget: StepBudget, items: list[Any], wanted: Any) -> int:
    spend(budget, len(items))
    return next((at for at, one in enumerate(items) if equal(budget, one, wanted)), -1)


def _last_item_at(budget: StepBudget, items: list[Any], wanted: Any) -> int:
    spend(budget, len(items))
    return next((at for at in range(len(items) - 1, -1, -1) if equal(budget, items[at], wanted)), -1)


def _sorted(budget: StepBudget, items: list[Any]) -> list[Any]:
    from functools import cmp_to_key

    make(budget, len(items))

    def order(one: Any, other: Any) -> int:
        spend(budget, 1)
        return values.ordered(budget, one, other)

    return sorted(items, key=cmp_to_key(order))


def _distinct(budget: StepBudget, items: list[Any]) -> list[Any]:
    out: list[Any] = []
    for one in items:
        if not values.contains(budget, one, out):
            out.append(one)
    return out


def _slice(budget: StepBudget, items: list[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    make(budget, end - start)
    return items[start:end]


def _flat(budget: StepBudget, items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    out: list[Any] = []
    for one in items:
        part = _flat(budget, one, depth - 1) if type(one) is list and depth else [one]
        if len(out) + len(part) > LARGEST:
            raise CostError(f"it makes a value of more than {LARGEST:,} characters or items")
        spend(budget, len(part))
        out += part
    return out


MEMBERS["sum"] = {(list,): _sum}
MEMBERS["min"] = {(list,): _extreme(-1, "min")}
MEMBERS["max"] = {(list,): _extreme(1, "max")}
MEMBERS["isSorted"] = {(list,): _is_sorted}
MEMBERS["indexOf"][2] = lambda budget, items, wanted: _item_at(budget, _a_list(items), wanted)
MEMBERS["lastIndexOf"][2] = lambda budget, items, wanted: _last_item_at(budget, _a_list(items), wanted)
MEMBERS["sort"] = {(list,): _sorted}
MEMBERS["distinct"] = {(list,): _distinct}
MEMBERS["slice"] = {(list, int, int): _slice}
MEMBERS["flatten"] = {(list,): _flat, (list, int): _flat}


def _a_list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise no_overload()
    return value
