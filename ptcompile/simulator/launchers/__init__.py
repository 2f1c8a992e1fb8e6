"""Launchers other than torchrun, with their options under torchrun's names.

Options are those of accelerate 1.10 (commands/launch.py), DeepSpeed 0.17 (launcher/runner.py), Composer 0.31
(cli/launcher.py), ColossalAI 0.5 (cli/launcher), LLaMA-Factory 0.9 (cli.py), ms-swift 3 (cli/main.py) and Axolotl 0.12
(cli/main.py). The last four start torchrun or accelerate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple, cast
from ptcompile.kubernetes.goflags import atoi
from ptcompile.simulator.launchers.arguments import NO_SHORT_OPTIONS, OptionTable, read_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    LauncherName = Literal["accelerate", "deepspeed", "composer", "colossalai", "llamafactory-cli", "swift", "axolotl"]


_NOTHING: Mapping[str, str] = {}


class Launcher(NamedTuple):
    """How a launcher names the options that torchrun has too."""

    programs: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    """Subcommands that start processes; empty if the program has none."""
    modules: frozenset[str] = frozenset()
    """Modules that `python -m` starts it by."""
    names: Mapping[str, str] = _NOTHING
    """Its dashed options, keyed by torchrun's names. `num-processes` and `world-size` count all processes of the
    job.
    """
    flags: frozenset[str] = frozenset()
    """Its dashed options without a value."""
    short: Mapping[str, str] = NO_SHORT_OPTIONS
    """Dashed names of its one-letter options."""
    variables: Mapping[str, str] = _NOTHING
    """Variables from which it takes an option that is not passed, keyed by torchrun's names."""
    defaults: Mapping[str, str] = _NOTHING
    """Values of options that are neither passed nor in a variable, where they differ from torchrun's."""
    machine_options: tuple[str, ...] = ()
    """Beginnings of the arguments that name the other machines. Without one, each pod trains alone."""
    machine_variables: tuple[str, ...] = ()
    """Beginnings of the variables that name the other machines."""
    over_ssh: bool = False
    """Whether one process starts those of all machines, over ssh."""


_ACCELERATE_FLAGS = """
quiet cpu multi-gpu tpu ipex use-mps-device use-xpu use-deepspeed use-fsdp use-megatron-lm use-tpu dynamo-use-
fullgraph dynamo-use-dynamic dynamo-use-regional-compilation same-network module no-python debug enable-cpu-
affinity tpu-cluster no-tpu-cluster tpu-use-cluster tpu-use-sudo fp8 use-parallelism-config help
"""
_DEEPSPEED_FLAGS = """
module no-python no-local-rank no-ssh no-ssh-check force-multi save-pid elastic-training bind-cores-to-rank
enable-each-rank-log help
"""
_COMPOSER_FLAGS = """
module-mode command-mode verbose help version
"""

