"""What a batch script starts: its steps, in the values that they have when they start.

The reader of shell scripts follows the script with the variables of the allocation. Steps of srun
are not entered there: their options decide about nodes and tasks, and each task has other
variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.importer.slurm.containers import StepContainer, enter_container
from ptcompile.importer.slurm.directives import Options, last_values, read_options, rows_of
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.shell.calls import ShellCall, no_files
from ptcompile.shell.interpreter import Interpreter
from ptcompile.shell.nodes import Parameter, ShellAssignment
from ptcompile.shell.script import SHELL_COMMANDS, ShellCommand, follow, read_script
from ptcompile.shell.state import ShellState
from ptcompile.shell.values import (
    Argument,
    Doubt,
    ExitStatus,
    Piece,
    ShellValue,
    Variable,
    is_known,
    text_of,
)
from ptcompile.simulator.launchers.command import Invocation, read_command_line

_MAX_STEPS = 64
_TASK_VARIABLES = frozenset({"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"})
"""Variables that differ from task to task, so that the batch shell does not know their values."""
_ARGUMENTS = frozenset("123456789@*#")
"""The parameters that have arguments of sbatch."""
_RUNNERS = frozenset({"run", "exec", "x"})


class ScriptStep(NamedTuple):
    """A program that a batch script starts."""

    command: ShellCommand
    variables: Mapping[str, Variable]
    """All variables of the script when the program starts."""
    options: Options
    """Options of srun."""
    is_parallel: bool
    """Whether srun starts it, in each task."""
    container: StepContainer
    argv: tuple[str, ...]
    """The command line after srun and the container."""
    invocation: Invocation
    env: Mapping[str, str]
    """Variables that the script sets for it, those of a shell inside srun too; values may have
    unknown parts.
    """
    prepares: tuple[Sequence[str], ...]
    """Commands of a shell inside srun that only prepare."""

    @property
    def program(self) -> str:
        """The name of the program, such as `python`."""
        entry = self.invocation.entry
        if self.invocation.launcher in ("command", "image"):
            return "".join(map(basename, entry[unwrap(entry).start :][:1]))
        return self.invocation.launcher

    @property
    def written(self) -> tuple[int, str]:
        """Where the step is written, and its program: the same for each round of a loop."""
        return self.command.start, self.command.words[0]

    @property
    def place(self) -> tuple[int, int]:
        """The start and the end of its command line in the script."""
        return place_of(self.command)


class FollowedScript(NamedTuple):
    """What a batch script runs."""

    steps: tuple[ScriptStep, ...]
    setup: tuple[ShellCommand, ...]
    """Commands that only prepare or report."""
    unread: Doubt | None
    """A part that cannot be followed."""
    variables: Mapping[str, Variable]
    """The variables at the end of the script, those that functions hide left out."""
    reads: frozenset[str]
    """Variables that the script takes from outside."""
    effort: int
    """Number of commands that were followed."""


class BatchInterpreter(Interpreter):
    """Follows a batch script: variables of its user are unknown, and steps of srun are not
    entered.
    """

    def __init__(self, env: Mapping[str, str], symbols: Mapping[str, str]) -> None:
        super().__init__(env, no_files)
        self.symbols = symbols
        """Texts that stand for the values of variables, by the variables' names."""
        self.seen: dict[int, Mapping[str, Variable]] = {}
        """The variables at the start of each program, by the program's index."""
        self.last: Mapping[str, Variable] = {}

    def assigned(self, assignment: ShellAssignment, state: ShellState) -> Variable:
        """Return what an assignment makes of a variable, or the text that stands for it."""
        variable = super().assigned(assignment, state)
        symbol = self.symbols.get(assignment.name)
        if symbol is None:
            return variable
        return variable._replace(value=(Piece(symbol),), items=None)

    def lookup(self, name: str, state: ShellState) -> ShellValue | None:
        """Return a variable's value; arguments of sbatch are unknown, unless they are given."""
        if state.arguments or name not in _ARGUMENTS:
            return super().lookup(name, state)
        return (Piece(f"${name}", "unset" if name.isdigit() else "unknown"),)

    def items(self, part: Parameter, state: ShellState) -> Sequence[ShellValue] | None:
        """Return the items of an array or of `$@`, which are unknown unless they are given."""
        if not part.subscript and not state.arguments:
            return None
        return super().items(part, state)

    def program(
        self,
        argv: Sequence[Argument],
        state: ShellState,
        assigned: Mapping[str, Variable],
        *,
        is_exec: bool = False,
    ) -> ExitStatus:
        """Note the variables at the start of a program; follow it if it is a script, and not a
        step of srun.
        """
        first = len(self.commands)
        self.last = state.variables
        if _srun_index([argument.text for argument in argv]) is None:
            status = super().program(argv, state, assigned, is_exec=is_exec)
        else:
            self.stdin = ()
            status = ExitStatus(None, frozenset({self.record(argv, state, assigned)}))
        if len(self.commands) > first and len(self.seen) < _MAX_STEPS and not self.in_substitution:
            self.seen[first] = {**state.variables, **assigned}

        return status


