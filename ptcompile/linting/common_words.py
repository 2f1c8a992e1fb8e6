"""Needs that many rules have, as the families' tables write them."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.operators.all import KINDS
from ptcompile.operators.record import Kind, overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def kinds_with(wanted: Callable[[Kind], object]) -> str:
    """A word of each of these kinds."""
    found = [kind for _, kind in KINDS.values() if wanted(kind)]
    return "/".join(dict.fromkeys(kind.word or kind.name for kind in found))


VENDORS: Final = "nvidia/amd/intel/habana/google/amazon/huawei"
"""Whose accelerators there are: one is in the name of each resource (`accelerators`)."""

TORCHRUN: Final = "torchrun/torch"
"""By its own name, or as `-m torch.distributed.run`."""

LAUNCHED: Final = "torchrun/torch/accelerate/deepspeed/composer"
"""Launchers whose options say how many nodes meet (`simulation.launchers`)."""

MEETS: Final = f"{LAUNCHED}/master/world"
"""Those, or a script that its variables tell of others."""

TRAINS: Final = "torchrun/torch/accelerate/deepspeed/composer/mpirun/mpiexec"
"""A launcher of training processes (`commands.LAUNCHERS`)."""

SHELLS: Final = "bash/sh/dash/zsh/ash/ksh"

FILLED: Final = kinds_with(lambda kind: overrides(kind, Kind.runtime))
"""The kinds of which another object has what they do not say."""

NPROC: Final = f"nproc/nprocPerNode/numProcPerNode/{FILLED}"
"""Who says how many processes a node has; where the kind has no number its resources do."""

PODS: Final = kinds_with(lambda kind: kind.meeting.roles or overrides(kind, Kind.recreates))
"""The kinds that may make several pods."""

ROLES: Final = kinds_with(lambda kind: kind.meeting.roles and overrides(kind, Kind.pods))
"""The kinds whose pods may have several templates."""

CLOSED: Final = kinds_with(lambda kind: overrides(kind, Kind.recreates) and not kind.meeting.open)
"""The kinds of which no pods of another object join."""

RETRIED: Final = kinds_with(lambda kind: overrides(kind, Kind.retries))
"""The kinds whose operator starts pods again, and counts."""

OVERRIDING: Final = kinds_with(lambda kind: kind.additions.env_of)
"""The kinds whose operator's variables win over the user's."""

UNLIKE: Final = kinds_with(
    lambda kind: kind.meeting.roles and overrides(kind, Kind.templates) and not kind.meeting.all_pods
)
"""The kinds of several pod templates that are compared by the rules for any kind."""

OF_TORCH: Final = kinds_with(lambda kind: kind.launch_fields.options)
"""The kinds with fields that become options of torchrun."""
