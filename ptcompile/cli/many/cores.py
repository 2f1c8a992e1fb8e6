"""How many processes share the work."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

EACH: Final = 100
"""Files that pay for a process: to fork it takes as long as judging some 20 of them, or compiling some 60."""
MOST: Final = 60
"""Windows waits for at most 63 processes at once."""
_QUOTA: Final = "/sys/fs/cgroup/cpu.max"
"""The processor time of a container, as `QUOTA PERIOD` in microseconds; `max` is all of it (cgroup v2)."""


def processes(asked: int | None, files: int) -> int:
    """Processes for a number of files: as many as were asked for, else as many as there are cores and work for."""
    wanted = asked if asked is not None else min(cores(), files // EACH)
    return max(1, min(wanted, files, MOST))


def cores() -> int:
    """The cores that this process may use, as its affinity and its container have it."""
    try:
        there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    except OSError:
        there = os.cpu_count() or 1
    return max(1, min(there, _quota() or there))


def _quota() -> int:
    """The cores that a container's processor time makes up, rounded up; 0 where it is not limited."""
    try:
        with open(_QUOTA, encoding="ascii") as file:
            quota, period = map(int, file.read().split())
        return -(-quota // period)
    except (OSError, ValueError, ZeroDivisionError):
        return 0
