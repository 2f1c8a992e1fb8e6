"""torchrun rejects an option that must be a number and does not start.

PTC416 bad-launch-number: error at run (fails), by torchrun.
Needs: {RENDEZVOUS_WORDS} rank/port/restarts/interval/maxRestarts/containerPort

What: --node-rank, --master-port, --max-restarts or --monitor-interval, or its PET_* variable, is
not a number, or is out of range.

Why: argparse ends the process with "invalid int value", and torchrun asserts that restarts are not
negative.

Example: pod.yaml with

      command:
        - torchrun
    -   - --max-restarts=unlimited  # <--
    +   - --max-restarts=3
        - train.py

Fix: write a whole number: the port up to 65535, the others at least 0; the interval may have a
fraction.

Source: PyTorch 2.13, torch/distributed/run.py, get_args_parser and config_from_args.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.environment import is_never_number
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.torchrun import is_int, is_literal

_seconds = Pattern(r"(?a)\s*\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*").fullmatch
_MAX_VALUES = {"node-rank": 2**31 - 1, "master-port": 65535, "max-restarts": 2**63 - 1}


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        has_random_name = role.pod.hostname is None and not role.pod.on_host
        for option, value in _numeric_options(role).items():
            is_random = has_random_name and any(name in value for name in _HOST_NAMES)
            is_text = (is_random or is_never_number(value)) and not role.is_uncertain(option)
            if is_text or (is_literal(value) and not _is_accepted(option, value)):
                path = role.path_of(option)
                if role.member.is_env_script:
                    name = role.member.variable(option)
                else:
                    name = role.member.option_name(option)

                yield found_at(
                    path,
                    f"{role.launcher_name} does not start with {name} {value!r}: "
                    f"{_expectation(option)}"
                    + (", and the pods' names end in random letters" if is_random else ""),
                    "use c10d, or an Indexed Job, whose pods have indexes"
                    if is_random
                    else "write a number",
                )


_HOST_NAMES = ("HOSTNAME", "$(hostname", "`hostname", "<metadata.name>")


def _numeric_options(role: TrainingRole) -> dict[str, str]:
    """Return the options that must be numbers, with their values."""
    if role.member.is_env_script:
        values = {
            "node-rank": role.launch.env.get("RANK", "0"),
            "nnodes": role.launch.env.get("WORLD_SIZE", "1"),
        }
        return {
            option: value
            for option, value in values.items()
            if role.user_entry(role.member.variable(option))
        }

    options = [*_MAX_VALUES] if role.member.is_modeled else []
    if role.is_torchrun:
        options = [*_MAX_VALUES, "monitor-interval"]

    return {option: role.options[option] for option in options if option in role.options}


def _is_accepted(option: str, value: str) -> bool:
    if option == "monitor-interval":
        return _seconds(value) is not None
    return is_int(value) and 0 <= int(value) <= _MAX_VALUES.get(option, 2**31 - 1)


def _expectation(option: str) -> str:
    if option == "monitor-interval":
        return "it must be a number of seconds, such as 0.1"
    if option == "master-port":
        return "it must be a port up to 65535"
    return "it must be a whole number of at least 0"
