"""Reads a shell script into its syntax tree.

Grammar: POSIX 2024, 2.10, with bash 5.2's `[[`, `((`, arrays, `<<<`, `$'...'`, `<(...)`,
`function`, `|&` and `&>`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ptcompile.shell.nodes import (
    AndOr,
    Arithmetic,
    ArithmeticCommand,
    Branch,
    Case,
    Choice,
    For,
    Function,
    Group,
    If,
    Literal,
    Loop,
    Opaque,
    Parameter,
    Pipeline,
    Redirection,
    ScriptTree,
    Sequence,
    ShellAssignment,
    Simple,
    Started,
    Substitution,
    Test,
    Unreadable,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ptcompile.shell.nodes import Node, Part

    Parts = list[Part]
    MatchAt = Callable[[str, int], re.Match[str] | None]

MAX_DEPTH = 40
"""Commands and expansions inside one another; what is deeper is unreadable."""

DECLARATIONS = frozenset({"export", "local", "declare", "readonly", "typeset"})
"""Commands whose arguments are assignments."""
_NOT_FIRST = frozenset({"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"})

_BLANK = re.compile(r"(?:[ \t]|\\\n)+").match
_PLAIN = re.compile(r"[^ \t\n;&|<>()$`\"'\\?*+@!~#]+").match
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|()\n]")
_REDIRECTION = re.compile(
    r"(?P<source>[0-9]{1,4}|\{[A-Za-z_]\w*\})?"
    r"(?P<operator>&>>|&>|<<<|<<-|<<|<>|>>|>\||<&|>&|<(?!\()|>(?!\())"
).match
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[[^\]\n]*\])?(?P<plus>\+?)=").match
_PARAMETER = re.compile(
    r"([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[([^\]]*)\])?"
    r"(:?[-=?+]|%%?|##?|//?|\^\^?|,,?|:|@)?"
).match
_NAMES = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_NAME = _NAMES.match
_FUNCTION = re.compile(r"(?P<name>[^\s;&|<>()$`\"'\\=]+)[ \t]*\([ \t]*\)").match
_FUNCTION_NAME = re.compile(r"(?P<name>[^\s;&|<>()]+)[ \t]*(?:\([ \t]*\))?").match
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_ESCAPE = re.compile(r"\\(?P<sign>[ntr\\'\"])")
_OTHER_ESCAPE = re.compile(r"(?s)[^\\](?:\\\\)*\\[^ntr\\'\"]").search
_ANSI_TEXT = re.compile(r"(?s)\$'(?:[^'\\]|\\.)*'").match
_SINGLE = re.compile(r"'(?P<text>[^']*)'").match
_BACKQUOTED = re.compile(r"(?s)`(?P<script>(?:[^`\\]|\\.)*)`").match
_BALANCED = re.compile(r"(?s)\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[()]")
_REGEX = re.compile(r"(?:\\.|\([^)]{0,200}\)|\[[^]]{0,200}\]|[^\s\\])+").match
_TEST_OPERATOR = re.compile(r"&&|\|\||[()<>]").match
_TEST_END = re.compile(r"\]\](?=[\s;&|)]|\Z)").match
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|do|done|case|esac|while|until|for|function|time|in|\[\[|[{}!])"
    r"(?=[\s;&|()<>]|\Z)"
)


class _SyntaxError(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


# the pods of a role, and the rules about them, share a script
@lru_cache(maxsize=64)
def parse(text: str) -> ScriptTree:
    """Return the tree of a script. From its first syntax error on it is `Unreadable`."""
    return _ScriptParser(text).tree()


def merge_literals(parts: Parts) -> tuple[Part, ...]:
    """Join neighboring literals that are quoted alike."""
    joined: Parts = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Literal) and isinstance(last, Literal) and part.quoted == last.quoted:
            joined[-1] = Literal(last.text + part.text, part.quoted)
        else:
            joined.append(part)
    return tuple(joined)


class _ScriptParser:
    """Reads a text from the offset `at` on."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.size = len(text)
        self.depth = depth
        self.after_bodies: dict[int, int] = {}
        """By newline, where the text goes on after the here-documents of its line."""

    def tree(self) -> ScriptTree:
        items: list[Started] = []
        error = None
        try:
            self.read_items(items, frozenset())
            if self.at < self.size:
                raise _SyntaxError(self.at)
        except _SyntaxError as failure:
            error = failure.at
            items.append(Started(Unreadable(error, self.size), False))

        return ScriptTree(tuple(items), error)

    def fail(self) -> _SyntaxError:
        return _SyntaxError(self.at)

    def deeper(self) -> int:
        """Return the depth of what is inside, if it is not too deep to read."""
        if self.depth >= MAX_DEPTH:
            raise self.fail()
        return self.depth + 1

    def has(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def take(self, match_at: MatchAt) -> re.Match[str] | None:
        match = match_at(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def expect_match(self, match_at: MatchAt) -> re.Match[str]:
        match = self.take(match_at)
        if match is None:
            raise self.fail()
        return match

    def skip_space(self) -> None:
        self.take(_BLANK)
        if self.has("#"):
            end = self.text.find("\n", self.at)
            self.at = self.size if end < 0 else end

    def skip_lines(self) -> None:
        self.skip_space()
        while self.has("\n"):
            self.at = self.after_bodies.get(self.at, self.at + 1)
            self.skip_space()

    def peek(self, pattern: re.Pattern[str]) -> str:
        """Return the operator or the reserved word that is next, or an empty text."""
        self.skip_space()
        match = pattern.match(self.text, self.at)
        return match.group() if match else ""

    def expect(self, word: str) -> None:
        self.skip_lines()
        if self.peek(_RESERVED) != word:
            raise self.fail()
        self.at += len(word)

    def close(self) -> None:
        self.skip_lines()
        if not self.has(")"):
            raise self.fail()
        self.at += 1

    def read_items(self, items: list[Started], until: frozenset[str]) -> None:
        while True:
            self.skip_lines()
            is_end = self.at >= self.size or self.has(")") or self.has(";;") or self.has(";&")
            if is_end or self.peek(_RESERVED) in until:
                return

            node = self.and_or()
            operator = self.peek(_OPERATOR)
            items.append(Started(node, operator == "&"))
            if operator in ("&", ";"):
                self.at += 1
            elif operator in ("", "&&", "||", "|", "|&", "("):
                if self.at < self.size:
                    raise self.fail()
                return

    def sequence(self, *until: str, may_be_empty: bool = False) -> Sequence:
        items: list[Started] = []
        self.read_items(items, frozenset(until))
        if not items and not may_be_empty:
            raise self.fail()
        return tuple(items)

    def and_or(self) -> Node:
        self.skip_space()
        start = self.at
        left = self.pipeline()
        while (operator := self.peek(_OPERATOR)) in ("&&", "||"):
            self.at += 2
            end = self.at
            self.skip_lines()
            left = AndOr(start, end, left, operator, self.pipeline())
        return left

    def pipeline(self) -> Node:
        start = self.at
        is_negated = False
        while (word := self.peek(_RESERVED)) in ("!", "time"):
            if word == "!":
                is_negated = not is_negated
            self.at += len(word)
            self.skip_space()

        commands = [self.command()]
        while (operator := self.peek(_OPERATOR)) in ("|", "|&"):
            self.at += len(operator)
            self.skip_lines()
            commands.append(self.command())

        if not is_negated and len(commands) == 1:
            return commands[0]

        return Pipeline(start, self.at, tuple(commands), is_negated)

    def command(self) -> Node:
        self.depth = self.deeper()
        node = self.compound()
        self.depth -= 1
        if node is None:
            return self.simple()
        if not isinstance(node, Function):
            while self.redirection() is not None:
                pass
        return node

    def compound(self) -> Node | None:
        """Return a compound command, or None if a simple one is next."""
        word = self.peek(_RESERVED)
        start = self.at
        if word in _COMPOUND:
            self.at += len(word)
            node: Node = _COMPOUND[word](self, start)
            return node
        if word in _NOT_FIRST:
            raise self.fail()
        if self.has("((") and (end := self.find_closing(start + 2, "))")) is not None:
            self.at = end
            return ArithmeticCommand(start, end, self.arithmetic_parts(start + 2, end - 2))
        if self.has("("):
            self.at += 1
            body = self.sequence()
            self.close()
            return Group(start, start + 1, body, True)
        if match := self.take(_FUNCTION):
            return self.function_body(start, match["name"])

        return None

    def simple(self) -> Node:
        start = end = self.at
        assignments: list[ShellAssignment] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            may_assign = not words or words[0].source in DECLARATIONS
            if redirection := self.redirection():
                redirections.append(redirection)
            elif may_assign and (assignment := self.assignment()):
                assignments.append(assignment)
            elif word := self.word():
                words.append(word)
            else:
                break

            end = self.at

        if end == start:
            raise self.fail()

        return Simple(start, end, tuple(assignments), tuple(words), tuple(redirections))

    def words(self, skip: Callable[[], None]) -> tuple[Word, ...]:
        """Take words, with what `skip` skips before and after each."""
        words: list[Word] = []
        skip()
        while word := self.word():
            words.append(word)
            skip()
        return tuple(words)

    def needed_word(self) -> Word:
        self.skip_space()
        word = self.word()
        if word is None:
            raise self.fail()
        return word

    def assignment(self) -> ShellAssignment | None:
        match = self.take(_ASSIGNMENT)
        if match is None:
            return None
        if not self.has("("):
            value = self.word() or Word((), self.at, self.at, "")
            return ShellAssignment(match["name"], value, None, bool(match["plus"]))

        self.at += 1
        items = self.words(self.skip_lines)
        self.close()

        return ShellAssignment(match["name"], None, items, bool(match["plus"]))

    def redirection(self) -> Redirection | None:
        self.skip_space()
        match = self.take(_REDIRECTION)
        if match is None:
            return None

        target = self.needed_word()
        operator = match["operator"]
        if operator == "<<<":
            return Redirection(operator, None, target, "")
        if operator in ("<<", "<<-"):
            return Redirection("<<", None, self.here_document(target, operator == "<<-"), "")

        return Redirection(operator, target, None, match["source"] or "")

    def here_document(self, delimiter: Word, without_tabs: bool) -> Word:
        is_quoted = any(not isinstance(part, Literal) or part.quoted for part in delimiter.parts)
        last = "".join(
            part.text if isinstance(part, Literal) else part.source for part in delimiter.parts
        )
        newline = self.text.find("\n", self.at)
        if newline < 0:
            return Word((), self.size, self.size, "")

        begin = self.after_bodies.get(newline, newline + 1)
        tabs = "\\t*" if without_tabs else ""
        match = re.compile(rf"(?m)^{tabs}{re.escape(last)}$").search(self.text, begin)
        end, following = match.span() if match else (self.size, self.size)
        self.after_bodies[newline] = min(following + 1, self.size)
        body = re.sub(rf"(?m)^{tabs}", "", self.text[begin:end])
        if is_quoted:
            return Word((Literal(body, True),), begin, end, body)

        return Word(_ScriptParser(body, self.deeper()).text_parts(), begin, end, body)

    def text_parts(self) -> tuple[Part, ...]:
        """Return the parts of the text, as of one in double quotes."""
        return merge_literals(self.quoted_parts(""))

    def if_(self, start: int) -> Node:
        branches: list[Branch] = []
        word = "elif"
        first = start
        while word == "elif":
            condition = self.sequence("then")
            end = self.at
            self.expect("then")
            body = self.sequence("elif", "else", "fi")
            branches.append(Branch(start, end, condition, body))
            word = self.peek(_RESERVED)
            start = self.at
            self.at += len(word)

        otherwise: Sequence = ()
        if word == "else":
            otherwise = self.sequence("fi")
            self.expect("fi")
        elif word != "fi":
            raise self.fail()

        return If(first, branches[0].end, tuple(branches), otherwise)

    def loop(self, start: int, *, is_until: bool) -> Node:
        condition = self.sequence("do")
        return Loop(start, self.at, is_until, condition, self.loop_body())

    def loop_body(self) -> Sequence:
        self.skip_lines()
        first, last = ("{", "}") if self.has("{") else ("do", "done")
        self.expect(first)
        body = self.sequence(last)
        self.expect(last)
        return body

    def for_(self, start: int) -> Node:
        self.skip_space()
        if self.has("(("):
            return self.counted_for(start)

        name = self.needed_word()
        self.skip_lines()
        words: tuple[Word, ...] | None = None
        if self.peek(_RESERVED) == "in":
            self.at += 2
            words = self.words(self.skip_space)
        end = self.at
        self.skip_semicolon()

        return For(start, end, name.source, words, self.loop_body())

    def skip_semicolon(self) -> None:
        if self.peek(_OPERATOR) == ";":
            self.at += 1

    def counted_for(self, start: int) -> Node:
        first = self.at
        end = self.at = self.end_of(first + 2, "))")
        self.skip_semicolon()
        names = _NAMES.findall(self.text, first, end)
        if not names:
            forever = (Started(Simple(start, end, (), (), ()), False),)
            return Loop(start, end, False, forever, self.loop_body())

        source = self.text[first:end]
        return For(
            start, end, names[0], (Word((Opaque(source),), first, end, source),), self.loop_body()
        )

    def case(self, start: int) -> Node:
        word = self.needed_word()
        self.expect("in")
        end = self.at
        choices: list[Choice] = []
        falls_through = False
        self.skip_lines()
        while self.peek(_RESERVED) != "esac":
            if self.has("("):
                self.at += 1
            patterns = [self.needed_word()]
            while self.peek(_OPERATOR) == "|":
                self.at += 1
                patterns.append(self.needed_word())
            self.close()
            body = self.sequence("esac", may_be_empty=True)
            ending = self.peek(_OPERATOR)
            if ending.startswith(";"):
                self.at += len(ending)
            if falls_through:
                choices[-1] = choices[-1]._replace(body=choices[-1].body + body)
            choices.append(Choice(start, end, tuple(patterns), body))
            falls_through = ending == ";&"
            self.skip_lines()

        self.at += len("esac")
        return Case(start, end, word, tuple(choices))

    def function(self, start: int) -> Node:
        self.skip_space()
        return self.function_body(start, self.expect_match(_FUNCTION_NAME)["name"])

    def function_body(self, start: int, name: str) -> Node:
        end = self.at
        self.skip_lines()
        return Function(start, end, name, self.command())

    def group(self, start: int) -> Node:
        body = self.sequence("}")
        self.expect("}")
        return Group(start, start + 1, body, False)

    def test(self, start: int) -> Node:
        words: list[Word] = []
        self.skip_lines()
        while not self.take(_TEST_END):
            first = self.at
            if words and words[-1].source == "=~":
                pattern = self.expect_match(_REGEX).group()
                words.append(Word((Opaque(pattern),), first, self.at, pattern))
            elif match := self.take(_TEST_OPERATOR):
                operator = match.group()
                words.append(Word((Literal(operator),), first, self.at, operator))
            else:
                words.append(self.needed_word())
            self.skip_lines()

        return Test(start, self.at, tuple(words))

    def word(self) -> Word | None:
        start = self.at
        parts: Parts = []
        while self.at < self.size:
            if match := self.take(_PLAIN):
                parts.append(Literal(match.group()))
                continue

            sign = self.text[self.at]
            follows_parenthesis = self.text.startswith("(", self.at + 1)
            if sign in "<>" and follows_parenthesis:
                parts += self.opaque()
            elif sign in " \t\n;&()|<>":
                break
            elif sign in _QUOTES:
                parts += _QUOTES[sign](self, False)
            else:
                parts += self.plain_sign(False)

        if self.at == start:
            return None

        return Word(merge_literals(parts), start, self.at, self.text[start : self.at])

    def plain_sign(self, quoted: bool) -> Parts:
        self.at += 1
        return [Literal(self.text[self.at - 1], quoted)]

    def opaque(self) -> Parts:
        """Take `<(commands)`."""
        start = self.at
        self.at = self.end_of(start + 2, ")")
        return [Opaque(self.text[start : self.at])]

    def escape(self, quoted: bool) -> Parts:
        following = self.text[self.at + 1 : self.at + 2]
        self.at = min(self.at + 2, self.size)
        if following == "\n":
            return []
        return [Literal(following or "\\", True)]

    def single_quoted(self, quoted: bool) -> Parts:
        return [Literal(self.expect_match(_SINGLE)["text"], True)]

    def double_quoted(self, quoted: bool) -> Parts:
        self.at += 1
        return self.quoted_parts('"') or [Literal("", True)]

    def quoted_parts(self, end: str) -> Parts:
        """Return the parts up to the closing quotation mark; of a here-document, up to its end."""
        parts: Parts = []
        while self.at < self.size:
            if match := self.take(_IN_DOUBLE if end else _IN_BODY):
                parts.append(Literal(match.group(), True))
            elif end and self.has(end):
                self.at += 1
                return parts
            else:
                parts += _QUOTES[self.text[self.at]](self, True)

        if end:
            raise self.fail()

        return parts

    def dollar(self, quoted: bool) -> Parts:
        """Read what begins with a dollar sign. A sign without a meaning is text."""
        start = self.at
        following = self.text[start + 1 : start + 2]
        if following == "(":
            return [self.command_or_arithmetic(quoted)]
        if following == "{":
            return [self.braces(quoted)]
        if following == "'" and not quoted:
            source = self.expect_match(_ANSI_TEXT).group()
            text = _ESCAPE.sub(lambda match: _ESCAPED[match["sign"]], source[2:-1])
            return [Literal(text, True) if not _OTHER_ESCAPE(source) else Opaque(source)]

        self.at += 1
        if match := self.take(_NAME):
            return [Parameter(match.group(), quoted, self.text[start : self.at])]

        # the shell drops the dollar sign of a string to translate: $"..."
        if following == '"' and not quoted:
            return []
        return [Literal("$", quoted)]

    def command_or_arithmetic(self, quoted: bool) -> Part:
        start = self.at
        end = self.find_closing(start + 3, "))") if self.has("$((") else None
        if end is not None:
            self.at = end
            return Arithmetic(
                self.arithmetic_parts(start + 3, end - 2), quoted, self.text[start:end]
            )

        self.depth = self.deeper()
        self.at += 2
        body = self.sequence(may_be_empty=True)
        self.close()
        self.depth -= 1

        return Substitution(body, quoted, self.text[start : self.at])

    def braces(self, quoted: bool) -> Part:
        start = self.at
        self.depth = self.deeper()
        self.at += 2
        match = None if self.has("#}") else self.take(_PARAMETER)
        parts: Parts = []
        while not self.has("}"):
            if self.at >= self.size:
                raise self.fail()
            if text := self.take(_IN_BRACES):
                parts.append(Literal(text.group(), quoted))
            elif self.has("'") and quoted:
                parts += self.plain_sign(quoted)
            else:
                parts += _QUOTES[self.text[self.at]](self, quoted)

        self.at += 1
        self.depth -= 1

        source = self.text[start : self.at]
        if match is None:
            if source == "${#}":
                return Parameter("#", quoted, source)
            return Opaque(source, quoted)

        prefix, name, index, operator = match.groups(default="")
        if (prefix and operator) or (parts and not operator):
            return Opaque(source, quoted)

        return Parameter(name, quoted, source, operator or prefix, merge_literals(parts), index)

    def backquote(self, quoted: bool) -> Parts:
        match = self.expect_match(_BACKQUOTED)
        text = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", match["script"])
        tree = _ScriptParser(text, self.deeper()).tree()
        if tree.error is not None:
            raise self.fail()
        return [Substitution(tree.body, quoted, match.group())]

    def arithmetic_parts(self, start: int, end: int) -> tuple[Part, ...]:
        """Return the parts of an arithmetic expression."""
        return _ScriptParser(self.text[start:end], self.deeper()).text_parts()

    def end_of(self, start: int, close: str) -> int:
        end = self.find_closing(start, close)
        if end is None:
            raise self.fail()
        return end

    def find_closing(self, start: int, close: str) -> int | None:
        """Return the offset after the closing sign that matches an opened parenthesis, or None."""
        depth = 0
        for match in _BALANCED.finditer(self.text, start):
            sign = match.group()
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
            if depth < 0:
                if self.text.startswith(close, match.start()):
                    return match.start() + len(close)
                return None
        return None


_IN_DOUBLE = re.compile(r'[^$`"\\]+|\\(?=[^$`"\\\n])').match
_IN_BODY = re.compile(r"[^$`\\]+|\\(?=[^$`\\\n])").match
_IN_BRACES = re.compile(r"[^$`\"'\\}]+").match
_QUOTES = {
    "\\": _ScriptParser.escape,
    "'": _ScriptParser.single_quoted,
    '"': _ScriptParser.double_quoted,
    "$": _ScriptParser.dollar,
    "`": _ScriptParser.backquote,
}
"""Readers of quoted and expanded parts of a word, by the sign they begin with."""
_COMPOUND = {
    "if": _ScriptParser.if_,
    "while": lambda parser, start: parser.loop(start, is_until=False),
    "until": lambda parser, start: parser.loop(start, is_until=True),
    "for": _ScriptParser.for_,
    "case": _ScriptParser.case,
    "function": _ScriptParser.function,
    "{": _ScriptParser.group,
    "[[": _ScriptParser.test,
}
"""Readers of compound commands, by the reserved word they begin with."""
