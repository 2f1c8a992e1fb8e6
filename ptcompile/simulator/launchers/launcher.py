"""One launcher: the programs that start it, and its options under torchrun's names."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.simulator.launchers.arguments import NO_SHORT_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    LauncherName = Literal["accelerate", "deepspeed", "composer", "colossalai", "llamafactory-cli", "swift", "axolotl"]

_NOTHING: Final[Mapping[str, str]] = {}


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
