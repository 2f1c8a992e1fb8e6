"""Parser of CEL expressions to trees of named tuples.

Operators of one precedence, steps such as `.a[0].b()` and chained conditions are lists instead of
nested nodes, so a long expression does not need a deeper stack than a short one.
"""

from __future__ import annotations

import re

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    Expression: TypeAlias = (
        "Constant | Name | ListLiteral | MapLiteral | ObjectLiteral"
        " | Conditional | Logic | Unary | Binary | MemberAccess | FunctionCall"
    )

CHARACTERS_MAX = 20_000
"""Maximum number of characters of an expression. The API server accepts 100,000, but rules of CRDs
are shorter than this.
"""
_DEPTH_MAX = 50
"""Maximum nesting of brackets. cel-go accepts 250, but each level takes six frames of Python's
stack.
"""

_TOKEN = re.compile(
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
_RAW_TRIPLE = re.compile(r"""[bB]?[rR][bB]?(?:\"{3}.*?\"{3}|'{3}.*?'{3})""", re.DOTALL).match
_ESCAPE = re.compile(
    r"\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL
)
_ESCAPE_CHARACTERS = dict(zip("abfnrtv\\\"'`?", "\a\b\f\n\r\t\v\\\"'`?", strict=True))
_RELATIONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
_PRECEDENCE_LEVELS = (_RELATIONS, frozenset("+-"), frozenset("*/%"))
MACRO_ARGUMENTS: dict[str, tuple[int, ...]] = {
    "all": (2, 3),
    "exists": (2, 3),
    "exists_one": (2, 3),
    "existsOne": (2, 3),
    "filter": (2,),
    "map": (2, 3),
    "transformList": (3, 4),
    "transformMap": (3, 4),
    "transformMapEntry": (3, 4),
    "sortBy": (2,),
}
"""Numbers of arguments of the macros over lists and maps."""
RESERVED = frozenset(
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
_CONSTANTS = {"true": True, "false": False, "null": None}


class CelSyntaxError(Exception):
    """Raised when a text is not a CEL expression."""


class CelLimitError(CelSyntaxError):
    """Raised when an expression is longer or nested deeper than ptcompile reads, which the API
    server may accept.
    """


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


class Constant(NamedTuple):
    """A literal value."""

    value: Any


class Name(NamedTuple):
    """A reference to a variable or type."""

    name: str


class ListElement(NamedTuple):
    """An item of a list: `value`, or `?value` if it is optional."""

    value: Expression
    optional: bool


class ListLiteral(NamedTuple):
    """`[a, ?b]`."""

    items: list[ListElement]


class MapEntry(NamedTuple):
    """An entry of a map: `key: value`, or `?key: value` if it is optional."""

    key: Expression
    value: Expression
    optional: bool


class MapLiteral(NamedTuple):
    """`{key: value}`."""

    entries: list[MapEntry]


class ObjectField(NamedTuple):
    """A field of a new object: `name: value`, or `?name: value` if it is optional."""

    name: str
    value: Expression
    optional: bool


class ObjectLiteral(NamedTuple):
    """`JSONPatch{op: "remove"}`."""

    type_name: str
    fields: list[ObjectField]


class ConditionalCase(NamedTuple):
    """`condition ? then : ...`."""

    condition: Expression
    then: Expression


class Conditional(NamedTuple):
    """Chained cases and the expression after the last colon."""

    cases: list[ConditionalCase]
    otherwise: Expression


class Logic(NamedTuple):
    """Parts that are joined by `&&` or `||`."""

    mark: str
    parts: list[Expression]


class Unary(NamedTuple):
    """An operand with the same sign before it, `repeats` times: `!!a`."""

    mark: str
    repeats: int
    operand: Expression


class Operation(NamedTuple):
    """An operator and the operand after it."""

    mark: str
    operand: Expression


class Binary(NamedTuple):
    """Operations of one precedence on a first operand, from left to right."""

    first: Expression
    operations: list[Operation]


class FieldStep(NamedTuple):
    """`.name`, or `.?name` if it is optional."""

    name: str
    optional: bool


class IndexStep(NamedTuple):
    """`[key]`, or `[?key]` if it is optional."""

    key: Expression
    optional: bool


class FunctionCall(NamedTuple):
    """A call of a global function, or of a method as a step of a `MemberAccess`."""

    name: str
    arguments: list[Expression]


class MemberAccess(NamedTuple):
    """Steps such as `.a[0].b()` from a first value. An expression in parentheses has no steps."""

    first: Expression
    steps: list[FieldStep | IndexStep | FunctionCall]


def count_variables(name: str, arguments: list[Expression]) -> int:
    """Return how many of the first arguments of a macro are the names of its variables."""
    return 2 if name.startswith("transform") or (name != "map" and len(arguments) == 3) else 1


def parse(text: str) -> Expression:
    """Parse an expression to its tree. Raises CelSyntaxError."""
    if len(text) > CHARACTERS_MAX:
        raise CelLimitError(f"the expression is longer than {CHARACTERS_MAX} characters")
    reader = _Parser(_tokens(text))
    node = reader.expression()
    if reader.kind != "end":
        raise reader.unexpected()
    return node


def _tokens(text: str) -> list[tuple[str, Any]]:
    """Return the tokens of an expression, each with its kind and its value."""
    out: list[tuple[str, Any]] = []
    offset = 0
    while offset < len(text):
        raw = _RAW_TRIPLE(text, offset)
        match = raw or _TOKEN(text, offset)
        if match is None:
            raise CelSyntaxError(
                f"syntax error: token recognition error at: {text[offset : offset + 20]!r}"
            )

        offset = match.end()
        kind = match.lastgroup
        word = match.group()
        if kind is None and raw is None:
            continue

        out.append(_token(kind or "raw", word))

    return [*out, ("end", "<EOF>")]


def _token(kind: str, word: str) -> tuple[str, Any]:
    if kind in ("text", "raw", "line"):
        return "constant", _parse_string(word)
    if kind == "float":
        return "constant", float(word)
    if kind == "int":
        return "int", word
    if kind == "name" and word == "in":
        return "mark", word
    return kind, word


def _parse_string(word: str) -> str | bytes:
    prefix = word[: len(word) - len(word.lstrip("rRbB"))].lower()
    body = word[len(prefix) :]
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    body = body[quotes:-quotes]
    as_bytes = "b" in prefix
    if "r" not in prefix:
        body = _ESCAPE.sub(lambda match: _unescape(match.group(), as_bytes), body)
    # an escape in bytes is one byte instead of one character
    if as_bytes:
        return b"".join(_to_byte(character) for character in body)

    return body


def _to_byte(character: str) -> bytes:
    if _BYTE_BASE <= ord(character) < _BYTE_BASE + 256:
        return bytes([ord(character) - _BYTE_BASE])
    # half of a surrogate pair, which only data from Python contains
    return character.encode(errors="replace")


_BYTE_BASE = 0xF0000
"""First code point of the private area that holds escaped bytes until the whole text is parsed."""


def _unescape(word: str, as_bytes: bool) -> str:
    """Return the character that an escape sequence stands for."""
    mark = word[1]
    if mark in _ESCAPE_CHARACTERS:
        return _ESCAPE_CHARACTERS[mark]

    if mark in "xX" and len(word) == 4:
        code = int(word[2:], 16)
    elif mark in "uU" and len(word) > 2:
        # a character of Unicode, also in bytes
        code = int(word[2:], 16)
        as_bytes = False
    elif len(word) == 4:
        code = int(word[1:], 8)
    else:
        raise CelSyntaxError(f"syntax error: unknown escape {word!r}")
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise CelSyntaxError(f"syntax error: {word!r} is not a character")

    return chr(_BYTE_BASE + code) if as_bytes else chr(code)


class _Parser:
    """Recursive-descent parser over the tokens."""

    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self._tokens = tokens
        self._index = 0
        self._depth = 0
        self.kind, self.word = tokens[0]

    def unexpected(self) -> CelSyntaxError:
        return CelSyntaxError(f"syntax error: mismatched input {self.word!r}")

    def _next(self) -> Any:
        word = self.word
        self._index += 1
        self.kind, self.word = self._tokens[self._index]
        return word

    def _is_at(self, mark: str) -> bool:
        return self.kind == "mark" and self.word == mark

    def _accept(self, mark: str) -> bool:
        if not self._is_at(mark):
            return False
        self._next()
        return True

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise self.unexpected()

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise CelLimitError(f"the expression is nested more than {_DEPTH_MAX} deep")

        cases: list[ConditionalCase] = []
        node = self._logic("||")
        while self._accept("?"):
            then = self._logic("||")
            self._expect(":")
            cases.append(ConditionalCase(node, then))
            node = self._logic("||")

        self._depth -= 1
        return Conditional(cases, node) if cases else node

    def _logic(self, mark: str) -> Expression:
        parts = [self._operand(mark)]
        while self._accept(mark):
            parts.append(self._operand(mark))
        return Logic(mark, parts) if len(parts) > 1 else parts[0]

    def _operand(self, mark: str) -> Expression:
        return self._logic("&&") if mark == "||" else self._binary(0)

    def _binary(self, level: int) -> Expression:
        if level == len(_PRECEDENCE_LEVELS):
            return self._unary()
        first = self._binary(level + 1)
        operations: list[Operation] = []
        while self.kind == "mark" and self.word in _PRECEDENCE_LEVELS[level]:
            mark = self._next()
            operations.append(Operation(mark, self._binary(level + 1)))
        return Binary(first, operations) if operations else first

    def _unary(self) -> Expression:
        marks = []
        while self.kind == "mark" and self.word in ("!", "-"):
            mark = self._next()
            if mark == "-" and self.kind == "int":
                self.word = "-" + self.word
            else:
                marks.append(mark)

        node = self._member()
        if not marks:
            return node
        if len(set(marks)) > 1:
            raise self.unexpected()
        return Unary(marks[0], len(marks), node)

    def _member(self) -> Expression:
        first = self._primary()
        steps: list[FieldStep | IndexStep | FunctionCall] = []
        while self.kind == "mark" and self.word in (".", "["):
            if self._next() == "[":
                optional = self._accept("?")
                steps.append(IndexStep(self.expression(), optional))
                self._expect("]")
                continue

            optional = self._accept("?")
            name = self._name().strip("`")
            if not optional and self._accept("("):
                steps.append(FunctionCall(name, self._arguments()))
            else:
                steps.append(FieldStep(name, optional))

        if self._is_at("{") and isinstance(first, Name):
            fields = [step.name for step in steps if isinstance(step, FieldStep)]
            if len(fields) == len(steps):
                return self._object(".".join([first.name, *fields]))

        return MemberAccess(first, steps) if steps else first

    def _object(self, type_name: str) -> Expression:
        self._next()
        fields: list[ObjectField] = []
        for optional in self._parts("}"):
            name = self._name().strip("`")
            self._expect(":")
            fields.append(ObjectField(name, self.expression(), optional))
        return ObjectLiteral(type_name, fields)

    def _name(self) -> str:
        if self.kind != "name":
            raise self.unexpected()
        return str(self._next())

    def _primary(self) -> Expression:
        if self.kind == "constant":
            return Constant(self._next())
        if self.kind == "int":
            return Constant(_parse_integer(self._next()))
        if self._accept("("):
            node = self.expression()
            self._expect(")")
            return MemberAccess(node, [])
        if self._accept("["):
            return ListLiteral(
                [ListElement(self.expression(), optional) for optional in self._parts("]")]
            )
        if self._accept("{"):
            return MapLiteral(self._entries())

        self._accept(".")
        name = self._name()
        if name in _CONSTANTS:
            return Constant(_CONSTANTS[name])
        if name in RESERVED:
            raise CelSyntaxError(f"syntax error: {name!r} is a reserved word")
        if self._accept("("):
            return FunctionCall(name, self._arguments())
        return Name(name)

    def _arguments(self) -> list[Expression]:
        return [self.expression() for _ in self._parts(")")]

    def _entries(self) -> list[MapEntry]:
        entries: list[MapEntry] = []
        for optional in self._parts("}"):
            key = self.expression()
            self._expect(":")
            entries.append(MapEntry(key, self.expression(), optional))
        return entries

    def _parts(self, end: str) -> Iterator[bool]:
        """Yield before each part up to a closing bracket whether it is optional.

        Arguments cannot be optional, and no comma may follow the last one.
        """
        is_call = end == ")"
        while not self._accept(end):
            yield not is_call and self._accept("?")
            if not self._is_at(end):
                self._expect(",")
                if is_call and self._is_at(end):
                    raise self.unexpected()


def _parse_integer(word: str) -> int:
    unsigned = word[-1] in "uU"
    digits = word.rstrip("uU")
    if len(digits) > 24:
        raise CelSyntaxError("invalid int literal")
    number = int(digits, 16 if "x" in digits.lower() else 10)
    if not (0 <= number < 2**64 if unsigned else -(2**63) <= number < 2**63):
        raise CelSyntaxError("invalid uint literal" if unsigned else "invalid int literal")
    return Uint(number) if unsigned else number
