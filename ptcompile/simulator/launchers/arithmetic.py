"""The shell's `$((...))` over whole numbers, such as `$((NNODES * 8))` and `$((10#$JOB_COMPLETION_INDEX))`.

Source: POSIX 2024, 2.6.4 Arithmetic Expansion; bash 5, for the base in `10#8`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.goflags import atoi

_tokens = Pattern(r"(?a)\s*(?:10#)?(\d{1,18}|\$\{?[A-Za-z_]\w{0,255}\}?|[A-Za-z_]\w{0,255}|[-+*/%()])").match
_SIGNS = frozenset("-+*/%()")
_MAX_TOKENS = 64
_MAX_VALUE = 1 << 62


def evaluate(expression: str, env: Mapping[str, str]) -> int | None:
    """Return the value of an expression, or None if it uses unknown variables or other operators."""
    tokens: list[str | int] = []
    index = 0
    text = expression.strip()
    while index < len(text):
        match = _tokens(text, index)
        if match is None or len(tokens) >= _MAX_TOKENS:
            return None
        word = match[1]
        number = atoi(word if word[0].isdigit() else env.get(word.strip("${}"), ""))
        if number is None and word not in _SIGNS:
            return None
        tokens.append(word if number is None else number)
        index = match.end()
    value, rest = _sum(tokens)
    return value if not rest else None


def _sum(tokens: list[str | int]) -> tuple[int | None, list[str | int]]:
    value, rest = _product(tokens)
    while value is not None and rest and rest[0] in ("+", "-"):
        right, after = _product(rest[1:])
        value = None if right is None else value + right if rest[0] == "+" else value - right
        rest = after
    return value, rest


def _product(tokens: list[str | int]) -> tuple[int | None, list[str | int]]:
    value, rest = _operand(tokens)
    while value is not None and rest and rest[0] in ("*", "/", "%"):
        right, after = _operand(rest[1:])
        if right is None or (rest[0] != "*" and right == 0) or abs(value * right) > _MAX_VALUE:
            return None, after
        quotient = abs(value) // abs(right) * (1 if (value < 0) == (right < 0) else -1) if right else 0
        value = value * right if rest[0] == "*" else quotient if rest[0] == "/" else value - quotient * right
        rest = after
    return value, rest


def _operand(tokens: list[str | int]) -> tuple[int | None, list[str | int]]:
    if not tokens:
        return None, []
    first, rest = tokens[0], tokens[1:]
    if isinstance(first, int):
        return first, rest
    if first == "(":
        value, rest = _sum(rest)
        return (value, rest[1:]) if rest[:1] == [")"] else (None, rest)
    if first == "-":
        value, rest = _operand(rest)
        return None if value is None else -value, rest
    return None, rest
