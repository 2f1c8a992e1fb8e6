"""Requests for a rehearsal: the faults as text, and the error."""

from __future__ import annotations

import os
import re

from ptcompile.simulator.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.faults import FaultKind


PROGRAMS = os.path.dirname(os.path.abspath(__file__))
"""Folder of the standalone programs."""


class RehearsalError(Exception):
    """Raised when this job or this machine cannot rehearse; the message says what is missing."""


_SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3600}
_FAULT_PATTERN = re.compile(r"(?P<pod>\d+)(?:@(?P<time>[\w.]+))?(?:,back=(?P<back>[\w.]+))?")
_LATE_PATTERN = re.compile(r"(?P<pod>\d{1,9})=(?P<time>[\w.]+)")
FORMS: dict[FaultKind, str] = {
    "late": "POD=TIME",
    "kill": "POD[@TIME][,back=TIME]",
    "drain": "POD[@TIME][,back=TIME]",
    "fail-process": "POD[@TIME]",
    "dns-lag": "TIME",
}
"""Format of each fault's argument; pods are numbered from 0 among the training pods."""
DEFAULT_FAULT_SECONDS = 3.0
"""Seconds after all pods train, if a fault has no time."""


def parse_duration(text: str) -> float:
    """Return the seconds in `20s`, `2m`, `1.5` or `1h`.

    Raises:
        ValueError: the text is not a duration.
    """
    match = re.fullmatch(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[smh]?)", text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 20s or 2m")
    return float(match["number"]) * _SECONDS_PER_UNIT[match["unit"]]


def fault(kind: FaultKind, text: str) -> Fault:
    """Parse the argument of a fault on the command line.

    Raises:
        ValueError: the argument does not match `FORMS`.
    """
    if kind not in FORMS:
        raise ValueError(
            f"{kind!r} is not a fault: use {', '.join(FORMS)}, such as late {_EXAMPLES['late']}"
        )
    if kind == "dns-lag":
        return Fault(kind, 0, parse_duration(text))

    match = (_LATE_PATTERN if kind == "late" else _FAULT_PATTERN).fullmatch(text)
    if match is None or (kind == "fail-process" and match["back"]):
        raise ValueError(f"--{kind} {text}: write {FORMS[kind]}, such as {_EXAMPLES[kind]}")

    seconds = parse_duration(match["time"]) if match["time"] else DEFAULT_FAULT_SECONDS
    back = parse_duration(match["back"]) if kind in ("kill", "drain") and match["back"] else None

    return Fault(kind, int(match["pod"]), seconds, back)


_EXAMPLES: dict[FaultKind, str] = {
    "late": "0=150s",
    "kill": "2@10s,back=20s",
    "drain": "1,back=20s",
    "fail-process": "1@5s",
    "dns-lag": "6s",
}
