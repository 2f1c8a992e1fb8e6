"""torchrun rejects an option that must be a number and does not start.

What: --node-rank, --master-port, --max-restarts or --monitor-interval, or its PET_* variable, is not a number, or is
out of range.

Why: argparse ends the process with "invalid int value", and torchrun asserts that restarts are not negative.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - torchrun
    -         - --max-restarts=unlimited  # <--
    +         - --max-restarts=3
              - train.py
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write a whole number; the port up to 65535, the others from 0 on; the interval may have a fraction.

Source: PyTorch 2.13, torch/distributed/run.py, get_args_parser and config_from_args.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.environment import is_never_number
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole
from ptcompile.simulator.launchers.torchrun import is_int, is_literal

_seconds = Pattern(r"(?a)\s*\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*").fullmatch
_MOST = {"node-rank": 2**31 - 1, "master-port": 65535, "max-restarts": 2**63 - 1}


def _check(subject: Subject) -> Iterator[Finding]:
    for one in subject.training_roles:
        for option, value in _values(one).items():
            text = is_never_number(value) and not one.is_uncertain
            if text or (is_literal(value) and not _taken(option, value)):
                path = one.path_of(option)
                name = one.variable(option) if one.is_env_script else one.option_name(option)
                yield found_at(
                    path,
                    f"{one.launcher_name} does not start with {name} {value!r}: {_wanted(option)}",
                    "write a number",
                )


def _values(one: TrainingRole) -> dict[str, str]:
    """The options that want a number, with what they are given."""
    if one.is_env_script:
        found = {"node-rank": one.launch.env.get("RANK", "0"), "nnodes": one.launch.env.get("WORLD_SIZE", "1")}
        return {option: value for option, value in found.items() if one.env_index(one.variable(option)) is not None}
    checked = (*_MOST, "monitor-interval") if one.is_torchrun else tuple(_MOST) if one.is_modeled else ()
    return {option: one.options[option] for option in checked if option in one.options}


def _taken(option: str, value: str) -> bool:
    if option == "monitor-interval":
        return _seconds(value) is not None
    return is_int(value) and 0 <= int(value) <= _MOST.get(option, 2**31 - 1)


def _wanted(option: str) -> str:
    if option == "monitor-interval":
        return "it wants seconds, such as 0.1"
    return "it wants a port up to 65535" if option == "master-port" else "it wants a whole number from 0 on"


RULE = Rule("bad-launch-number", _check, severity="error", stage="run", authority="torchrun")
