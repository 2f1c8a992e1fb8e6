"""Rehearsals: a job's pods as real processes of torchrun, in namespaces of their own, with faults, and a verdict.

`runner` does it all: `cast` makes pods of a simulated job, `places` gives them folders, addresses and names, `course`
plays them on a back end that `backends` chooses (`namespaces`, whose programs are `stage` and `inside`, or
`containers`, removed by `sweep`), `verdict` compares with what `simulate` claims, and `report` tells it.
"""

from ptcompile.rehearsal.places import RehearsalSettings
from ptcompile.rehearsal.report import text, to_dict
from ptcompile.rehearsal.runner import Rehearsal, enough, rehearse
from ptcompile.rehearsal.settings import FORMS, RehearsalError, fault

__all__ = [
    "FORMS",
    "Rehearsal",
    "RehearsalError",
    "RehearsalSettings",
    "enough",
    "fault",
    "rehearse",
    "text",
    "to_dict",
]
