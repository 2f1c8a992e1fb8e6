"""Launchers other than torchrun, with their options under torchrun's names.

Options are those of accelerate 1.10 (commands/launch.py), DeepSpeed 0.17 (launcher/runner.py) and Composer 0.31
(cli/launcher.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import atoi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    LauncherName = Literal["accelerate", "deepspeed", "composer"]


class Launcher(NamedTuple):
    """How a launcher names the options that torchrun has too."""

    names: Mapping[str, str]
    """Its dashed options, keyed by torchrun's names. `num-processes` and `world-size` count all processes of the
    job.
    """
    flags: frozenset[str]
    """Its dashed options without a value."""
    short: Mapping[str, str]
    """Dashed names of its one-letter options."""
    variables: Mapping[str, str]
    """Variables from which it takes an option that is not passed, keyed by torchrun's names."""


_ACCELERATE_FLAGS: Final = """
quiet cpu multi-gpu tpu ipex use-mps-device use-xpu use-deepspeed use-fsdp use-megatron-lm use-tpu dynamo-use-
fullgraph dynamo-use-dynamic dynamo-use-regional-compilation same-network module no-python debug enable-cpu-
affinity tpu-cluster no-tpu-cluster tpu-use-cluster tpu-use-sudo fp8 use-parallelism-config help
"""
_DEEPSPEED_FLAGS: Final = """
module no-python no-local-rank no-ssh no-ssh-check force-multi save-pid elastic-training bind-cores-to-rank
enable-each-rank-log help
"""
_COMPOSER_FLAGS: Final = """
module-mode command-mode verbose help version
"""

_ACCELERATE: Final = Launcher(
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
_DEEPSPEED: Final = Launcher(
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
_COMPOSER: Final = Launcher(
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
LAUNCHERS: Final[dict[str, Launcher]] = {"accelerate": _ACCELERATE, "deepspeed": _DEEPSPEED, "composer": _COMPOSER}

_MODULES: Final[dict[str, LauncherName]] = {
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
    "composer.cli.launcher": "composer",
}


def launcher_of(argv: Sequence[str]) -> tuple[LauncherName, int] | None:
    """Return the launcher that an unwrapped command line starts and the index of its options, or None for others."""
    first = argv[0].rpartition("/")[2]
    if first == "accelerate":
        return ("accelerate", 2) if list(argv[1:2]) == ["launch"] else None
    if first in ("deepspeed", "composer"):
        return ("deepspeed", 1) if first == "deepspeed" else ("composer", 1)
    if first.startswith("python") and "-m" in argv:
        index = argv.index("-m") + 1
        is_python_option = all(argument.startswith("-") for argument in argv[1 : index - 1])
        name = _MODULES.get(argv[index]) if is_python_option and index < len(argv) else None
        return None if name is None else (name, index + 1)
    return None


def parse_options(name: str, arguments: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return a launcher's options under torchrun's names, and the arguments from the script on.

    Options that torchrun does not have are dropped.
    """
    launcher = LAUNCHERS[name]
    torchrun_names = {launcher_name: name for name, launcher_name in launcher.names.items()}
    values: dict[str, str] = {}
    index = 0
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] not in ("-", "--"):
        argument, equals, value = arguments[index].partition("=")
        option = launcher.short.get(argument, argument.lstrip("-").replace("_", "-"))
        index += 1
        if option in launcher.flags:
            value = "1"
        elif not equals:
            value = arguments[index] if index < len(arguments) else ""
            index += 1
        if option in torchrun_names:
            values[torchrun_names[option]] = value
    return values, tuple(arguments[index:])


def resolve_options(name: str, options: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Return the options, completed from the environment.

    The number of nodes or of processes per node is computed from the world size if it divides evenly.
    """
    launcher = LAUNCHERS[name]
    resolved = {option: env[variable] for option, variable in launcher.variables.items() if variable in env} | {
        **options
    }
    total = atoi(resolved.get("num-processes", resolved.get("world-size", "")))
    nodes, processes = atoi(resolved.get("nnodes", "")), atoi(resolved.get("nproc-per-node", ""))
    if name == "composer" and total and processes and total % processes == 0:
        resolved["nnodes"] = str(total // processes)
    if name == "accelerate" and total and nodes and total % nodes == 0:
        resolved["nproc-per-node"] = str(total // nodes)
    return resolved
