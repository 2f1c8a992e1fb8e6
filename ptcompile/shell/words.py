"""Expands words: variables, arithmetic, outputs of commands, and what an unquoted value is split
into.

Source: POSIX 2024, 2.6 Word Expansions; bash 5.2, for arrays, `${X/a/b}`, `${X^^}`, `${X:1:2}` and
braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ptcompile._internal.limits import Budget
from ptcompile._internal.spelling import is_short_number
from ptcompile.shell import nodes
from ptcompile.shell.parser import merge_literals
from ptcompile.shell.patterns import compute, without_match
from ptcompile.shell.state import ShellState, as_assumed, status_text
from ptcompile.shell.values import (
    MAX_TEXT,
    Argument,
    Piece,
    ShellValue,
    Variable,
    derive_value,
    is_known,
    text_of,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.nodes import Parameter, Part, Substitution, Word

MAX_ITEMS = 1024
"""Maximum number of items of an array; a longer one is unknown."""

_SPLIT = re.compile(r"[ \t\n]+")
_PLACEHOLDER = re.compile(r"<[\w./:-]+>")
"""A value that no manifest holds, such as `<secret:hf/token>`."""
_GLOB = re.compile(r"[*?]|\[[^][]*\]|\{[^{},.]*+(?:\.(?!\.)[^{},.]*+)*+(?:,|\.\.)[^{}]*+\}|\A~")
"""What file names, words in braces, or the home folder may take the place of."""
_RANGE = re.compile(
    r"(?P<first>-?\d{1,6})\.\.(?P<last>-?\d{1,6})(?:\.\.(?P<step>-?\d{1,6}))?"
).fullmatch
_MAX_BRACES = 8
"""Maximum number of `{` in a word that are expanded; the words of more are unknown."""
_MAX_ALTERNATIVES = 64
"""Maximum number of words that braces make of one."""
_MOST_ALTERNATIVES = 1024
"""Maximum number of words that braces make in a script."""
_COMMAND = re.compile(r"\$\((?!\()|`|\$\{\w*[^\w}]")
"""A part of a subscript that is more than a name or arithmetic."""
_DOLLAR = re.compile(r"\$(?:\{(\w+)\}|(?=[\w(]))")
_DEFAULTS = frozenset({":-", "-", ":=", "="})


class Expander:
    """Expands words with the container's environment, and notes the variables that it read from
    it.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.budget = Budget()
        self.alternatives = 0
        """Number of words that braces have added."""
        self.reads: dict[str, str | None] = {}
        """Variables of the environment that were read, with their values."""

    def substitution(self, part: Substitution, state: ShellState) -> ShellValue:
        """Return the output of commands."""
        return unknown(part.source)

    def word_value(self, word: Word | None, state: ShellState) -> ShellValue:
        """Return a word's value where the shell does not split it: in an assignment, a test, a
        redirection.
        """
        return () if word is None else self.parts(word.parts, state)

    def part(self, part: Part, state: ShellState) -> ShellValue:
        """Return the value of a part of a word."""
        if isinstance(part, nodes.Literal):
            return (Piece(part.text),) if part.text else ()
        if isinstance(part, nodes.Parameter):
            return self.parameter(part, state)
        if isinstance(part, nodes.Substitution):
            return self.substitution(part, state)
        if isinstance(part, nodes.Arithmetic):
            return self.arithmetic_value(part.parts, part.source, state)
        return unknown(part.source)

    def parts(self, parts: Sequence[Part], state: ShellState) -> ShellValue:
        """Return the value of several parts."""
        return tuple([piece for part in parts for piece in self.part(part, state)])

    def arithmetic_value(self, parts: Sequence[Part], source: str, state: ShellState) -> ShellValue:
        """Return the value of an arithmetic expression, which is unknown if it changes a
        variable.
        """
        value = self.parts(parts, state)
        sources = [value]

        def text(name: str) -> str | None:
            named = self.lookup(name, state) or ()
            sources.append(named)
            return text_of(named) if is_known(named) else None

        number = compute(text_of(value), text) if is_known(value) else None
        if number is None:
            return unknown(source)

        return derive_value(str(number), *sources)

    def known_text(self, name: str, state: ShellState) -> str | None:
        """Return the text of a variable, or None if it is not known."""
        value = self.lookup(name, state)
        return text_of(value) if value is not None and is_known(value) else None

    def lookup(self, name: str, state: ShellState) -> ShellValue | None:
        """Return a variable's value, or None if it is certainly unset."""
        variable = state.variables.get(name)
        if variable is not None:
            return variable.value
        if is_short_number(name):
            index = int(name)
            if index == 0:
                return unknown("$0")
            if index <= len(state.arguments):
                return state.arguments[index - 1]
            return None
        if name in ("@", "*"):
            return _join_with_spaces(state.arguments)
        if name == "#":
            return derive_value(str(len(state.arguments)))
        if name in ("?", "!"):
            return status_text(state.status if name == "?" else state.background, f"${name}")

        text = self.reads[name] = self.env.get(name)
        if text is None:
            return (Piece(f"${name}", "unset"),)
        if _PLACEHOLDER.search(text):
            return unknown(text)

        value = derive_value(text)
        return value if state.changed_by is None else as_assumed(value)

    def parameter(self, part: Parameter, state: ShellState) -> ShellValue:
        """Return the value of `$X`, or of another form of it."""
        value = self.item(part, state) if part.subscript else self.lookup(part.name, state)
        not_known = unknown(part.source)
        if value and not self.budget.allows(len(text_of(value)), part.source):
            return not_known

        operator = part.operator
        if not operator:
            return value or ()
        if operator in _DEFAULTS or operator in (":+", "+", ":?", "?"):
            return self.with_default(part, value, state)
        if _is_list(part):
            items = self.selected_items(part, state)
            return not_known if items is None else _join_with_spaces(items)
        if value is None:
            return ()

        argument = self.parts(part.argument, state)
        text = text_of(value)
        if (
            not is_known(value)
            or not is_known(argument)
            or part.subscript
            or len(text) > MAX_TEXT >> 4
        ):
            return not_known
        if operator == "!":
            return self.lookup(text, state) or ()
        if operator == ":":
            selected = self.selected_slice(part, len(text), state)
            if selected is None:
                return not_known
            return derive_value(text[selected], value, argument)

        changed = _change_text(text, operator, text_of(argument))
        return not_known if changed is None else derive_value(changed, value, argument)

    def item(self, part: Parameter, state: ShellState) -> ShellValue | None:
        """Return an item of an array, all of them, or their number."""
        items = self.items(part, state)
        not_known = unknown(part.source)
        if items is None:
            return not_known

        size = len(items)
        if part.subscript in ("@", "*"):
            if part.operator != "#":
                return _join_with_spaces(items)
            return derive_value(str(size)) if all(map(is_known, items)) else not_known

        index = not_known
        if _COMMAND.search(part.subscript) is None:
            # arithmetic takes names with and without a dollar sign
            index = self.arithmetic_value(
                (nodes.Literal(_DOLLAR.sub(r"\1", part.subscript)),), part.source, state
            )

        number = int(text_of(index)) if is_known(index) else size
        # an unknown item before it may be several, or none
        if not -size <= number < size or not all(map(is_known, items[: number % size])):
            return not_known

        return items[number]

    def items(self, part: Parameter, state: ShellState) -> Sequence[ShellValue] | None:
        """Return the items of `$@` or of an array, or None if they are not known."""
        if not part.subscript:
            return state.arguments
        variable = state.variables.get(part.name)
        if variable is None or variable.value is None:
            return None if variable is None else ()
        if variable.items is not None:
            return variable.items
        return [variable.value]

    def selected_items(self, part: Parameter, state: ShellState) -> Sequence[ShellValue] | None:
        """Return the items of `$@`, of an array, or of a part of them, or None if they are not
        known.
        """
        items = self.items(part, state)
        if items is None or not part.operator:
            return items
        if len(items) > MAX_ITEMS:
            return None
        if not part.subscript:
            items = (unknown("$0"), *items)
        if not all(map(is_known, items[1:])):
            return None
        selected = self.selected_slice(part, len(items), state)
        return None if selected is None else items[selected]

    def selected_slice(self, part: Parameter, size: int, state: ShellState) -> slice | None:
        """Return which part of a text or an array `${X:offset:length}` is, or None if that is
        not known.
        """
        argument = self.parts(part.argument, state)
        if not is_known(argument):
            return None

        texts = text_of(argument).split(":")
        numbers = [compute(text, lambda name: self.known_text(name, state)) for text in texts]
        first, length, *rest = (*numbers, size)
        if first is None or length is None or len(rest) > 1:
            return None

        if first < 0:
            # before the first character or item, the shell finds nothing
            first = first + size if first >= -size else size
        return slice(first, max(first, size + length) if length < 0 else first + length)

    def with_default(
        self, part: Parameter, value: ShellValue | None, state: ShellState
    ) -> ShellValue:
        """Return the value of `${X:-word}`, `${X:+word}`, `${X:=word}` or `${X:?word}`."""
        operator = part.operator
        has_value = value is not None and (not operator.startswith(":") or text_of(value) != "")
        may_be_set = value is not None and value[:1] != () and value[0].kind == "unset"
        if operator.endswith("+"):
            if may_be_set:
                return unknown(part.source)
            return self.parts(part.argument, state) if has_value else ()
        if has_value and not may_be_set:
            return value or ()
        if operator.endswith("?"):
            return value if value and may_be_set else unknown(part.source)

        default = self.parts(part.argument, state)
        if may_be_set:
            default = tuple(
                [Piece(piece.text, "default") if is_known((piece,)) else piece for piece in default]
            )
        if operator.endswith("="):
            state.variables[part.name] = Variable(default, state.is_exported(part.name))

        return default

    def expand_all(self, words: Sequence[Word], state: ShellState) -> list[Argument]:
        """Return the arguments that words become."""
        return [argument for word in words for argument in self.expand(word, state)]

    def expand(self, word: Word, state: ShellState) -> list[Argument]:
        """Return the arguments that a word becomes: none for an empty unquoted variable, several
        for an array.
        """
        if "{" not in word.source:
            return self.fields_of(word, state)
        words = _alternatives(word)
        self.alternatives += len(words) - 1
        if self.alternatives > _MOST_ALTERNATIVES:
            words = [word]
        return [
            argument for alternative in words for argument in self.fields_of(alternative, state)
        ]

    def fields_of(self, word: Word, state: ShellState) -> list[Argument]:
        """Return the arguments that a word without braces becomes."""
        fields = _Fields(word)
        for part in word.parts:
            if isinstance(part, nodes.Literal):
                fields.literal(part)
            elif isinstance(part, nodes.Parameter) and _is_list(part):
                items = self.selected_items(part, state)
                if items is None:
                    fields.add(unknown(part.source), may_split=True)
                elif part.quoted and "*" in (part.name, part.subscript):
                    fields.add(_join_with_spaces(items), is_quoted=True)
                elif part.quoted:
                    fields.add_all(items)
                else:
                    fields.split_all(items)
            elif part.quoted or any(
                getattr(inner, "quoted", False) for inner in getattr(part, "argument", ())
            ):
                fields.add(self.part(part, state), is_quoted=True)
            else:
                fields.split(self.part(part, state))

        return fields.arguments()


