"""How a rehearsal is requested: its settings, faults as text, and its error."""

from __future__ import annotations

import re
from typing import Final

from ptcompile.simulator.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.faults import FaultKind


class RehearsalError(Exception):
    """This job, or this machine, cannot rehearse; the text says what is missing."""


_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}
_AGAIN = re.compile(r"(\d+)(?:@([\w.]+))?(?:,back=([\w.]+))?")
_LATE = re.compile(r"(\d{1,9})=([\w.]+)")
FORMS: Final[dict[FaultKind, str]] = {
    "late": "POD=TIME",
    "kill": "POD[@TIME][,back=TIME]",
    "drain": "POD[@TIME][,back=TIME]",
    "fail-process": "POD[@TIME]",
    "dns-lag": "TIME",
}
"""How each is written; pods count from 0 over those that train."""
SOON: Final = 3.0
"""Seconds after all train, where no time is given."""


def duration(text: str) -> float:
    """Seconds of `20s`, `2m`, `1.5` or `1h`.

    Raises:
        ValueError: it is not such a time.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        raise ValueError(f"{text!r} is not a time such as 20s or 2m")
    return float(found[1]) * _SECONDS[found[2]]


def fault(kind: FaultKind, text: str) -> Fault:
    """The fault that a word of the command line asks for.

    Raises:
        ValueError: the word has another form than `FORMS` says.
    """
    if kind not in FORMS:
        raise ValueError(f"no fault is called {kind!r}; there are {', '.join(FORMS)}, such as late {_EXAMPLES['late']}")
    if kind == "dns-lag":
        return Fault(kind, 0, duration(text))
    found = (_LATE if kind == "late" else _AGAIN).fullmatch(text)
    if found is None or (kind == "fail-process" and found[3]):
        raise ValueError(f"--{kind} {text}: write {FORMS[kind]}, such as {_EXAMPLES[kind]}")
    at = duration(found[2]) if found[2] else SOON
    back = duration(found[3]) if kind in ("kill", "drain") and found[3] else None
    return Fault(kind, int(found[1]), at, back)


_EXAMPLES: Final[dict[FaultKind, str]] = {
    "late": "0=150s",
    "kill": "2@10s,back=20s",
    "drain": "1,back=20s",
    "fail-process": "1@5s",
    "dns-lag": "6s",
}
