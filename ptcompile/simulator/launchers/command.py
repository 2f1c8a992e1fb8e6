"""The launcher in a container's command line, and its options.

torchrun's options are those of PyTorch 2.13 (torch/distributed/run.py).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.commands import basename, is_program, unwrap
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_maps,
    nested_strings,
)
from ptcompile.shell.calls import Files, no_files
from ptcompile.shell.script import SHELL_COMMANDS, Script, ShellCommand, read_script
from ptcompile.shell.values import Argument, Doubt, text_of
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers.ray import parse_ray_start
from ptcompile.simulator.launchers.torchrun import (
    TORCHRUN,
    TORCHRUN_PROGRAMS,
    option_name,
    read_options,
    without_extensions,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.simulator.launchers import LauncherName

    ProcessStarter = LauncherName | Literal["torchrun", "mpirun", "tune", "ray", "command", "image"]
    """What starts the processes. `command` is the command line itself; `image` is an image's
    own, unknown command.
    """

_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_OTHER_LAUNCHERS: dict[str, ProcessStarter] = {
    "accelerate": "accelerate",
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "horovodrun": "mpirun",
}
_PYTHON_WITH_VALUE = frozenset({"-X", "-W", "-Q", "--check-hash-based-pycs"})
_NO_VALUES: Mapping[str, str] = MappingProxyType({})


class Invocation(NamedTuple):
    """The launcher that a command line starts, with its options by their dashed names and the
    program it runs.
    """

    launcher: ProcessStarter
    options: Mapping[str, str] = _NO_VALUES
    entry: tuple[str, ...] = ()
    env: Mapping[str, str] = _NO_VALUES
    """Environment of the launcher: the container's, with the variables that a shell script sets
    first.
    """
    in_shell: bool = False
    arguments: tuple[str, ...] = ()
    """Arguments after the launcher: options as written, then the script and its arguments."""
    program: str = ""
    """The launcher as started, such as `torch.distributed.launch`; empty for a command without
    launcher.
    """
    literals: tuple[str, ...] = ()
    """Options, dashed, whose value contains a `$` in single quotes or after a backslash, which
    no shell expands.
    """
    doubt: Doubt | None = None
    """What decides whether the script starts the launcher; None if it certainly does, unless a
    command fails.
    """
    changed_by: Doubt | None = None
    """The unknown file that the script sources, which may set variables that the launcher reads."""
    changed: tuple[str, ...] = ()
    """Options, dashed, whose value that file may change."""


def container_invocation(
    command: Sequence[str],
    args: Sequence[str],
    env: Mapping[str, str],
    files: Files = no_files,
    folder: str = "",
) -> Invocation:
    """Return what a container with these files, in this working folder, starts.

    Without a command the image's entrypoint gets the arguments (Kubernetes 1.36), and only the
    image knows what that is. An image may have no entrypoint, though, so arguments that begin with
    a program are taken as the command line.
    """
    invocation = read_command_line([*command, *args], env, files, folder)
    # args with a program are more likely a command line than arguments of one
    if (
        command
        or invocation.launcher != "command"
        or invocation.in_shell
        or args[0].startswith("/")
        or is_program(args[0])
    ):
        return invocation
    return Invocation("image", entry=tuple(args), env=env)


def starts_launcher(pod: Json) -> bool:
    """Return whether the first container of a pod starts a launcher, as far as its command line
    tells.
    """
    container = next(iter(nested_maps(pod, "spec", "containers")), {})
    invocation = container_invocation(
        nested_strings(container, "command"), nested_strings(container, "args"), {}
    )
    return invocation.launcher not in ("command", "image")


def read_command_line(
    argv: Sequence[str], env: Mapping[str, str], files: Files = no_files, folder: str = ""
) -> Invocation:
    """Return what a command line starts. In a shell script the last launcher wins: earlier
    commands only prepare.
    """
    if not argv:
        return Invocation("image", env=env)

    script = read_script(argv, env, files, folder)
    if script is None:
        inner = unwrap(argv)
        variables = ChainMap(dict(inner.env), env) if inner.env else env  # type: ignore[arg-type]  # read only
        return _program_invocation(argv[inner.start :], variables)

    if not script.commands:
        return Invocation("command", entry=tuple(argv), env=env, in_shell=True)

    cached = _main_commands.get(id(script))
    if cached is None:
        if len(_main_commands) > _MAX_SCRIPTS:
            _main_commands.clear()
        cached = _main_commands[id(script)] = script, _main_command(script.commands)

    return _command_invocation(cached[1], script, env)


_MAX_SCRIPTS = 64
_main_commands: dict[int, tuple[Script, ShellCommand]] = {}
"""Scripts with their main commands, by identity: all pods of a job have the same script, and each
rule asks what they start.
"""


def _main_command(commands: Sequence[ShellCommand]) -> ShellCommand:
    """Return the last launch; the first run of one that a loop repeats, since only failures
    decide about the later ones. Without a launch, return the last program or else command.
    """
    last = None
    for command in reversed(commands):
        words = command.words
        invocation = _program_invocation(words[unwrap(words).start :], _NO_VALUES)
        if invocation.launcher != "command":
            if command.doubt is None:
                return command
            place = (command.file, command.start)
            return next(each for each in commands if (each.file, each.start) == place)
        if last is None and words[0] not in SHELL_COMMANDS:
            last = command

    return last or commands[-1]


def _command_invocation(
    command: ShellCommand, script: Script, env: Mapping[str, str]
) -> Invocation:
    """Return what a command of a script starts."""
    inner = unwrap(command.words)
    set_here = {
        name: text_of(value) for name, value in command.variables.items() if value is not None
    }
    if len(set_here) < len(command.variables):
        env = {name: value for name, value in env.items() if name not in command.variables}
    variables = ChainMap({**set_here, **inner.env}, env)  # type: ignore[arg-type]  # read only
    invocation = _program_invocation(command.words[inner.start :], variables)

    return invocation._replace(
        in_shell=True,
        literals=_options_with(command, lambda argument: argument.has_literal_dollar),
        doubt=command.doubt or script.unread,
        changed_by=command.changed_by,
        changed=_options_with(
            command, lambda argument: any(piece.kind == "assumed" for piece in argument.value)
        ),
    )


def _options_with(command: ShellCommand, is_meant: Callable[[Argument], bool]) -> tuple[str, ...]:
    """Return the options, dashed, that are or are followed by an argument:
    `--node_rank='$RANK'`.
    """
    names: list[str] = []
    option = ""
    for argument in command.argv:
        is_option = argument.text.startswith("-")
        if is_option:
            option = argument.text
        if option and is_meant(argument):
            names.append(option_name(option))
        if not is_option:
            option = ""
    return tuple(names)


def _program_invocation(argv: Sequence[str], env: Mapping[str, str]) -> Invocation:
    start = _torchrun_options_start(argv)
    if start is not None:
        program = basename(argv[start - 1])
        arguments = without_extensions(program, argv[start:])
        interpreter = argv[start - 2] if start > 1 and argv[start - 1] in TORCHRUN_PROGRAMS else ""
        if interpreter == "-m" or basename(interpreter).startswith("python"):
            program = f"{basename(interpreter)} {program}"
        options, entry = _parse_torchrun_options(arguments)
        return Invocation(
            "torchrun", options, entry, env, arguments=tuple(arguments), program=program
        )
    name = basename(argv[0])
    if name == "axolotl" and (started := _axolotl_launcher(argv)) is not None:
        return _program_invocation(started, env)

    call = launchers.launcher_of(argv)
    if call is not None:
        call_arguments = tuple(argv[call.options_start :])
        options, _ = launchers.parse_options(call.name, call_arguments)
        return Invocation(call.name, options, tuple(argv), env, arguments=call_arguments)

    if name == "tune" and argv[1:2] == ["run"]:
        options, entry = _parse_torchrun_options(argv[2:])
        # torchtune 0.6, _cli/run.py: any option of torchrun makes it start torchrun
        starter: ProcessStarter = "torchrun" if options else "tune"
        return Invocation(
            starter, options, entry, env, arguments=tuple(argv[2:]), program="tune run"
        )
    if name == "ray" and argv[1:2] == ["start"]:
        return Invocation("ray", parse_ray_start(argv[2:]), tuple(argv), env)

    return Invocation(_OTHER_LAUNCHERS.get(name, "command"), entry=tuple(argv), env=env)


def _axolotl_launcher(argv: Sequence[str]) -> list[str] | None:
    """Return the command line that `axolotl train CONFIG --launcher NAME -- OPTIONS` runs, or
    None by default.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    options = argv[:end]
    for index, option in enumerate(options):
        name, _, value = option.partition("=")
        if (
            name == "--launcher"
            and (value or "".join(options[index + 1 : index + 2])) == "torchrun"
        ):
            return ["torchrun", *argv[end + 1 :], "-m", "axolotl.cli.train"]

    return None