_ACCELERATE = Launcher(
    programs=frozenset({"accelerate"}),
    verbs=frozenset({"launch"}),
    modules=frozenset({"accelerate.commands.launch"}),
    machine_options=("--num_machines", "--num-machines", "--config_file", "--config-file", "--main_process_ip"),
    machine_variables=("ACCELERATE_",),
    names={
        "nnodes": "num-machines",
        "num-processes": "num-processes",
        "node-rank": "machine-rank",
        "master-addr": "main-process-ip",
        "master-port": "main-process-port",
        "rdzv-backend": "rdzv-backend",
        "rdzv-conf": "rdzv-conf",
        "max-restarts": "max-restarts",
        "config-file": "config-file",
    },
    flags=frozenset(_ACCELERATE_FLAGS.split()),
    short={"-m": "module", "-q": "quiet", "-t": "tee", "-h": "help"},
    variables={},
)
_DEEPSPEED = Launcher(
    programs=frozenset({"deepspeed"}),
    modules=frozenset({"deepspeed.launcher.runner", "deepspeed"}),
    machine_options=("--hostfile", "-H"),
    machine_variables=("DLTS_HOSTFILE",),
    over_ssh=True,
    names={
        "nnodes": "num-nodes",
        "nproc-per-node": "num-gpus",
        "node-rank": "node-rank",
        "master-addr": "master-addr",
        "master-port": "master-port",
        "hostfile": "hostfile",
        "no-ssh": "no-ssh",
        "include": "include",
    },
    flags=frozenset(_DEEPSPEED_FLAGS.split()),
    short={"-H": "hostfile", "-i": "include", "-e": "exclude", "-h": "help"},
    variables={},
)
_COMPOSER = Launcher(
    programs=frozenset({"composer"}),
    modules=frozenset({"composer.cli.launcher"}),
    names={
        "nproc-per-node": "nproc",
        "world-size": "world-size",
        "node-rank": "node-rank",
        "master-addr": "master-addr",
        "master-port": "master-port",
    },
    flags=frozenset(_COMPOSER_FLAGS.split()),
    short={"-n": "nproc", "-m": "module-mode", "-c": "command-mode", "-v": "verbose", "-h": "help"},
    variables={
        "nproc-per-node": "LOCAL_WORLD_SIZE",
        "world-size": "WORLD_SIZE",
        "node-rank": "NODE_RANK",
        "master-addr": "MASTER_ADDR",
        "master-port": "MASTER_PORT",
    },
)
_COLOSSALAI = Launcher(
    programs=frozenset({"colossalai"}),
    verbs=frozenset({"run"}),
    names={"nproc-per-node": "nproc-per-node", "master-addr": "master-addr", "master-port": "master-port"},
    flags=frozenset({"m"}),
    short={"-H": "host", "-m": "m"},
    machine_options=("--hostfile", "--host", "-H"),
    over_ssh=True,
)
_TORCHRUN_VARIABLES = {
    "nnodes": "NNODES",
    "nproc-per-node": "NPROC_PER_NODE",
    "node-rank": "NODE_RANK",
    "master-addr": "MASTER_ADDR",
    "master-port": "MASTER_PORT",
}
_LLAMA_FACTORY = Launcher(
    programs=frozenset({"llamafactory-cli", "lmf"}),
    verbs=frozenset({"train"}),
    variables={**_TORCHRUN_VARIABLES, "max-restarts": "MAX_RESTARTS", "rdzv-id": "RDZV_ID"},
    defaults={"nproc-per-node": "auto"},
)
_SWIFT = Launcher(
    programs=frozenset({"swift", "megatron"}),
    verbs=frozenset({"sft", "pt", "rlhf", "dpo", "orpo", "simpo", "kto", "cpo"}),
    variables=_TORCHRUN_VARIABLES,
    defaults={"nproc-per-node": "1"},
)
_AXOLOTL = Launcher(
    programs=frozenset({"axolotl"}),
    verbs=frozenset({"train"}),
    machine_options=("--nnodes", "--num_machines", "--num-machines", "--rdzv", "--config_file", "--main_process_ip"),
    machine_variables=("ACCELERATE_",),
)
LAUNCHERS: dict[str, Launcher] = {
    "accelerate": _ACCELERATE,
    "deepspeed": _DEEPSPEED,
    "composer": _COMPOSER,
    "colossalai": _COLOSSALAI,
    "llamafactory-cli": _LLAMA_FACTORY,
    "swift": _SWIFT,
    "axolotl": _AXOLOTL,
}
"""The launchers besides torchrun, by name."""
_BY_PROGRAM = {
    program: cast("LauncherName", name) for name, launcher in LAUNCHERS.items() for program in launcher.programs
}
_BY_MODULE = {module: cast("LauncherName", name) for name, launcher in LAUNCHERS.items() for module in launcher.modules}


def launcher_of(argv: Sequence[str]) -> tuple[LauncherName, int] | None:
    """Return the launcher that an unwrapped command line starts and the index of its options, or None for others."""
    first = argv[0].rpartition("/")[2]
    if first.startswith("python") and "-m" in argv:
        index = argv.index("-m") + 1
        if index >= len(argv) or not all(argument.startswith("-") for argument in argv[1 : index - 1]):
            return None
        by_module = _BY_MODULE.get(argv[index])
        return None if by_module is None else (by_module, index + 1)
    name = _BY_PROGRAM.get(first)
    if name is None:
        return None
    verbs = LAUNCHERS[name].verbs
    if not verbs:
        return name, 1
    return (name, 2) if len(argv) > 1 and argv[1] in verbs else None


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
    start = launcher_of(command)
    if start is None:
        return None
    launcher = LAUNCHERS[start[0]]
    given, entry = read_arguments(option_table(launcher), command[start[1] :])
    return entry[0] if entry and any(option.name in ("module", "module-mode") for option in given) else None


def resolve_options(name: str, options: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Return the options, completed from the environment.

    The number of nodes or of processes per node is computed from the world size if it divides evenly.
    """
    launcher = LAUNCHERS[name]
    from_env = {option: env[variable] for option, variable in launcher.variables.items() if variable in env}
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


_setting = Pattern(r"(?m)^([a-z_]+):[ \t]*([^\s#]+)").finditer


def read_config(text: str) -> Mapping[str, str]:
    """Return the settings of accelerate's config file that are options of torchrun too, under torchrun's names.

    `accelerate config` writes the file. Source: Accelerate 1.10, commands/launch.py (_validate_launch_command): options
    on the command line win.
    """
    torchrun_names = {name: option for option, name in LAUNCHERS["accelerate"].names.items()}
    settings = {match[1].replace("_", "-"): match[2].strip("'\"") for match in _setting(text[: 1 << 16])}
    return {torchrun_names[name]: value for name, value in settings.items() if name in torchrun_names}
