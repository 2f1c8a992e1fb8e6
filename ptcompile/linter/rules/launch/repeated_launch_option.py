"""An option of torchrun is given twice.

PTC422 repeated-launch-option: warning at run (differs), by torchrun.
Needs: {TORCHRUN}

What: the command line has the same option of torchrun more than once, in any spelling.

Why: argparse silently uses the last one, so the others are dropped.

Example: pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=2  # <--
    -   - --nproc_per_node=1
    +   - --nproc-per-node=1
        - train.py

Fix: keep the intended one.

Source: PyTorch 2.13, torch/distributed/run.py; Python 3.11, argparse.
"""

from __future__ import annotations

from collections import Counter

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import SWITCHES, option_names


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        options = option_names(role.launch.arguments)
        if len({*options}) == len(options):
            continue

        for option, times in Counter(options).items():
            if times > 1 and option not in SWITCHES:
                yield found_at(
                    role.flag_path(option),
                    f"--{option} is given {times} times, and torchrun uses the last: "
                    f"{role.launch.options.get(option, '')!r}",
                    "keep the intended one",
                )