def _torchrun_options_start(argv: Sequence[str]) -> int | None:
    """Return the index of torchrun's options, after wrappers such as `numactl`, or None without
    torchrun.
    """
    for index, argument in enumerate(argv):
        if argument.endswith(".py") and index:
            return None
        before = argv[index - 1] if index else ""
        # `--launcher torchrun` starts nothing
        is_value = before.startswith("--") and "=" not in before
        if basename(argument) in TORCHRUN_PROGRAMS and not is_value:
            return index + 1
        if argument == "-m" and not _MODULES.isdisjoint(argv[index + 1 : index + 2]):
            return index + 2

    return None


def _parse_torchrun_options(arguments: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return torchrun's options by their dashed names, and the arguments from the script on."""
    given, entry = read_options(tuple(arguments))
    options: dict[str, str] = {}
    for option in given:
        if option.name in TORCHRUN.flags:
            options[option.name] = "1"
        elif option.value is not None:
            options[option.name] = option.value
    return options, entry


def entry_arguments(launch: Invocation) -> tuple[str, ...]:
    """Return the script and its arguments, without the interpreter and its options."""
    arguments = launch.entry
    if launch.launcher == "torchrun" and launch.options.get("module"):
        return ("-m", *arguments)
    if (
        launch.launcher != "command"
        or not arguments
        or not basename(arguments[0]).startswith("python")
    ):
        return arguments

    index = 1
    while (
        index < len(arguments)
        and arguments[index].startswith("-")
        and arguments[index] not in ("-m", "-c")
    ):
        index += 2 if arguments[index] in _PYTHON_WITH_VALUE else 1

    return arguments[index:]
