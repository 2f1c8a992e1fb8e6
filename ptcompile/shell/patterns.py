"""Patterns, tests and arithmetic of the shell over known values.

Source: POSIX 2024, 2.6.4 Arithmetic Expansion, 2.14 Pattern Matching, and `test`; bash 5.2.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from ptcompile._internal.spelling import is_short_number
from ptcompile.shell.values import FAILED, OK, UNKNOWN, ExitStatus, ShellValue, is_certain, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    Lookup = Callable[[str], str | None]

_MAX_MATCHED = 4096
_MAX_TOKENS = 64


def matches(text: str, pattern: str) -> bool:
    """Return whether a whole text matches a shell pattern."""
    return len(text) <= _MAX_MATCHED and fnmatchcase(text, pattern.replace("[^", "[!"))


def without_match(text: str, sign: str, pattern: str) -> str:
    """Return what `${X#pattern}`, `${X##pattern}`, `${X%pattern}` or `${X%%pattern}` leaves of a
    text.
    """
    lengths = range(len(text) + 1)
    for length in lengths if len(sign) == 1 else reversed(lengths):
        if sign[0] == "#" and matches(text[:length], pattern):
            return text[length:]
        if sign[0] == "%" and matches(text[len(text) - length :], pattern):
            return text[: len(text) - length]
    return text


def decide(words: Sequence[ShellValue], *, is_double: bool) -> ExitStatus:
    """Return the status of `[ words ]`, or of `[[ words ]]`: 0, 1, or unknown."""
    texts = [text_of(word) for word in words]
    for sign, settles in (("||" if is_double else "-o", OK), ("&&" if is_double else "-a", FAILED)):
        if sign in texts[1:-1]:
            index = texts.index(sign, 1)
            sides = {
                decide(side, is_double=is_double) for side in (words[:index], words[index + 1 :])
            }
            if settles in sides:
                return settles
            return sides.pop() if len(sides) == 1 else UNKNOWN

    match texts:
        case ["!", _, *_]:
            return decide(words[1:], is_double=is_double).negate()
        case ["(", *_, ")"]:
            return decide(words[1:-1], is_double=is_double)
        case [_, sign, "0"] if words[0] and words[0][0].status is not None:
            return words[0][0].status.compare(sign)

    is_true = _is_true(texts, is_double) if all(map(is_certain, words)) else None
    return UNKNOWN if is_true is None else ExitStatus(int(not is_true))


def _is_true(texts: Sequence[str], is_double: bool) -> bool | None:
    match texts:
        case [] | ["-n", ""] | [""]:
            return False
        case [_] | ["-n", _] | ["-z", ""]:
            return True
        case ["-z", _]:
            return False
        case [left, "=" | "==" | "!=" as sign, right]:
            return (matches(left, right) if is_double else left == right) == (sign != "!=")
        case [left, sign, right] if sign in _COMPARISONS:
            are_numbers = all(is_short_number(side.removeprefix("-"), 19) for side in (left, right))
            return are_numbers and _COMPARISONS[sign](int(left), int(right))

    return None


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}


def compute(text: str, lookup: Lookup) -> int | None:
    """Return the value of an arithmetic expression, or None if it is not known, or more than
    numbers, names, comparisons and `+ - * / %`.

    `lookup` returns the text of a variable, or None if it is not known.
    """
    text = text.replace("10#", "")
    tokens = _TOKENS.findall(text)
    if len(tokens) > _MAX_TOKENS or "".join(tokens) != "".join(text.split()):
        return None

    tokens.reverse()
    try:
        value = _value(tokens, lookup, 0)
    except (ArithmeticError, IndexError, ValueError):
        return None

    return None if tokens else value


_TOKENS = re.compile(r"(?a)\d{1,18}|[A-Za-z_]\w*|[<>=!]=|[-+*/%()<>]")


def _value(tokens: list[str], lookup: Lookup, least: int) -> int:
    """Take operators that bind tighter than `least` from the end of the tokens, with their
    operands.
    """
    left = _operand(tokens, lookup)
    while tokens and (binding := _BINDING.get(tokens[-1], 0)) > least:
        sign = tokens.pop()
        left = int(_RESULTS[sign](left, _value(tokens, lookup, binding)))
    return left


def _operand(tokens: list[str], lookup: Lookup) -> int:
    word = tokens.pop()
    if word in "-":
        return -_operand(tokens, lookup)
    if word in "(":
        value = _value(tokens, lookup, 0)
        if tokens.pop() != ")":
            raise ValueError
        return value

    if not word.isidentifier():
        return int(word)

    text = lookup(word)
    if text is None:
        raise ValueError
    return int(text or "0")


def _quotient(left: int, right: int) -> int:
    """Divide as C does: towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_RESULTS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
}
_BINDING = dict.fromkeys(_RESULTS, 1) | {"+": 2, "-": 2, "*": 3, "/": 3, "%": 3}
