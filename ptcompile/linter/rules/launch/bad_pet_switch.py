"""A variable that torchrun reads as a number is not one, and torchrun does not start.

PTC428 bad-pet-switch: error at run (fails), by torchrun.
Needs: {TORCHRUN} PET/elasticPolicy

What: PET_STANDALONE, PET_MODULE, PET_NO_PYTHON or PET_RUN_PATH is empty or a word such as true.
elasticPolicy.standalone: true gives an empty PET_STANDALONE.

Why: torchrun calls int() on these while it builds its command line parser, and ends with
ValueError, regardless of the command line.

Example: pod.yaml with

      command:
        - torchrun
        - train.py
      env:
    -   - {name: PET_STANDALONE, value: "true"}  # <--
    +   - {name: PET_STANDALONE, value: "1"}

Fix: write "1" or "0"; in a PyTorchJob remove elasticPolicy.standalone.

Source: PyTorch 2.13, torch/distributed/argparse_util.py, check_env; training-operator 1.9, which
sets PET_STANDALONE to nothing.
"""

from __future__ import annotations

from ptcompile.diagnostics import Fix, Path
from ptcompile.linter.rule import Findings, Subject, fix_removing, fix_setting, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.torchrun import SWITCHES, is_int, is_literal, option_variable

_DIGITS = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        for option in SWITCHES:
            value = role.launch.env.get(option_variable(option))
            if value is None or not is_literal(value) or is_int(value):
                continue

            entry = role.user_entry(option_variable(option))
            field = role.operator_field(option)
            path = entry.value_path if entry is not None else field or role.unset_path
            yield found_at(
                path,
                f"torchrun does not start with {option_variable(option)} {value!r}: it must be a "
                "number",
                'write "1" or "0"' if path != field else "remove it",
                _fix(role, option, path, value),
            )


def _fix(role: TrainingRole, option: str, path: Path, value: str) -> Fix | None:
    if path == role.operator_field(option):
        return fix_removing("remove it", path, safe=True)
    digit = _DIGITS.get(value.strip().lower())
    if digit is None or path == role.unset_path:
        return None
    return fix_setting(f'write "{digit}"', path, digit, safe=True)
