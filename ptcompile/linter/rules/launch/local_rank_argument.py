"""torch.distributed.launch passes each process an argument.

PTC400 local-rank-argument: note at run (differs), by torchrun.
Needs: distributed launch

What: `python -m torch.distributed.launch` without --use-env starts a script.

Why: a note. The module is deprecated, and adds `--local-rank=N` to the script's arguments: a script
that takes only --local_rank, as before PyTorch 2.0, or none ends with "unrecognized arguments:
--local-rank=0". torchrun adds nothing.

Example: pod.yaml with

    - command: [python, -m, torch.distributed.launch, train.py]  # <--
    + command: [torchrun, train.py]

Fix: start the script with torchrun, and read LOCAL_RANK.

Source: PyTorch 2.15, torch/distributed/launch.py and run.py, config_from_args; pull request 94505
(2.0: a hyphen).
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import option_names


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        if role.launch.program == "torch.distributed.launch" and "use-env" not in option_names(
            role.launch.arguments
        ):
            yield found_at(
                role.command_path,
                "torch.distributed.launch passes --local-rank=N to the script, and is deprecated",
                "start the script with torchrun, and read LOCAL_RANK",
            )
