"""What a batch script starts: its steps, in the values that they have when they start.

The reader of shell scripts follows the script with the variables of the allocation. Steps of srun are not entered
there: their options decide about nodes and tasks, and each task has other variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm.containers import StepContainer, container_of_options, enter_container
from ptcompile.importer.slurm.directives import SlurmOption, last_values, read_options
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.shell.calls import ShellCall, no_files
from ptcompile.shell.interpreter import Interpreter
from ptcompile.shell.nodes import Parameter, ShellAssignment
from ptcompile.shell.script import SHELL_COMMANDS, Script, ShellCommand, follow, read_script
from ptcompile.shell.state import ShellState
from ptcompile.shell.values import Argument, ExitStatus, Piece, ShellValue, Variable, is_known, text_of
from ptcompile.simulator.launchers.command import Invocation, read_command_line

_MAX_STEPS = 64
_TASK_VARIABLES = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
"""Variables that differ from task to task, so that the batch shell does not know their values."""
_SRUN = "srun"
_RUNNERS = frozenset({"run", "exec", "x"})


class ScriptStep(NamedTuple):
    """A program that a batch script starts."""

    command: ShellCommand
    variables: Mapping[str, Variable]
    """All variables of the script when the program starts."""
    options: tuple[SlurmOption, ...]
    """Options of srun."""
    is_parallel: bool
    """Whether srun starts it, in each task."""
    container: StepContainer
    argv: tuple[str, ...]
    """The command line after srun and the container."""
    invocation: Invocation
    env: Mapping[str, str]
    """Variables that the script sets for it, those of a shell inside srun too; values may have unknown parts."""
    prepares: tuple[Sequence[str], ...]
    """Commands of a shell inside srun that only prepare."""

    @property
    def program(self) -> str:
        """The name of the program, such as `python`."""
        entry = self.invocation.entry
        if self.invocation.launcher in ("command", "image"):
            start = unwrap(entry).start
            return basename(entry[start]) if start < len(entry) else ""
        return self.invocation.launcher

    @property
    def place(self) -> tuple[int, tuple[str, ...]]:
        """Where it is written, the same for each round of a loop, and for which program."""
        return self.command.start, tuple(self.command.words[:1])


class FollowedScript(NamedTuple):
    """What a batch script runs."""

    script: Script
    steps: tuple[ScriptStep, ...]
    setup: tuple[ShellCommand, ...]
    """Commands that only prepare or report."""
    variables: Mapping[str, Variable]
    """The variables at the end of the script, those that functions hide left out."""
    reads: frozenset[str]
    """Variables that the script takes from outside."""
    effort: int
    """Number of commands that were followed."""


class BatchInterpreter(Interpreter):
    """Follows a batch script: variables of its user are unknown, and steps of srun are not entered."""

    def __init__(self, env: Mapping[str, str], symbols: Mapping[str, str]) -> None:
        super().__init__(env, no_files)
        self.symbols = symbols
        """Texts that stand for the values of variables, by the variables' names."""
        self.seen: dict[int, Mapping[str, Variable]] = {}
        """The variables at the start of each program, by the program's index."""
        self.last: ShellState | None = None

    def assigned(self, assignment: ShellAssignment, state: ShellState) -> Variable:
        """Return what an assignment makes of a variable, or the text that stands for it."""
        variable = super().assigned(assignment, state)
        symbol = self.symbols.get(assignment.name)
        return variable if symbol is None else variable._replace(value=(Piece(symbol),), items=None)

    def lookup(self, name: str, state: ShellState) -> ShellValue | None:
        """Return a variable's value; arguments of sbatch are unknown, unless they are given."""
        if name.isdigit() and int(name) > len(state.arguments) and not state.arguments:
            return (Piece(f"${name}", "unset"),)
        if name in ("@", "*", "#") and not state.arguments:
            return (Piece(f"${name}", "unknown"),)
        return super().lookup(name, state)

    def items(self, part: Parameter, state: ShellState) -> Sequence[ShellValue] | None:
        """Return the items of an array or of `$@`, which are unknown unless they are given."""
        return None if not part.subscript and not state.arguments else super().items(part, state)

    def program(
        self, argv: Sequence[Argument], state: ShellState, assigned: Mapping[str, Variable], *, is_exec: bool = False
    ) -> ExitStatus:
        """Note the variables at the start of a program; follow it if it is a script, and not a step of srun."""
        first = len(self.commands)
        self.last = state
        if _srun_index([argument.text for argument in argv]) is not None:
            self.stdin = ()
            status = ExitStatus(None, frozenset({self.record(argv, state, assigned)}))
        else:
            status = super().program(argv, state, assigned, is_exec=is_exec)
        if len(self.commands) > first and len(self.seen) < _MAX_STEPS and not self.in_substitution:
            self.seen[first] = {**state.variables, **assigned}
        return status


