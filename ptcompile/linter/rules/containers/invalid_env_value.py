"""A variable has a value that its reader does not accept.

PTC817 invalid-env-value: warning at run (differs), by ptcompile.
Needs: nccl/distributed/threads

What: a switch of NCCL is not a number (`true`), a level of NCCL_DEBUG or TORCH_DISTRIBUTED_DEBUG is
unknown, or a number of threads is not positive.

Why: NCCL reads its switches as numbers, says so in its log and goes on with the default:
`NCCL_IB_DISABLE: "true"` disables nothing. PyTorch stops at an unknown TORCH_DISTRIBUTED_DEBUG.

Example: pod.yaml with

      - name: pytorch
        env:
          - name: NCCL_IB_DISABLE
    -       value: "true"  # <--
    +       value: "1"

Fix: write a value that the reader accepts.

Source: NCCL 2.29, environment variables; PyTorch 2.13, torch/csrc/distributed/c10d/debug.cpp;
OpenMP 5.2.
"""

from __future__ import annotations

from ptcompile._internal.spelling import is_short_number
from ptcompile.linter.environment import LEVEL_VARIABLES, NCCL_INTEGERS, THREAD_COUNTS
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_SWITCH_NUMBERS = {
    "true": "1",
    "yes": "1",
    "on": "1",
    "enabled": "1",
    "false": "0",
    "no": "0",
    "off": "0",
    "disabled": "0",
}


def check(subject: Subject) -> Findings:
    for entry in subject.variables:
        value = entry.value
        expected = _expected_value(entry.name, value) if value and "$" not in value else None
        if value and expected is not None:
            path = entry.value_path
            number = _SWITCH_NUMBERS.get(value.lower()) if entry.name in NCCL_INTEGERS else None
            yield found_at(
                path,
                f"{entry.name} must be {expected}, not {value!r}",
                f'write "{number}"' if number else f"write {expected}",
                fix_setting(f'write "{number}"', path, number) if number else None,
            )


def _expected_value(name: str, value: str) -> str | None:
    """Return what the variable accepts, or None if it accepts `value`."""
    if name in LEVEL_VARIABLES:
        if value.strip().upper() in LEVEL_VARIABLES[name]:
            return None
        return "one of " + ", ".join(LEVEL_VARIABLES[name])
    if name in NCCL_INTEGERS:
        if is_short_number(value.strip().lstrip("+-")[:1]):
            return None
        return "a number such as 0 or 1"
    if name in THREAD_COUNTS:
        parts = value.split(",")
        if all(is_short_number(part.strip()) and int(part) > 0 for part in parts):
            return None
        return "a number above 0"
    return None
