"""Launchers other than torchrun: their options, by the names that torchrun has for the same thing.

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
    """How one launcher writes what torchrun's options say."""

    names: Mapping[str, str]
    """Its options, dashed, by torchrun's names. `num-processes` and `world-size` count all processes."""
    flags: frozenset[str]
    """Its options without a value, dashed."""
    short: Mapping[str, str]
    """Its options of one letter, by their dashed names."""
    variables: Mapping[str, str]
    """The variables that it takes an option from where none is given, by torchrun's names."""


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
DIALECTS: Final[dict[str, Launcher]] = {"accelerate": _ACCELERATE, "deepspeed": _DEEPSPEED, "composer": _COMPOSER}

_MODULES: Final[dict[str, LauncherName]] = {
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
    "composer.cli.launcher": "composer",
}


def launcher_of(argv: Sequence[str]) -> tuple[LauncherName, int] | None:
    """The launcher that a command line starts, wrappers taken off, and where its options begin; None for others."""
    first = argv[0].rpartition("/")[2]
    if first == "accelerate":
        return ("accelerate", 2) if list(argv[1:2]) == ["launch"] else None
    if first in ("deepspeed", "composer"):
        return ("deepspeed", 1) if first == "deepspeed" else ("composer", 1)
    if first.startswith("python") and "-m" in argv:
        at = argv.index("-m") + 1
        plain = all(word.startswith("-") for word in argv[1 : at - 1])
        name = _MODULES.get(argv[at]) if plain and at < len(argv) else None
        return None if name is None else (name, at + 1)
    return None


def options(name: str, words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The options of a launcher by torchrun's names, and all from the script on. What torchrun has no name for is
    left out."""
    dialect = DIALECTS[name]
    ours = {theirs: known for known, theirs in dialect.names.items()}
    found: dict[str, str] = {}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        word, equals, value = words[at].partition("=")
        option = dialect.short.get(word, word.lstrip("-").replace("_", "-"))
        at += 1
        if option in dialect.flags:
            value = "1"
        elif not equals:
            value = words[at] if at < len(words) else ""
            at += 1
        if option in ours:
            found[ours[option]] = value
    return found, tuple(words[at:])


def resolve_options(name: str, given: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """The options with those of the environment, and nodes and processes a node told from the world where they are
    whole."""
    dialect = DIALECTS[name]
    found = {option: env[variable] for option, variable in dialect.variables.items() if variable in env} | {**given}
    total = atoi(found.get("num-processes", found.get("world-size", "")))
    nodes, processes = atoi(found.get("nnodes", "")), atoi(found.get("nproc-per-node", ""))
    if name == "composer" and total and processes and total % processes == 0:
        found["nnodes"] = str(total // processes)
    if name == "accelerate" and total and nodes and total % nodes == 0:
        found["nproc-per-node"] = str(total // nodes)
    return found
