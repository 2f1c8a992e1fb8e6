"""torchrun has no script to start.

PTC424 missing-script: error at run (fails), by torchrun.
Needs: {TORCHRUN}

What: no script, module or program follows torchrun's options.

Why: argparse ends the process: "the following arguments are required: training_script". An option
without its value swallows the script.

Example: pod.yaml with

    - command: [torchrun, --nproc-per-node=1, --rdzv-id, train.py]  # <--
    + command: [torchrun, --nproc-per-node=1, --rdzv-id=train, train.py]

Fix: put the script after the options, and give every option its value.

Source: PyTorch 2.13, torch/distributed/run.py, get_args_parser.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import OPTIONS, option_names


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        launch = role.launch
        if launch.entry:
            continue

        options = option_names(launch.arguments)
        if "help" not in options and OPTIONS.issuperset(options):
            last = ""
            if launch.arguments:
                last = f", and {launch.arguments[-1]!r} is the value of an option"
            yield found_at(
                role.command_path,
                f"torchrun has no script to start{last}",
                "put the script after the options, and give every option its value",
            )
