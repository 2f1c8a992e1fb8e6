"""The syntax of CEL: from an expression to a tree of tuples, each with its kind first.

Operators of one precedence, steps such as `.a[0].b()` and conditions in a row are lists rather than nested, so a long
expression needs no deeper stack than a short one.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Expression = tuple[Any, ...]

LONGEST: Final = 20_000
"""Characters of an expression. The API server reads 100,000, but a rule in a CRD has no more than this."""
_DEEPEST: Final = 50
"""Brackets within brackets. cel-go reads 250; every level takes six frames of Python's stack here."""

_TOKEN: Final = re.compile(
    r"""\s+|//[^\n]*
    |(?P<text>[rRbB]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}))
    |(?P<raw>[bB]?[rR][bB]?(?:"[^"\n]*"|'[^'\n]*'))
    |(?P<line>[bB]?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<float>(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    |(?P<int>(?:0[xX][0-9a-fA-F]+|\d+)[uU]?)
    |(?P<name>[A-Za-z_]\w*|`[\w./ -]+`)
    |(?P<mark>&&|\|\||[<>=!]=|[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
).match
_RAW_TRIPLE: Final = re.compile(r"""[bB]?[rR][bB]?(?:\"{3}.*?\"{3}|'{3}.*?'{3})""", re.DOTALL).match
_ESCAPE: Final = re.compile(r"\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_PLAIN: Final = dict(zip("abfnrtv\\\"'`?", "\a\b\f\n\r\t\v\\\"'`?", strict=True))
_RELATIONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
_LEVELS: Final = (_RELATIONS, frozenset("+-"), frozenset("*/%"))
_RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "null",
        "package",
        "namespace",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


class CelSyntaxError(Exception):
    """Raised when a text is not an expression of CEL."""


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


def parse(text: str) -> Expression:
    """Return the tree of an expression. Raises CelSyntaxError."""
    if len(text) > LONGEST:
        raise CelSyntaxError(f"the expression is longer than {LONGEST} characters")
    reader = _Reader(_tokens(text))
    node = reader.expression()
    if reader.kind != "end":
        raise reader.unexpected()
    return node


def _tokens(text: str) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    at = 0
    while at < len(text):
        raw = _RAW_TRIPLE(text, at)
        found = raw or _TOKEN(text, at)
        if found is None:
            raise CelSyntaxError(f"syntax error: token recognition error at: {text[at : at + 20]!r}")
        at, kind, word = found.end(), found.lastgroup, found.group()
        if kind is None and raw is None:
            continue
        out.append(_token(kind or "raw", word))
    return [*out, ("end", "<EOF>")]


def _token(kind: str, word: str) -> tuple[str, Any]:
    if kind in ("text", "raw", "line"):
        return "constant", _string(word)
    if kind == "float":
        return "constant", float(word)
    if kind == "int":
        return "int", word
    if kind == "name" and word == "in":
        return "mark", word
    return kind, word


def _string(word: str) -> str | bytes:
    prefix = word[: len(word) - len(word.lstrip("rRbB"))].lower()
    body = word[len(prefix) :]
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    body = body[quotes:-quotes]
    as_bytes = "b" in prefix
    if "r" not in prefix:
        body = _ESCAPE.sub(lambda found: _unescaped(found.group(), as_bytes), body)
    # an escape in bytes stands for one byte, not for a character
    return b"".join(_byte(one) for one in body) if as_bytes else body


def _byte(one: str) -> bytes:
    return bytes([ord(one) - _BYTE]) if _BYTE <= ord(one) < _BYTE + 256 else one.encode()


_BYTE: Final = 0xF0000
"""Escaped bytes are kept at this private code point until the whole text is read."""


