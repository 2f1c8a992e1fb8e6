"""An unknown PET_* variable.

PTC427 unknown-pet-variable: warning at run (differs), by torchrun.
Needs: {TORCHRUN} PET

What: a container started by torchrun has a variable PET_... that is not an option of torchrun.

Why: torchrun reads PET_ and the name of an option in capital letters, and knows no others. A
misspelled one is silently ignored.

Example: pod.yaml with

      command:
        - torchrun
        - train.py
      env:
    -   - {name: PET_NPROC_PERNODE, value: "1"}  # <--
    +   - {name: PET_NPROC_PER_NODE, value: "1"}

Fix: correct the name, or remove the variable.

Source: PyTorch 2.13, torch/distributed/argparse_util.py and run.py; training-operator 1.4 set
PET_N_PROC_PER_NODE, which torchrun never read.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.simulator.launchers.torchrun import (
    COMMAND_LINE_ONLY,
    OPTIONS,
    WITHOUT_VARIABLE,
    option_variable,
)

_KNOWN_VARIABLES = frozenset(option_variable(option) for option in OPTIONS - WITHOUT_VARIABLE)
_ON_COMMAND_LINE = {option_variable(option): option for option in COMMAND_LINE_ONLY}


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        variables = role.container.variables
        names = {entry.name for entry in variables}
        for entry in variables:
            name = entry.name
            path = entry.name_path
            if not name.startswith("PET_") or name in _KNOWN_VARIABLES:
                continue
            if name in _ON_COMMAND_LINE:
                option = _ON_COMMAND_LINE[name]
                yield found_at(
                    path,
                    f"torchrun reads no variable {name}",
                    f"pass --{option} on the command line",
                )
                continue

            near = closest_match(name, sorted(_KNOWN_VARIABLES))
            fix = None
            if near and near not in names:
                fix = fix_setting(f"write {near}", path, near)

            yield found_at(
                path,
                f"torchrun reads no variable {name}",
                f"did you mean {near}?" if near else "remove it",
                fix,
            )
