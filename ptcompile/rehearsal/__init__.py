"""Rehearsals: a job's pods as real torchrun processes in separate namespaces, with injected faults
and a verdict.

`runner` drives the rehearsal: `cast` derives pods from a simulated job; `places` gives them
folders, addresses and names; `course` runs them on a back end that `backends` chooses
(`namespaces`, with the programs `stage` and `inside`, or `containers`, which `sweep` removes);
`verdict` compares the result with what `simulate` predicts; `report` renders it.
"""

from ptcompile.rehearsal.places import RehearsalSettings
from ptcompile.rehearsal.report import text, to_dict
from ptcompile.rehearsal.runner import Rehearsal, default_limit, rehearse
from ptcompile.rehearsal.settings import FORMS, RehearsalError, fault

__all__ = [
    "FORMS",
    "Rehearsal",
    "RehearsalError",
    "RehearsalSettings",
    "default_limit",
    "fault",
    "rehearse",
    "text",
    "to_dict",
]