def follow_batch(
    text: str,
    env: Mapping[str, str],
    arguments: Sequence[str],
    symbols: Mapping[str, str],
    options: Options,
) -> FollowedScript:
    """Return what a batch script with these options of sbatch runs with these variables and
    arguments.

    `symbols` are texts that stand for the values of variables that the script assigns.
    """
    call = ShellCall(
        text=text,
        position=0,
        file="",
        errexit=False,
        pipefail=False,
        arguments=("bash", *arguments),
    )
    interpreter = BatchInterpreter(env, symbols)
    script = follow(interpreter, call, "")

    steps: list[ScriptStep] = []
    setup: list[ShellCommand] = []
    for index, command in enumerate(script.commands):
        variables = interpreter.seen.get(index)
        step = None if variables is None else _step(command, variables, env, options)
        if step is not None and not _is_setup(step):
            steps.append(step)
        elif not command.in_substitution:
            setup.append(command)

    return FollowedScript(
        steps=tuple(steps),
        setup=tuple(setup),
        unread=script.unread,
        variables=interpreter.last,
        reads=frozenset(interpreter.reads),
        effort=interpreter.steps,
    )


def _step(
    command: ShellCommand,
    variables: Mapping[str, Variable],
    env: Mapping[str, str],
    options: Options,
) -> ScriptStep:
    """Return what a command starts, after srun, containers and shells."""
    argv = command.words
    srun = _srun_index(argv)
    own = Options()
    if srun is not None:
        given, argv = read_options(argv[srun + 1 :], place_of(command))
        own = Options({option.name: option for option in given})
        # a task has its own rank
        env = {name: value for name, value in env.items() if name not in _TASK_VARIABLES}

    container, argv = enter_container(argv, Options({**options, **last_values(own.values())}))

    exported = {name: value for name, value in command.variables.items() if value is not None}
    inner = {**env, **{name: text_of(value) for name, value in exported.items() if is_known(value)}}
    invocation = read_command_line(argv, inner)
    script = read_script(argv, inner)
    words = [each.words for each in script.commands] if script is not None else []

    return ScriptStep(
        command=command,
        variables=variables,
        options=own,
        is_parallel=srun is not None,
        container=container,
        argv=tuple(argv),
        invocation=invocation,
        env={
            **{name: text_of(value) for name, value in exported.items()},
            **{name: value for name, value in invocation.env.items() if inner.get(name) != value},
        },
        prepares=tuple([each for each in words if setup_kind(each)]),
    )


def place_of(command: ShellCommand) -> tuple[int, int]:
    """Return the start and the end of a command in the script."""
    return command.start, command.argv[-1].end


def _srun_index(words: Sequence[str]) -> int | None:
    """Return the index of srun in a command line, also after wrappers such as `time`, or None
    without srun.
    """
    before = words[: unwrap(words).start + 1]
    return next((index for index, word in enumerate(before) if basename(word) == "srun"), None)


def setup_kind(words: Sequence[str]) -> str:
    """Return what a command of a script is about, other than training: `module`, `environment`,
    ..., or nothing.
    """
    name = "".join(map(basename, words[:1]))
    kinds: Mapping[str, Sequence[str]] = rows_of("setup")
    kind = next((kind for kind, names in kinds.items() if name in names), "")
    if kind == "environment" and words[1:] and words[1] in _RUNNERS:
        return ""
    return kind or ("silent" if name in SHELL_COMMANDS else "")


def _is_setup(step: ScriptStep) -> bool:
    """Return whether a step only prepares or prints something."""
    entry = step.invocation.entry
    if step.invocation.launcher != "command":
        return False

    lines = (step.argv, entry, entry[unwrap(entry).start :])
    is_snippet = step.program.startswith("python") and "-c" in entry[1:3]

    return (
        not step.argv
        or step.argv[0].startswith(("$(", "`"))
        or any(map(setup_kind, lines))
        or setup_kind(step.command.words) not in ("", "silent")
        or is_snippet
        or (step.program in SHELLS and step.invocation.in_shell)
    )


def rank_of(step: ScriptStep, processes: int) -> int:
    """Return how likely a step is the one that trains; `processes` is how many of it srun
    starts.
    """
    if step.invocation.launcher not in ("command", "image"):
        return 5
    if step.program.startswith("python") or step.program.endswith(".py"):
        return 3 + (step.is_parallel and processes > 1) + step.is_parallel
    if step.is_parallel or step.program in SHELLS or "/" in step.argv[0]:
        return 2
    return 1
