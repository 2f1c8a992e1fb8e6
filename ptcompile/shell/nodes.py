"""The syntax tree of a shell script. Places are offsets in characters into its text.

A compound command keeps the place of its head, such as `if [ -n "$X" ]` or `while true`, which
findings quote.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False


class Literal(NamedTuple):
    """Text without expansions."""

    text: str
    quoted: bool = False


class Parameter(NamedTuple):
    """`$X`, `${X}`, `${X:-word}`, `${X[@]}`, `${#X}`, `${!X}`."""

    name: str
    quoted: bool
    source: str
    operator: str = ""
    argument: tuple[Part, ...] = ()
    subscript: str = ""
    """What is between `[` and `]`, or empty."""


class Substitution(NamedTuple):
    """`$(commands)`, also in backquotes."""

    body: Sequence
    quoted: bool
    source: str


class Arithmetic(NamedTuple):
    """`$((expression))`."""

    parts: tuple[Part, ...]
    quoted: bool
    source: str


class Opaque(NamedTuple):
    """A part that is not modeled: `<(commands)`, an extended pattern, an unusual `${...}`."""

    source: str
    quoted: bool = True


class Word(NamedTuple):
    """A word, an argument of a command unless expansions split or remove it."""

    parts: tuple[Part, ...]
    start: int
    end: int
    source: str


class ShellAssignment(NamedTuple):
    """`NAME=value`, or `NAME=(items)`."""

    name: str
    value: Word | None
    items: tuple[Word, ...] | None
    appends: bool


class Redirection(NamedTuple):
    """`> file`; of a here-document or here-string, the text is the body."""

    operator: str
    target: Word | None
    body: Word | None
    descriptor: str


class Simple(NamedTuple):
    """Assignments, or a program with its arguments."""

    start: int
    end: int
    assignments: tuple[ShellAssignment, ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]


class Test(NamedTuple):
    """`[[ ... ]]`: its words and operators in order. `[` is a simple command."""

    start: int
    end: int
    words: tuple[Word, ...]


class ArithmeticCommand(NamedTuple):
    """`((expression))`."""

    start: int
    end: int
    parts: tuple[Part, ...]


class Pipeline(NamedTuple):
    """Commands between `|`, or one after `!`."""

    start: int
    end: int
    commands: tuple[Node, ...]
    is_negated: bool


class AndOr(NamedTuple):
    """`left && right`, `left || right`; the head is the left side with the operator."""

    start: int
    end: int
    left: Node
    operator: str
    right: Node


class Started(NamedTuple):
    """A command of a sequence, and whether `&` follows it."""

    node: Node
    in_background: bool


Sequence = tuple[Started, ...]


class Branch(NamedTuple):
    """A condition of `if` with its body; the head is the condition with its `if` or `elif`."""

    start: int
    end: int
    condition: Sequence
    body: Sequence


class If(NamedTuple):
    """`if`, with a branch for each condition."""

    start: int
    end: int
    branches: tuple[Branch, ...]
    otherwise: Sequence


class Loop(NamedTuple):
    """`while` or `until`."""

    start: int
    end: int
    is_until: bool
    condition: Sequence
    body: Sequence


class For(NamedTuple):
    """`for NAME in WORDS`; without `in`, the words are None: the arguments. The words of `for
    ((...))` are unknown.
    """

    start: int
    end: int
    name: str
    words: tuple[Word, ...] | None
    body: Sequence


class Choice(NamedTuple):
    """A list of patterns of `case`, with its body and that of the next one after `;&`; the head
    is that of `case`.
    """

    start: int
    end: int
    patterns: tuple[Word, ...]
    body: Sequence


class Case(NamedTuple):
    """`case WORD in`."""

    start: int
    end: int
    word: Word
    choices: tuple[Choice, ...]


class Function(NamedTuple):
    """The definition of a function."""

    start: int
    end: int
    name: str
    body: Node


class Group(NamedTuple):
    """`{ commands; }`, or `(commands)` in another shell."""

    start: int
    end: int
    body: Sequence
    is_subshell: bool


class Unreadable(NamedTuple):
    """The rest of a text from its first syntax error on; bash stops there too."""

    start: int
    end: int


class ScriptTree(NamedTuple):
    """A whole script."""

    body: Sequence
    error: int | None
    """Offset of the first syntax error, or None."""


def walk(node: object) -> Iterator[object]:
    """Yield everything inside a node, and the node."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, tuple):
            waiting += reversed(node)


if TYPE_CHECKING:
    Part = Literal | Parameter | Substitution | Arithmetic | Opaque
    Node = (
        Simple | Test | ArithmeticCommand | Pipeline | AndOr | If | Loop | For | Case | Function
        | Group | Unreadable
    )  # fmt: skip