def _change_text(text: str, operator: str, argument: str) -> str | None:
    """Return a known text as `${X##word}` and its like change it, or None if that is not known."""
    if operator == "#" and not argument:
        return str(len(text))
    if operator[0] in "#%":
        return without_match(text, operator, argument)
    if operator in ("/", "//"):
        old, _, new = argument.partition("/")
        if _GLOB.search(old):
            return None
        anchor = old[:1]
        if operator == "/" and anchor in ("#", "%"):
            part = old[1:]
            kept = text.removeprefix(part) if anchor == "#" else text.removesuffix(part)
            if len(kept) == len(text):
                return text
            return new + kept if anchor == "#" else kept + new

        return text.replace(old, new, 1 if operator == "/" else -1)
    if argument:
        return None

    changed = text.upper() if operator[0] == "^" else text.lower()
    return changed if len(operator) == 2 else changed[:1] + text[1:]


def _alternatives(word: Word) -> list[Word]:
    """Return the words that `{a,b}` and `{1..3}` make of a word; bash expands them before
    anything else.
    """
    signs: list[Part | str] = []
    for part in word.parts:
        if isinstance(part, nodes.Literal) and not part.quoted:
            signs += part.text
        else:
            signs.append(part)
    opened = signs.count("{")
    if not 0 < opened <= _MAX_BRACES or len(signs) > MAX_ITEMS:
        return [word]
    return [word._replace(parts=_joined_signs(expanded)) for expanded in _without_braces(signs)]


