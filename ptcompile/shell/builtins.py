"""Commands that the shell runs itself, as far as they change what a script does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from posixpath import join as join_path

from ptcompile._internal.spelling import is_short_number
from ptcompile.shell.patterns import decide
from ptcompile.shell.values import (
    FAILED,
    OK,
    UNKNOWN,
    Argument,
    ExitStatus,
    Piece,
    Variable,
    is_known,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.interpreter import Interpreter
    from ptcompile.shell.nodes import ShellAssignment
    from ptcompile.shell.state import ShellState

    Argv = Sequence[Argument]
    Builtin = Callable[[Interpreter, Argv, ShellState], ExitStatus | None]
    """Returns the status, or None for that of a program."""

NAME = re.compile(r"[A-Za-z_]\w*")
"""The name of a variable."""
_HARMLESS_FILE = re.compile(
    r"(?:.*/)?(?:activate|conda\.sh|mamba\.sh|\.?bashrc|\.?profile|\.bash_profile)$|/etc/profile(?:\.d/.*)?$"
).match
"""Files of the image that set PATH and prompts, and leave the launch's variables alone."""


def declare(
    interpreter: Interpreter, assignments: Sequence[ShellAssignment], argv: Argv, state: ShellState
) -> ExitStatus:
    """Run `export`, `local`, `declare`, `readonly` or `typeset`."""
    command, *words = [argument.text for argument in argv]
    if command in ("local", "declare", "typeset") and "-g" not in words and interpreter.hidden:
        names = [item.name for item in assignments]
        for word in words:
            name, _, _ = word.partition("=")
            names.append(name)
        for name in names:
            interpreter.hidden[-1].setdefault(name, state.variables.get(name))
            state.variables[name] = Variable(None)

    exports = command == "export" or any(word.startswith("-") and "x" in word for word in words)
    for assignment in assignments:
        variable = interpreter.assigned(assignment, state)
        state.variables[assignment.name] = variable._replace(
            is_exported=exports or variable.is_exported
        )

    for argument in argv[1:]:
        name, equals, text = argument.text.partition("=")
        if equals and NAME.fullmatch(name):
            value = (Piece(text),) if is_known(argument.value) else unknown(text)
            state.variables[name] = Variable(value, exports)
        elif exports and name in state.variables:
            state.variables[name] = state.variables[name]._replace(is_exported="-n" not in words)

    return OK


def _status_of(argument: Argument) -> ExitStatus:
    """Return the status that a number or a kept `$?` stands for."""
    if is_short_number(argument.text, 19):
        return ExitStatus(int(argument.text) & 255)
    status = argument.value[0].status if argument.value else None
    return status or UNKNOWN


def _exit(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    command, *arguments = argv
    status = _status_of(arguments[0]) if arguments else state.status
    interpreter.end("exit" if command.text == "exit" else "return", status, state)
    return status


def _leave_loop(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    interpreter.end("break" if argv[0].text == "break" else "continue", OK, state)
    return OK


def _set(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    """Run `set`: a hyphen switches an option on, a plus sign off."""
    for index, argument in enumerate(argv):
        word = argument.text
        if word == "--":
            state.arguments = tuple([item.value for item in argv[index + 1 :]])
            break
        if word[:1] not in ("-", "+"):
            continue

        name = argv[index + 1].text if "o" in word and argv[index + 1 :] else ""
        if "e" in word or name == "errexit":
            state.errexit = word.startswith("-")
        if name == "pipefail":
            state.pipefail = word.startswith("-")

    return OK


def _unset(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    for argument in argv[1:]:
        state.variables[argument.text] = Variable(None, True)
    return OK


def _source(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus | None:
    command, *arguments = argv
    if not arguments:
        return FAILED

    argument = arguments[0]
    file = argument.text
    text = interpreter.file_text(file, state) if is_known(argument.value) else None
    if text is None:
        if not _HARMLESS_FILE(file):
            state.source_unknown(interpreter.doubt_at(command.start, argv[-1].end, "file"))
        return None

    returns = interpreter.returns
    interpreter.returns = []
    status = interpreter.run_text(text, state, file)
    interpreter.returns = returns
    state.leave("return")

    return status


def _eval(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    command, *arguments = argv
    if not all(is_known(argument.value) for argument in argv):
        state.source_unknown(interpreter.doubt_at(command.start, argv[-1].end, "file"))
    text = " ".join([argument.text for argument in arguments])
    return interpreter.run_text(text, state, interpreter.file)


def _exec(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    """Run `exec PROGRAM`, which ends the script, or `exec > file`, which does not."""
    _, *rest = argv
    while rest and rest[0].text.startswith("-"):
        del rest[: 2 if rest[0].text == "-a" else 1]
    interpreter.commands.pop()
    if not rest:
        return OK

    status = interpreter.program(rest, state, {}, is_exec=True)
    if not state.ended:
        interpreter.end("exit", status, state)

    return status


def _wait(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    """Run `wait`: for all commands in the background, or for one whose status it returns."""
    command, *arguments = argv
    waited = interpreter.running
    interpreter.waited |= waited
    if not arguments:
        if any(interpreter.commands[index].is_endless for index in waited):
            interpreter.never_ends(command.text, state)
        return OK

    status = _status_of(arguments[0])
    if status != UNKNOWN:
        return status
    return ExitStatus(None, frozenset(waited))


def _read(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    words = [argument.text for argument in argv[1:]]
    state.forget([word for word in words if NAME.fullmatch(word)])
    document = interpreter.stdin
    interpreter.stdin = ()
    # `read -d ""` reads a here-document to its end, where the status is 1
    if document and ("-d", "") in pairwise(words):
        name = words[-1]
        state.variables[name] = Variable(document, state.is_exported(name))
    return UNKNOWN


def _shift(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    count = argv[1].text if argv[1:] else "1"
    state.arguments = state.arguments[int(count) if is_short_number(count, 19) else 1 :]
    return OK


def _test(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus:
    if any(argument.may_split and argument.value[0].status is None for argument in argv):
        return UNKNOWN
    command, *arguments = argv
    words = [argument.value for argument in arguments]
    return decide(words[:-1] if command.text == "[" else words, is_double=False)


def _cd(interpreter: Interpreter, argv: Argv, state: ShellState) -> ExitStatus | None:
    """Run `cd`, whose status is left open; after an unknown folder the current one is unknown."""
    match argv:
        case [_, folder] if is_known(folder.value):
            state.folder = join_path(state.folder, folder.text)
        case _:
            state.folder = ""
    return None


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(
        ("true", ":", "echo", "printf", "pwd", "shopt", "umask", "trap"), lambda *_: OK
    ),
    **dict.fromkeys(("read", "mapfile", "readarray"), _read),
    **dict.fromkeys(("exit", "return"), _exit),
    **dict.fromkeys(("break", "continue"), _leave_loop),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("[", "test"), _test),
    "cd": _cd,
    "eval": _eval,
    "exec": _exec,
    "false": lambda *_: FAILED,
    "let": lambda *_: UNKNOWN,
    "set": _set,
    "shift": _shift,
    "unset": _unset,
    "wait": _wait,
}