def follow_batch(
    text: str, env: Mapping[str, str], arguments: Sequence[str] = (), symbols: Mapping[str, str] | None = None
) -> FollowedScript:
    """Return what a batch script runs with these variables and arguments.

    `symbols` are texts that stand for the values of variables that the script assigns.
    """
    call = ShellCall(text=text, position=0, file="", errexit=False, pipefail=False, arguments=("bash", *arguments))
    interpreter = BatchInterpreter(env, symbols or {})
    script = follow(interpreter, call, "")

    steps: list[ScriptStep] = []
    setup: list[ShellCommand] = []
    for index, command in enumerate(script.commands):
        if command.in_substitution:
            continue
        step = _step(command, interpreter.seen.get(index, {}), env) if index in interpreter.seen else None
        if step is None or _is_setup(step):
            setup.append(command)
        else:
            steps.append(step)
    variables = interpreter.last.variables if interpreter.last is not None else {}
    return FollowedScript(
        script, tuple(steps), tuple(setup), variables, frozenset(interpreter.reads), interpreter.steps
    )


def _step(command: ShellCommand, variables: Mapping[str, Variable], env: Mapping[str, str]) -> ScriptStep:
    """Return what a command starts, after srun, containers and shells."""
    argv = command.words
    options: list[SlurmOption] = []
    srun = _srun_index(argv)
    is_parallel = srun is not None
    if srun is not None:
        options, program = read_options(argv[srun + 1 :], command.start, command.argv[-1].end, is_step=True)
        argv = argv[srun + 1 + program :]
    container, argv = enter_container(argv, container_of_options(last_values(options)))

    # a task has the exported variables, and its own rank
    known = {name: text_of(value) for name, value in command.variables.items() if value and is_known(value)}
    inner = {name: value for name, value in env.items() if name not in _TASK_VARIABLES} if is_parallel else env
    given = {**inner, **known}
    invocation = read_command_line(argv, given)
    script = read_script(argv, given)
    inner_commands = [command.words for command in script.commands] if script is not None else []
    inside = {name: value for name, value in invocation.env.items() if given.get(name) != value}
    return ScriptStep(
        command=command,
        variables=variables,
        options=tuple(options),
        is_parallel=is_parallel,
        container=container,
        argv=tuple(argv),
        invocation=invocation,
        env={**_texts_of(command.variables), **inside},
        prepares=tuple([words for words in inner_commands if setup_kind(words)]),
    )


def _texts_of(variables: Mapping[str, ShellValue | None]) -> dict[str, str]:
    return {name: text_of(value) for name, value in variables.items() if value is not None}


def _srun_index(words: Sequence[str]) -> int | None:
    """Return the index of srun in a command line, also after wrappers such as `time`, or None without srun."""
    before = words[: unwrap(words).start + 1]
    return next((index for index, word in enumerate(before) if basename(word) == _SRUN), None)


def setup_kind(words: Sequence[str]) -> str:
    """Return what a command of a script is about, other than training: `module`, `environment`, ..., or nothing."""
    name = basename(words[0]) if words else ""
    kinds: Mapping[str, Sequence[str]] = load_table("importer/slurm/slurm.json")["setup"]
    kind = next((kind for kind, names in kinds.items() if name in names), "")
    if kind == "environment" and words[1:] and words[1] in _RUNNERS:
        return ""
    if not kind and name in SHELL_COMMANDS:
        return "silent"
    return kind


def _is_setup(step: ScriptStep) -> bool:
    entry = step.invocation.entry
    if step.invocation.launcher != "command":
        return False
    if (
        not step.argv
        or step.argv[0].startswith(("$(", "`"))
        or setup_kind(step.argv)
        or setup_kind(entry)
        or setup_kind(entry[unwrap(entry).start :])
    ):
        return True
    is_snippet = step.program.startswith("python") and "-c" in entry[1:3]
    return (
        is_snippet
        or setup_kind(step.command.words) not in ("", "silent")
        or (step.program in SHELLS and step.invocation.in_shell)
    )


def rank_of(step: ScriptStep, processes: int) -> int:
    """Return how likely a step is the one that trains; `processes` is how many of it srun starts."""
    if step.invocation.launcher not in ("command", "image"):
        return 5
    is_python = step.program.startswith("python") or step.program.endswith(".py")
    if is_python:
        return 3 + (step.is_parallel and processes > 1) + step.is_parallel
    return 2 if step.is_parallel or step.program in SHELLS or "/" in step.argv[0] else 1