def _without_braces(signs: list[Part | str]) -> list[list[Part | str]]:
    """Return the words that a word with braces such as `a{b,c}` stands for, or the word itself if
    there are none or too many.
    """
    for start in [index for index, sign in enumerate(signs) if sign == "{"]:
        depth = 0
        ends = [start]
        for end in range(start + 1, len(signs)):
            sign = signs[end]
            if sign == "," and not depth:
                ends.append(end)
            if sign == "}" and not depth:
                break
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
        else:
            continue

        inner = [signs[first + 1 : last] for first, last in pairwise([*ends, end])]
        options = inner if len(inner) > 1 else [[*text] for text in _range_of(inner[0])]
        if options:
            rests = _without_braces(signs[end + 1 :])
            middles = [middle for option in options for middle in _without_braces(option)]
            if len(middles) * len(rests) > _MAX_ALTERNATIVES:
                break
            return [[*signs[:start], *middle, *rest] for middle in middles for rest in rests]

    return [signs]


def _range_of(signs: Sequence[Part | str]) -> list[str]:
    """Return the texts of `1..3`, or none if the signs are something else."""
    match = _RANGE("".join([sign for sign in signs if isinstance(sign, str)]))
    if match is None or not all(isinstance(sign, str) for sign in signs):
        return []

    first = int(match["first"])
    last = int(match["last"])
    step = abs(int(match["step"] or 1)) or 1
    is_padded = any(
        text.lstrip("-").startswith("0") and len(text.lstrip("-")) > 1
        for text in match.group("first", "last")
    )
    width = max(map(len, match.group("first", "last"))) if is_padded else 0
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(numbers) <= _MAX_ALTERNATIVES:
        return [f"{number:0{width}}" for number in numbers]

    return []


