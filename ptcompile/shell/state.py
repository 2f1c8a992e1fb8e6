"""The known state of a script as far as it has run, and how the states of branches are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile.shell.values import OK, Doubt, ExitStatus, Piece, ShellValue, Variable, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.nodes import Node
    from ptcompile.shell.values import HowEnded

_INNERMOST_FIRST: tuple[HowEnded, ...] = ("continue", "break", "return", "exit", "endless")
"""What ends a run of commands, from what ends the fewest."""


class ShellState:
    """A point of a script. Branches work on copies."""

    def __init__(
        self, env: Mapping[str, str], arguments: Sequence[ShellValue], folder: str
    ) -> None:
        self.env = env
        self.variables: dict[str, Variable] = {}
        """Variables that the script sets; the others are the container's."""
        self.functions: dict[str, tuple[Node, str, str]] = {}
        """Each with the text that has it, and the file."""
        self.arguments = tuple(arguments)
        self.folder = folder
        """The working folder, or empty if it is not known."""
        self.errexit = self.pipefail = False
        self.doubts: tuple[Doubt, ...] = ()
        """What decides whether this point is reached. Empty: each run reaches it in which no
        command fails.
        """
        self.ended: HowEnded = ""
        """What keeps the next command from running."""
        self.failing: frozenset[int] = frozenset()
        """Commands that have failed if this point is reached."""
        self.changed_by: Doubt | None = None
        """The first unknown file that was sourced: it may set any variable."""
        self.status = OK
        """`$?`."""
        self.background = OK
        """`$!`, as the status of its commands."""

    @property
    def reaches_next(self) -> bool:
        """Whether the next command runs."""
        return not self.ended

    def copy(self) -> ShellState:
        """Return a state whose changes leave this one alone."""
        other = ShellState.__new__(ShellState)
        other.__dict__ |= self.__dict__ | {
            "variables": dict(self.variables),
            "functions": dict(self.functions),
        }
        return other

    def become(self, other: ShellState) -> None:
        """Take over another state."""
        self.__dict__ |= other.__dict__

    def branch(self, doubt: Doubt, failing: frozenset[int]) -> ShellState:
        """Return the state in a branch that a doubt decides, where some commands have failed."""
        taken = self.copy()
        taken.doubts = (*self.doubts, doubt)
        taken.failing = self.failing | failing
        return taken

    def forget(self, names: Iterable[str]) -> None:
        """Make variables unknown."""
        for name in names:
            self.variables[name] = Variable(unknown(f"${name}"), self.is_exported(name))

    def is_exported(self, name: str) -> bool:
        """Return whether programs that are started see a variable."""
        if name in self.variables:
            return self.variables[name].is_exported
        return name in self.env

    def leave(self, *ends: HowEnded) -> None:
        """Go on after the loop, the function or the script that `break`, `return` or `exit` has
        ended.
        """
        if self.ended in ends:
            self.ended = ""
        self.doubts = tuple([doubt for doubt in self.doubts if doubt.until not in ends])

    def source_unknown(self, doubt: Doubt) -> None:
        """Source an unknown file: it may change each variable."""
        self.changed_by = self.changed_by or doubt
        for name, variable in self.variables.items():
            if variable.value is not None:
                self.variables[name] = variable._replace(value=as_assumed(variable.value))


def as_assumed(value: ShellValue) -> ShellValue:
    """Return a value that an unknown file may have changed."""
    return tuple(
        [
            piece if piece.kind in ("unknown", "unset") else Piece(piece.text, "assumed")
            for piece in value
        ]
    )


def join(state: ShellState, outcomes: Sequence[ShellState], doubt: Doubt) -> None:
    """Go on after branches of which a doubt decides one.

    A branch that ended with a failure leaves no doubt about what follows: the script has failed
    then.
    """
    alive = [outcome for outcome in outcomes if not outcome.ended]
    if not alive:
        ends = {outcome.ended for outcome in outcomes}
        first = next((end for end in _INNERMOST_FIRST if end in ends), "failure")
        alive = [outcome for outcome in outcomes if outcome.ended == first]

    lasting: dict[Doubt, None] = {}
    for outcome in outcomes:
        lasting |= dict.fromkeys(inner for inner in outcome.doubts if inner.until)
        if outcome.ended not in ("", "failure", alive[0].ended):
            lasting[doubt._replace(until=outcome.ended)] = None

    failing = state.failing
    doubts = dict.fromkeys((*state.doubts, *lasting))
    merged = alive[0].copy()
    merged.variables = _merged_variables([outcome.variables for outcome in alive])
    for outcome in alive[1:]:
        merged.functions |= outcome.functions
        merged.errexit |= outcome.errexit
        merged.pipefail |= outcome.pipefail
        merged.changed_by = merged.changed_by or outcome.changed_by
        if merged.folder != outcome.folder:
            merged.folder = ""

    state.become(merged)
    state.doubts = tuple(doubts)
    # if only one branch is alive, the commands that failed on the way to it are known
    state.failing = failing if len(alive) > 1 else alive[0].failing


def _merged_variables(branches: Sequence[Mapping[str, Variable]]) -> dict[str, Variable]:
    """Return the variables after branches of which a doubt decides one: a variable that differs
    between them is unknown.
    """
    if len(branches) == 1:
        return dict(branches[0])

    merged: dict[str, Variable] = {}
    for name in dict.fromkeys(name for branch in branches for name in branch):
        values = [branch.get(name) for branch in branches]
        first = values[0]
        if first is not None and all(value == first for value in values):
            merged[name] = first
        else:
            is_exported = any(value is not None and value.is_exported for value in values)
            merged[name] = Variable(unknown(f"${name}"), is_exported)

    return merged


def status_text(status: ExitStatus, sign: str) -> ShellValue:
    """Return the value of `$?` or `$!`."""
    if status.code is None or sign == "$!":
        return (Piece(sign, "unknown", status),)
    return (Piece(str(status.code), "variable"),)
