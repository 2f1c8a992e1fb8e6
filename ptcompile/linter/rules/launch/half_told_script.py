"""A script without a launcher has only part of what it needs to meet the others.

PTC480 half-told-script: warning at run (fails), by ptcompile.
Needs: master/world/rank python/python3

What: the command is a Python script without a launcher, and has some of MASTER_ADDR, MASTER_PORT,
WORLD_SIZE and RANK and lacks others.

Why: init_process_group reads all four (env://), and raises if one is missing. Only a script that
sets the rest itself runs.

Example: jobset.yaml with

      command: [python, train.py]  # <--
      env:
        - {name: WORLD_SIZE, value: "2"}
        - name: RANK
          valueFrom:
            fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
    +   - {name: MASTER_ADDR, value: train-node-0-0.train}
    +   - {name: MASTER_PORT, value: "29500"}

Fix: set all four, or start the script with torchrun.

Source: PyTorch 2.13, torch/distributed/rendezvous.py, the env:// method: "environment variable
expected, but not set".
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import count_nodes

_REQUIRED = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
_DELIBERATE = ("MASTER_ADDR", "WORLD_SIZE", "RANK")
"""The variables that are only set on purpose."""


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    if count_nodes(roles) < 2:
        return

    for role in roles:
        missing = [name for name in _REQUIRED if name not in role.launch.env]
        set_by_user = [name for name in _DELIBERATE if role.user_entry(name)]
        if (
            role.member.is_python_script
            and len(set_by_user) > 1
            and missing
            and not role.is_uncertain()
            and not role.launch.in_shell
        ):
            yield found_at(
                role.command_path,
                f"the script has {' and '.join(set_by_user)}, but not {' and '.join(missing)}, "
                "which env:// also needs",
                f"set {' and '.join(missing)}, or start the script with torchrun",
            )
