"""Command line flags as Go's `flag` package parses them, for the arguments of Volcano's plugins.

Volcano only logs a parse error: flags before it are set, the rest keep their defaults (Volcano
1.16).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.spelling import is_short_number

Value = str | int | bool

_MAX = 2**63 - 1
_MIN = -(2**63)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def parse(args: Sequence[str], flags: Mapping[str, Value]) -> tuple[dict[str, Value], str | None]:
    """Return the flags with their values, and why parsing stopped early, or None.

    `flags` gives every flag's default, whose type is the type of the flag. One dash and two dashes
    are equivalent.
    """
    values = dict(flags)
    pending = list(args)
    while pending:
        arg = pending.pop(0)
        if len(arg) < 2 or arg[0] != "-":
            return values, f"{arg!r} is not a flag: it and everything after it are ignored"
        if arg == "--":
            return values, "`--` ends the flags" if pending else None

        name, has_value, value = _split(arg)
        if name is None or name not in flags:
            return (
                values,
                f"unknown flag {arg!r}" if name is not None else f"bad flag syntax {arg!r}",
            )

        if not has_value and not isinstance(flags[name], bool):
            if not pending:
                return values, f"flag {arg!r} needs a value"
            value = pending.pop(0)
        elif not has_value:
            value = "true"

        values[name], ok = _convert(flags[name], value)
        if not ok:
            return values, f"{value!r} is not a value for flag --{name}"

    return values, None


def _split(arg: str) -> tuple[str | None, bool, str]:
    """Return the name, whether `=` and a value follow, and the value. The name is None if the
    syntax is bad.
    """
    body = arg[2:] if arg[1] == "-" else arg[1:]
    if not body or body[0] in "-=":
        return None, False, ""
    name, equals, value = body.partition("=")
    return name, bool(equals), value


def _convert(default: Value, value: str) -> tuple[Value, bool]:
    """Return the value of a flag as Go parses it, and whether it is valid."""
    if isinstance(default, bool):
        return value in _TRUE, value in _TRUE or value in _FALSE
    if isinstance(default, int):
        return parse_int(value)
    return value, True


def _without_sign(value: str) -> str:
    return value[1:] if value[:1] in ("+", "-") else value


def parse_int(value: str) -> tuple[int, bool]:
    """Return a number as `strconv.ParseInt(value, 0, 64)` parses it, and whether it could.

    The number is 0 on bad syntax and the nearest 64-bit number on overflow, which is what the flag
    then holds.
    """
    digits = _without_sign(value)
    if not digits.isascii() or digits[:1] in "+-_ " or digits != digits.strip():
        return 0, False

    old_octal = digits.startswith("0") and digits[1:2] in tuple("01234567_")
    try:
        number = int("0o" + digits[1:] if old_octal else digits, 0)
    except ValueError:
        return 0, False

    if value.startswith("-"):
        number = -number
    if not _MIN <= number <= _MAX:
        return (_MAX if number > 0 else _MIN), False

    return number, True


def atoi(value: str) -> int | None:
    """Return a number as `strconv.Atoi` parses it, or None: an optional sign and decimal digits
    that fit in 64 bits.
    """
    digits = _without_sign(value)
    if not is_short_number(digits, 401):
        return None
    number = int(value)
    return number if _MIN <= number <= _MAX else None


def parse_bool(value: str) -> bool | None:
    """Return a truth value as `strconv.ParseBool` parses it, or None."""
    if value in _TRUE:
        return True
    return False if value in _FALSE else None
