"""The reading of a script: its commands in order, with what decides whether they start and what
their failure does.

Pods that differ only in variables that a script does not read share one reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.shell.calls import Files, ShellCall, no_files, shell_call
from ptcompile.shell.values import UNKNOWN, Argument, Doubt, ShellValue, derive_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.interpreter import Interpreter

_SHELL_COMMANDS = """
[ : . break cd continue date echo eval exit export false let printf read return set shift sleep source test trap true
ulimit umask unset wait
"""
SHELL_COMMANDS = frozenset(_SHELL_COMMANDS.split())
"""Commands of the shell, and programs that only tell or wait: none of them is what a container
is for.
"""
_MAX_SCRIPTS = 32
_MAX_READINGS = 64


class ShellCommand(NamedTuple):
    """A simple command that may run, with its arguments after all expansions."""

    argv: tuple[Argument, ...]
    variables: Mapping[str, ShellValue | None]
    """Exported variables that the script sets or, if None, unsets; the others are the
    container's.
    """
    start: int
    """Its place in the script, or in `file`."""
    file: str
    """The file that it is written in, or empty for the script itself."""
    doubt: Doubt | None
    """What decides whether it starts. None: it starts in each run in which no earlier command
    fails.
    """
    changed_by: Doubt | None
    """The unknown file that was sourced earlier."""
    in_background: bool
    in_loop: bool
    """Whether `while` or `until` may run it again."""
    is_endless: bool = False
    is_waited: bool = False
    """Whether the script waits for it, in the background."""
    fails_script: bool = False
    """Whether its failure makes the script fail."""
    in_substitution: bool = False
    """Whether it only computes a value, in `$(...)`."""

    @property
    def words(self) -> list[str]:
        """The arguments as texts; unknown parts are as written."""
        return [argument.text for argument in self.argv]


class Script(NamedTuple):
    """A script that was read."""

    call: ShellCall
    commands: tuple[ShellCommand, ...]
    """In order. Commands that certainly do not run are left out."""
    endless: str
    """The first command or loop that never ends, or empty if the script ends."""
    may_fail: bool
    """Whether it fails anyway, or ends with a status that is not known, such as that of an
    unknown variable.
    """
    unread: Doubt | None
    """A part that cannot be read, or None if everything was followed."""
    refused: str | None
    """The first expansion that exceeds what expansions may add, or None."""


class _Reading(NamedTuple):
    variables: Mapping[str, str | None]
    files: Mapping[str, str | None]
    script: Script


_readings: dict[tuple[ShellCall, str], list[_Reading]] = {}


def read_script(
    argv: Sequence[str], env: Mapping[str, str], files: Files = no_files, folder: str = ""
) -> Script | None:
    """Return what the script of a command line runs, or None if no shell runs a known script.

    `files` has the container's files, and `folder` is its working folder, or empty if that is not
    known.
    """
    call = shell_call(argv, files, folder)
    if call is None:
        return None

    key = (call, folder)
    if key not in _readings and len(_readings) >= _MAX_SCRIPTS:
        _readings.clear()
    readings = _readings.setdefault(key, [])
    for reading in readings:
        is_same = all(env.get(name) == value for name, value in reading.variables.items())
        if is_same and all(files(path) == text for path, text in reading.files.items()):
            return reading.script

    from ptcompile.shell.interpreter import Interpreter

    interpreter = Interpreter(env, files)
    script = follow(interpreter, call, folder)
    if len(readings) < _MAX_READINGS:
        readings.append(_Reading(interpreter.reads, interpreter.file_reads, script))

    return script


def follow(interpreter: Interpreter, call: ShellCall, folder: str) -> Script:
    """Return what a script runs, as far as an interpreter follows it."""
    from ptcompile.shell.interpreter import LimitError
    from ptcompile.shell.state import ShellState

    state = ShellState(
        interpreter.env, [derive_value(argument) for argument in call.arguments[1:]], folder
    )
    state.errexit = call.errexit
    state.pipefail = call.pipefail
    unread = None
    status = UNKNOWN
    try:
        status = interpreter.run_text(call.text, state, call.file, is_own=True)
    except (LimitError, RecursionError):
        unread = Doubt(interpreter.text.count("\n") + 1, "what follows", "text")

    commands = [
        command._replace(
            fails_script=index in status.failing, is_waited=index in interpreter.waited
        )
        for index, command in enumerate(interpreter.commands)
    ]

    return Script(
        call=call,
        commands=tuple(commands),
        endless=interpreter.endless,
        may_fail=interpreter.may_fail or status.code not in (0, None),
        unread=unread or interpreter.unread,
        refused=interpreter.budget.refused,
    )
