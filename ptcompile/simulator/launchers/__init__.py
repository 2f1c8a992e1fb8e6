"""Launchers other than torchrun, with their options under torchrun's names.

launchers.json has the options, with their sources. ColossalAI, LLaMA-Factory, ms-swift and Axolotl
start torchrun or accelerate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple, cast
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import Json
from ptcompile.simulator.launchers.arguments import NO_SHORT_OPTIONS, OptionTable, read_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    LauncherName = Literal[
        "accelerate", "deepspeed", "composer", "colossalai", "llamafactory-cli", "swift", "axolotl"
    ]


_NOTHING: Mapping[str, str] = {}


class Launcher(NamedTuple):
    """How a launcher names the options that torchrun has too."""

    programs: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    """Subcommands that start processes; empty if the program has none."""
    modules: frozenset[str] = frozenset()
    """Modules that `python -m` starts it by."""
    names: Mapping[str, str] = _NOTHING
    """Its dashed options, keyed by torchrun's names. `num-processes` and `world-size` count all
    processes of the job.
    """
    flags: frozenset[str] = frozenset()
    """Its dashed options without a value."""
    short: Mapping[str, str] = NO_SHORT_OPTIONS
    """Dashed names of its one-letter options."""
    variables: Mapping[str, str] = _NOTHING
    """Variables from which it takes an option that is not passed, keyed by torchrun's names."""
    defaults: Mapping[str, str] = _NOTHING
    """Values of options that are neither passed nor in a variable, where they differ from
    torchrun's.
    """
    machine_options: tuple[str, ...] = ()
    """Beginnings of the arguments that name the other machines. Without one, each pod trains
    alone.
    """
    machine_variables: tuple[str, ...] = ()
    """Beginnings of the variables that name the other machines."""
    over_ssh: bool = False
    """Whether one process starts those of all machines, over ssh."""


def _launcher(row: Json) -> Launcher:
    """Return a launcher of the table."""
    sets = {
        field: frozenset(row[field])
        for field in ("programs", "verbs", "modules", "flags")
        if field in row
    }
    beginnings = {
        field: tuple(row[field])
        for field in ("machine_options", "machine_variables")
        if field in row
    }

    return Launcher(**{**row, **sets, **beginnings})


_TABLE = load_table("simulator/launchers/launchers.json")
TORCHRUN_TABLE: Json = _TABLE["torchrun"]
"""The facts about torchrun."""
LAUNCHERS: dict[str, Launcher] = {name: _launcher(row) for name, row in _TABLE["launchers"].items()}
"""The launchers besides torchrun, by name."""
_BY_PROGRAM = {
    program: cast("LauncherName", name)
    for name, launcher in LAUNCHERS.items()
    for program in launcher.programs
}
_BY_MODULE = {
    module: cast("LauncherName", name)
    for name, launcher in LAUNCHERS.items()
    for module in launcher.modules
}


class LauncherCall(NamedTuple):
    """A launcher that a command line starts, and the index of its first option there."""

    name: LauncherName
    options_start: int


def launcher_of(argv: Sequence[str]) -> LauncherCall | None:
    """Return the launcher that an unwrapped command line starts, or None for others."""
    program = basename(argv[0])
    if program.startswith("python") and "-m" in argv:
        index = argv.index("-m") + 1
        if index >= len(argv) or not all(
            argument.startswith("-") for argument in argv[1 : index - 1]
        ):
            return None
        by_module = _BY_MODULE.get(argv[index])
        if by_module is None:
            return None
        return LauncherCall(by_module, index + 1)

    name = _BY_PROGRAM.get(program)
    if name is None:
        return None

    verbs = LAUNCHERS[name].verbs
    if not verbs:
        return LauncherCall(name, 1)
    if len(argv) > 1 and argv[1] in verbs:
        return LauncherCall(name, 2)
    return None


def option_table(launcher: Launcher) -> OptionTable:
    """Return a launcher's options as argparse reads them."""
    return OptionTable(frozenset(), launcher.flags, launcher.short)


def parse_options(name: str, arguments: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return a launcher's options under torchrun's names, and the arguments from the script on.

    Options that torchrun does not have are dropped.
    """
    launcher = LAUNCHERS[name]
    torchrun_names = {launcher_name: name for name, launcher_name in launcher.names.items()}
    given, entry = read_arguments(option_table(launcher), arguments)
    values = {
        torchrun_names[option.name]: "1" if option.name in launcher.flags else option.value or ""
        for option in given
        if option.name in torchrun_names
    }
    return values, entry


def module_of(command: Sequence[str]) -> str | None:
    """Return the module that a launcher's command line starts with its -m or --module, or None."""
    call = launcher_of(command)
    if call is None:
        return None
    launcher = LAUNCHERS[call.name]
    given, entry = read_arguments(option_table(launcher), command[call.options_start :])
    if entry and any(option.name in ("module", "module-mode") for option in given):
        return entry[0]
    return None


def resolve_options(
    name: str, options: Mapping[str, str], env: Mapping[str, str]
) -> dict[str, str]:
    """Return the options, completed from the environment.

    The number of nodes or of processes per node is computed from the world size if it divides
    evenly.
    """
    launcher = LAUNCHERS[name]
    from_env = {
        option: env[variable] for option, variable in launcher.variables.items() if variable in env
    }
    resolved = {**launcher.defaults, **from_env, **options}
    total = atoi(resolved.get("num-processes", resolved.get("world-size", "")))
    nodes = atoi(resolved.get("nnodes", ""))
    processes = atoi(resolved.get("nproc-per-node", ""))
    if name == "composer" and total and processes and total % processes == 0:
        resolved["nnodes"] = str(total // processes)
    if name == "accelerate" and total and nodes and total >= nodes:
        resolved["nproc-per-node"] = str(total // nodes)  # accelerate rounds down
    if name == "llamafactory-cli" and "rdzv-id" in from_env:
        resolved["rdzv-backend"] = "c10d"
        if "MIN_NNODES" in env and "MAX_NNODES" in env:
            resolved["nnodes"] = f"{env['MIN_NNODES']}:{env['MAX_NNODES']}"

    return resolved


_setting = Pattern(r"(?m)^(?P<name>[a-z_]+):[ \t]*(?P<value>[^\s#]+)").finditer


def read_config(text: str) -> Mapping[str, str]:
    """Return the settings of accelerate's config file that are options of torchrun too, under
    torchrun's names.

    `accelerate config` writes the file. Source: Accelerate 1.10, commands/launch.py
    (_validate_launch_command): options on the command line win.
    """
    torchrun_names = {name: option for option, name in LAUNCHERS["accelerate"].names.items()}
    settings = {
        match["name"].replace("_", "-"): match["value"].strip("'\"")
        for match in _setting(text[: 1 << 16])
    }
    return {
        torchrun_names[name]: value for name, value in settings.items() if name in torchrun_names
    }
