"""An option of torchrun has different values in two places.

PTC421 contradicting-launch-option: warning at run (differs), by torchrun.
Needs: {TORCHRUN} nproc/nnodes/rdzv/restarts/interval PET/{TORCHRUN_FIELD_KINDS}

What: the command line gives torchrun an option, and a PET_* variable or a field of the operator
gives it another value.

Why: the command line wins, and the field is silently ignored. Changing the field later has no
effect.

Example: pod.yaml with

      command:
        - torchrun
    -   - --max-restarts=3  # <--
        - train.py
      env:
        - {name: PET_MAX_RESTARTS, value: "5"}

Fix: set it in one place.

Source: PyTorch 2.13, torch/distributed/argparse_util.py: variables are defaults of the options;
training-operator 1.9 and Trainer 2.3, the variables they set.
"""

from __future__ import annotations

from ptcompile.diagnostics import field_path
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import is_literal, option_variable

_OPTIONS = (
    "nproc-per-node",
    "nnodes",
    "rdzv-backend",
    "rdzv-id",
    "rdzv-conf",
    "max-restarts",
    "monitor-interval",
)


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        for option in _OPTIONS:
            flag = role.launch.options.get(option)
            overridden = role.launch.env.get(option_variable(option))
            if flag is None or overridden is None or _is_same(flag, overridden):
                continue

            entry = role.user_entry(option_variable(option))
            overridden_path = role.operator_field(option) if entry is None else entry.place
            if overridden_path is None:
                continue  # only the operator sets it
            if (
                option == "nnodes"
                and subject.record.rendezvous.fixed_size
                and flag.endswith(f":{overridden}")
            ):
                continue

            place = subject.place_of(overridden_path)
            yield found_at(
                role.flag_path(option),
                f"--{option} {flag!r} overrides {overridden!r} in "
                f"{field_path(overridden_path if place is None else place.path)}",
                f"remove --{option}, or write the same in both places",
            )


def _is_same(flag: str, overridden: str) -> bool:
    if not is_literal(flag) or not is_literal(overridden):
        return True
    if overridden == "auto":
        # training-operator's default in every stored job: it asks for no certain number
        return True
    a = flag.strip()
    b = overridden.strip()
    return a == b or a == f"{b}:{b}" or b == f"{a}:{a}"
