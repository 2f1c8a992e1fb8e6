"""The deadline is over before the job begins.

PTC719 past-deadline: error at run (fails), by training-operator.
Needs: activeDeadlineSeconds

What: runPolicy.activeDeadlineSeconds is 0 or less.

Why: the operator compares it with the time since the start: the job fails at once, and its pods are
deleted.

Example: pytorchjob.yaml with

      runPolicy:
        backoffLimit: 3
    -   activeDeadlineSeconds: 0  # <--
    +   activeDeadlineSeconds: 86400

Fix: write the seconds that the job may run, or remove it for no limit.

Source: training-operator 1.9, PastActiveDeadline: 0 is past.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_PATH = ("spec", "runPolicy", "activeDeadlineSeconds")


def check(subject: Subject) -> Findings:
    seconds = nested_value(subject.spec, "runPolicy", "activeDeadlineSeconds")
    if type(seconds) is int and seconds <= 0:
        yield found_at(
            _PATH,
            f"{seconds} seconds are over as soon as the job starts: it fails at once",
            "write the seconds that the job may run, or remove it",
            fix_removing("remove it", _PATH),
        )