def _joined_signs(signs: Sequence[Part | str]) -> tuple[Part, ...]:
    return merge_literals(
        [nodes.Literal(sign) if isinstance(sign, str) else sign for sign in signs]
    )


def _is_list(part: Parameter) -> bool:
    return part.operator in ("", ":") and (
        part.subscript in ("@", "*") or (part.name in ("@", "*") and not part.subscript)
    )


def _join_with_spaces(values: Sequence[ShellValue]) -> ShellValue:
    """Join values with spaces."""
    joined: list[Piece] = []
    for value in values:
        if joined:
            joined.append(Piece(" "))
        joined += value
    return tuple(joined)


class _Fields:
    """The arguments that a word becomes, part by part."""

    def __init__(self, word: Word) -> None:
        self.word = word
        self.fields: list[list[Piece]] = [[]]
        self.is_present = False
        """Whether the last field is an argument even if it is empty."""
        self.may_split = False
        self.has_dollar = False

    def add(self, value: ShellValue, *, is_quoted: bool = False, may_split: bool = False) -> None:
        self.fields[-1].extend(value)
        self.is_present = self.is_present or is_quoted or bool(value)
        self.may_split = self.may_split or may_split

    def literal(self, part: nodes.Literal) -> None:
        if not part.quoted and _GLOB.search(part.text):
            self.add(unknown(part.text), may_split=True)
        else:
            self.add((Piece(part.text),) if part.text else (), is_quoted=part.quoted)
        self.has_dollar = self.has_dollar or (part.quoted and "$" in part.text)

    def add_all(self, items: Sequence[ShellValue]) -> None:
        for index, item in enumerate(items):
            if index:
                self.fields.append([])
            self.fields[-1].extend(item)
            self.is_present = True
            self.may_split = self.may_split or not is_known(item)

    def split_all(self, items: Sequence[ShellValue]) -> None:
        for index, item in enumerate(items):
            if index and self.fields[-1]:
                self.fields.append([])
            self.split(item)

    def split(self, value: ShellValue) -> None:
        for piece in value:
            if not is_known((piece,)):
                self.add((piece,), may_split=True)
                continue
            for index, text in enumerate(_SPLIT.split(piece.text)):
                if index and self.fields[-1]:
                    self.fields.append([])
                if text:
                    self.add((piece._replace(text=text),))

    def arguments(self) -> list[Argument]:
        word = self.word
        fields = [tuple(field) for field in self.fields if field]
        if not fields and self.is_present:
            fields = [()]
        return [
            Argument(field, word.start, word.end, self.has_dollar, self.may_split)
            for field in fields
        ]
