"""Rules for MPIJobs: what the MPI Operator accepts, and mpirun does otherwise than one reads."""

from __future__ import annotations

from ptcompile.linter.needs import VENDORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "slots_differ_from_gpus": VENDORS,
    "launcher_without_gpus": VENDORS,
    "processes_differ_from_slots": "mpirun",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
