"""Work for processes: functions that a spawned process can import."""

from __future__ import annotations

import os
import signal


def doubled(number: int) -> int:
    return 2 * number


def process_of(number: int) -> tuple[int, int]:
    return number, os.getpid()


def fails_at_twenty(number: int) -> int:
    if number == 20:
        raise LookupError("twenty")
    return number


def dies_at_twenty(number: int) -> int:
    if number == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Unpicklable:
    """Work whose results cannot be sent."""

    def __call__(self, number: int) -> object:
        return lambda: number
