"""A Python switch is set to a word such as false, which turns it on.

PTC818 inverted-python-switch: warning at run (differs), by ptcompile.
Needs: env false/no/off/disabled/PYTHONFAULTHANDLER

What: PYTHONUNBUFFERED, PYTHONDONTWRITEBYTECODE or a similar variable is `false`, `no` or `off`; for
PYTHONFAULTHANDLER also `0`.

Why: Python expects a whole number and treats any other text as 1: "false" turns the switch on.

Example: pod.yaml with

      - name: pytorch
        env:
          - name: PYTHONOPTIMIZE
    -       value: "false"  # <--
    +       value: "0"

Fix: remove the variable to turn it off; write "1" to turn it on.

Source: CPython 3.11, Python/preconfig.c (_Py_get_env_flag) and Python/initconfig.c; a test of
ptcompile runs the interpreter.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at

SWITCHES = frozenset(
    {
        "PYTHONDEBUG",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONFAULTHANDLER",
        "PYTHONNOUSERSITE",
        "PYTHONOPTIMIZE",
        "PYTHONUNBUFFERED",
        "PYTHONVERBOSE",
    }
)
_OFF_VALUES = frozenset({"false", "no", "off", "disabled"})


def check(subject: Subject) -> Findings:
    for entry in subject.variables:
        value = entry.text.lower()
        if entry.name in SWITCHES and (
            value in _OFF_VALUES or (value == "0" and entry.name == "PYTHONFAULTHANDLER")
        ):
            yield found_at(
                entry.value_path,
                f"{entry.name}={entry.value} turns the switch on: Python reads the value as 1",
                'remove the variable, or write "1" to turn it on',
                fix_removing_variable(entry),
            )
