"""Values of words, exit statuses, and doubts: what a script is known to do, and what decides the
rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    PieceKind = Literal["literal", "variable", "default", "assumed", "unknown", "unset"]
    DoubtKind = Literal["branch", "file", "text"]
    HowEnded = Literal["", "continue", "break", "return", "exit", "endless", "failure"]

MAX_TEXT = 1 << 16
"""Maximum number of characters of a script or a value; the rest of a script is not read."""


class Doubt(NamedTuple):
    """Something outside the files that decides what a script runs."""

    line: int
    text: str
    """The condition, or the command that reads the unknown file or text, as written."""
    kind: DoubtKind = "branch"
    """`branch` decides whether a command starts; a `file` or `text` that is not known may do
    anything.
    """
    until: HowEnded = ""
    """What ended the other branch, which lasts until the loop, the function or the script ends."""
    file: str = ""
    """The file that the line is in, or empty for the script itself."""

    def sentence(self, program: str) -> str:
        """Return what is in doubt about a program that the script starts."""
        place = f"line {self.line}" + (f" of {self.file}" if self.file else "")
        if self.kind == "text":
            return f"{place}: `{self.text}` cannot be read"
        verb = "decides whether" if self.kind == "branch" else "may change how"
        return f"{place}: `{self.text}` {verb} {program} starts"


class ExitStatus(NamedTuple):
    """An exit status: a number, or that of commands, by their indexes in the script."""

    code: int | None = None
    of: frozenset[int] = frozenset()
    """Commands whose failure is this status' failure."""
    is_negated: bool = False
    """Whether their failure is success instead."""

    @property
    def failing(self) -> frozenset[int]:
        """The commands of which a failure gives this status."""
        return frozenset() if self.is_negated else self.of

    @property
    def succeeding(self) -> frozenset[int]:
        """The commands of which a failure is turned into a success."""
        return self.of if self.is_negated else frozenset()

    def negate(self) -> ExitStatus:
        """Return the status of `! command`."""
        if self.code is not None:
            return ExitStatus(int(self.code == 0))
        return self._replace(is_negated=not self.is_negated)

    def compare(self, sign: str) -> ExitStatus:
        """Return the status of `[ $? -ne 0 ]`, or of another comparison with 0."""
        if sign in ("-eq", "=", "=="):
            return self
        return self.negate() if sign in ("-ne", "!=", "-gt") else UNKNOWN


OK = ExitStatus(0)
FAILED = ExitStatus(1)
UNKNOWN = ExitStatus()


def any_of(statuses: Iterable[ExitStatus], fatal: Iterable[int] = ()) -> ExitStatus:
    """Return the status if it is known only that one of several becomes the result, or that a
    `fatal` command fails.
    """
    statuses = [*statuses]
    failing = frozenset(fatal).union(*(status.failing for status in statuses))
    if not failing and len({*statuses}) == 1:
        return statuses[0]
    return ExitStatus(None, failing)


class Piece(NamedTuple):
    """A part of a value."""

    text: str
    """The text; of an unknown part, as written: `$(date)`."""
    kind: PieceKind = "literal"
    """`variable`: from the container's environment; `default`: of `${X:-8}`, where the image may
    set X; `assumed`: known, unless an unknown file changed it; `unset`: unknown, because only the
    image may set it.
    """
    status: ExitStatus | None = None
    """Of `$?`, the status; of `$!`, that of the background commands."""


ShellValue = tuple[Piece, ...]

_UNKNOWN_KINDS = frozenset({"unknown", "unset"})
_CERTAIN_KINDS = frozenset({"literal", "variable"})


def text_of(value: ShellValue) -> str:
    """Return a value as text; unknown parts are as written."""
    return "".join([piece.text for piece in value])


def is_known(value: ShellValue) -> bool:
    """Return whether all parts have a text."""
    return all(piece.kind not in _UNKNOWN_KINDS for piece in value)


def is_certain(value: ShellValue) -> bool:
    """Return whether a condition can be decided by a value: neither the image nor an unknown
    file may change it.
    """
    return all(piece.kind in _CERTAIN_KINDS for piece in value)


def unknown(source: str) -> ShellValue:
    """Return an unknown value, as written."""
    return (Piece(source, "unknown"),)


def derive_value(text: str, *sources: ShellValue) -> ShellValue:
    """Return a text that was computed from other values, and is as certain as they are."""
    kinds = {piece.kind for source in sources for piece in source}
    if "assumed" in kinds:
        return (Piece(text, "assumed"),)
    return (Piece(text, "default" if "default" in kinds else "variable"),)


class Argument(NamedTuple):
    """A word of a command after all expansions, with its place in the text."""

    value: ShellValue
    start: int
    end: int
    has_literal_dollar: bool = False
    """Whether single quotes or a backslash keep a `$` from being expanded."""
    may_split: bool = False
    """Whether an unquoted unknown value may become several words, or none."""

    @property
    def text(self) -> str:
        """The argument; unknown parts are as written."""
        return text_of(self.value)


class Variable(NamedTuple):
    """A variable of the script."""

    value: ShellValue | None
    """None if it is unset."""
    is_exported: bool = False
    items: tuple[ShellValue, ...] | None = None
    """Of an array."""