def _unescaped(word: str, as_bytes: bool) -> str:
    mark = word[1]
    if mark in _PLAIN:
        return _PLAIN[mark]
    if mark in "xX" and len(word) == 4:
        code = int(word[2:], 16)
    elif mark in "uU" and len(word) > 2:
        code = int(word[2:], 16)
        as_bytes = False
    elif len(word) == 4:
        code = int(word[1:], 8)
    else:
        raise CelSyntaxError(f"syntax error: unknown escape {word!r}")
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise CelSyntaxError(f"syntax error: {word!r} is not a character")
    return chr(_BYTE + code) if as_bytes else chr(code)


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self.kind, self.word = tokens[0]

    def unexpected(self) -> CelSyntaxError:
        return CelSyntaxError(f"syntax error: mismatched input {self.word!r}")

    def _next(self) -> Any:
        word = self.word
        self._at += 1
        self.kind, self.word = self._tokens[self._at]
        return word

    def _is(self, mark: str) -> bool:
        return self.kind == "mark" and self.word == mark

    def _took(self, mark: str) -> bool:
        if not self._is(mark):
            return False
        self._next()
        return True

    def _expect(self, mark: str) -> None:
        if not self._took(mark):
            raise self.unexpected()

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CelSyntaxError(f"the expression is nested more than {_DEEPEST} deep")
        cases = []
        node = self._logic("||")
        while self._took("?"):
            then = self._logic("||")
            self._expect(":")
            cases.append((node, then))
            node = self._logic("||")
        self._depth -= 1
        return ("if", cases, node) if cases else node

    def _logic(self, mark: str) -> Expression:
        parts = [self._operand(mark)]
        while self._took(mark):
            parts.append(self._operand(mark))
        return ("or" if mark == "||" else "and", parts) if len(parts) > 1 else parts[0]

    def _operand(self, mark: str) -> Expression:
        return self._logic("&&") if mark == "||" else self._binary(0)

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        first = self._binary(level + 1)
        steps = []
        while self.kind == "mark" and self.word in _LEVELS[level]:
            mark = self._next()
            steps.append((mark, self._binary(level + 1)))
        return ("binary", first, steps) if steps else first

    def _unary(self) -> Expression:
        marks = []
        while self.kind == "mark" and self.word in ("!", "-"):
            marks.append(self._next())
            if marks[-1] == "-" and self.kind == "int":
                self.word = "-" + self.word
                marks.pop()
        node = self._member()
        for mark in ("!", "-"):
            if mark in marks:
                if set(marks) != {mark}:
                    raise self.unexpected()
                return ("unary", mark, len(marks), node)
        return node

    def _member(self) -> Expression:
        first = self._primary()
        steps: list[Expression] = []
        while self.kind == "mark" and self.word in (".", "["):
            if self._next() == "[":
                optional = self._took("?")
                steps.append(("index", self.expression(), optional))
                self._expect("]")
                continue
            optional = self._took("?")
            if self.kind != "name":
                raise self.unexpected()
            name = self._next().strip("`")
            if self._is("(") and not optional:
                self._next()
                steps.append(("call", name, self._items(")")))
            else:
                steps.append(("field", name, optional))
        if self._is("{") and first[0] == "name":
            raise CelSyntaxError("objects of a type are not supported")
        return ("member", first, steps) if steps else first

    def _primary(self) -> Expression:
        if self.kind == "constant":
            return ("constant", self._next())
        if self.kind == "int":
            return ("constant", _integer(self._next()))
        if self._took("("):
            node = self.expression()
            self._expect(")")
            return ("member", node, [])
        if self._took("["):
            return ("list", self._items("]", True))
        if self._took("{"):
            return ("map", self._entries())
        self._took(".")
        if self.kind != "name":
            raise self.unexpected()
        return self._named(self._next())

    def _named(self, name: str) -> Expression:
        if name in _CONSTANTS:
            return ("constant", _CONSTANTS[name])
        if name in _RESERVED:
            raise CelSyntaxError(f"syntax error: {name!r} is a reserved word")
        return ("call", name, self._items(")")) if self._took("(") else ("name", name)

    def _items(self, end: str, optional: bool = False) -> list[Expression]:
        """Return expressions up to a bracket; those of a list may be optional, and the last may have a comma."""
        out: list[Expression] = []
        while not self._took(end):
            out.append(("optional", self.expression()) if optional and self._took("?") else self.expression())
            if not self._is(end):
                self._expect(",")
                if self._is(end) and end == ")":
                    raise self.unexpected()
        return out

    def _entries(self) -> list[tuple[Expression, Expression, bool]]:
        out = []
        while not self._took("}"):
            optional = self._took("?")
            key = self.expression()
            self._expect(":")
            out.append((key, self.expression(), optional))
            if not self._is("}"):
                self._expect(",")
        return out


def _integer(word: str) -> int:
    unsigned = word[-1] in "uU"
    digits = word.rstrip("uU")
    if len(digits) > 24:
        raise CelSyntaxError("invalid int literal")
    number = int(digits, 16 if "x" in digits.lower() else 10)
    if not (0 <= number < 2**64 if unsigned else -(2**63) <= number < 2**63):
        raise CelSyntaxError("invalid uint literal" if unsigned else "invalid int literal")
    return Uint(number) if unsigned else number
