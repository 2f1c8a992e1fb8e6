"""torchrun rejects the number of nodes and does not start.

PTC414 bad-nnodes: error at run (fails), by torchrun.
Needs: {TORCHRUN} nnodes

What: --nnodes or PET_NNODES is neither a number above zero nor MIN:MAX with MIN up to MAX.

Why: torchrun asserts 0 < MIN <= MAX before it does anything else, so every pod of the job crashes
at once.

Example: pod.yaml with

      command:
        - torchrun
    -   - --nnodes=4:2  # <--
    +   - --nnodes=1
        - train.py

Fix: write the number of pods that train, or the fewest and the most with a colon between them.

Source: PyTorch 2.13, torch/distributed/run.py, parse_min_max_nnodes and config_from_args.
"""

from __future__ import annotations

from ptcompile.linter.environment import is_never_number
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import is_literal


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        nnodes = role.options.get("nnodes", "")
        # elastic-range-reversed reports ranges that the operator sets
        is_certain = is_literal(nnodes) or (
            is_never_number(nnodes) and not role.is_uncertain("nnodes")
        )
        if role.rendezvous.nodes is None and is_certain and role.source_of("nnodes") != "operator":
            yield found_at(
                role.path_of("nnodes"),
                f"torchrun does not start with nnodes {nnodes!r}: it must be a number above 0, "
                "or MIN:MAX with MIN up to MAX",
                "write the number of pods that train",
            )
