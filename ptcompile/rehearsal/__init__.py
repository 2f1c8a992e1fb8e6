"""Rehearsals: a job's pods as real processes of torchrun, in namespaces of their own, with faults, and a verdict.

`actors` makes pods of a simulated job, `places` gives them folders, addresses and names, `course` plays them on a back
end (`namespaces`, whose programs are `stage` and `inside`), `judge` compares with what `simulate` claims, and `report`
tells it.
"""

from ptcompile.rehearsal.errors import RehearsalError
from ptcompile.rehearsal.places import Settings
from ptcompile.rehearsal.rehearse import Rehearsal, enough, interpreter, rehearse
from ptcompile.rehearsal.report import text, to_dict
from ptcompile.rehearsal.words import FORMS, fault

__all__ = [
    "FORMS",
    "Rehearsal",
    "RehearsalError",
    "Settings",
    "enough",
    "fault",
    "interpreter",
    "rehearse",
    "text",
    "to_dict",
]
