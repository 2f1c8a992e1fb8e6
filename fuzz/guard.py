"""One execution: with a clock on its processor time and an eye on the memory of the process."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from mmap import mmap
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from fuzz.harness import Harness
from fuzz.mutate import LARGEST, MAX_SIZE

MAX_SECONDS: Final = 1.0
"""Processor time of one execution of a small input: a machine that others use too makes nothing
of it slower.
"""
MAX_SPACE: Final = 1 << 30
"""Bytes of address space above the start: what would take more raises MemoryError, and is a
crash that is kept.
"""
MAX_WALL: Final = 90.0
"""Seconds of one small input, after which its process is killed from outside: native code sees no
signal, and a read that waits takes no processor time.
"""
SHARE: Final = 0.1
"""Least share of a processor that an execution has: more time of the clock passes on a machine
that others use too.
"""
MAX_START: Final = 300.0
"""Seconds until the first execution."""
MAX_MEMORY: Final = 200 * 1024 * 1024
"""Bytes for a small input: the peak of the process, above what it was when all was loaded."""


class Allowed(NamedTuple):
    """What one execution may take."""

    seconds: float
    memory: int


def allowed(size: int) -> Allowed:
    """What an input of so many bytes may take: from 16 KB on more for each byte, up to 600 MB and
    40 s at 1 MB, since an execution asks several verbs, of which each may take 10 s.
    """
    share = max(0, size - MAX_SIZE) / (LARGEST - MAX_SIZE)
    return Allowed(MAX_SECONDS + 39 * share, MAX_MEMORY + round(400 * share) * 1024 * 1024)


class HangError(BaseException):
    """An execution took longer than it may; no `except Exception` takes it for a mistake of the
    input.
    """


class MemoryHogError(Exception):
    """The peak of the process grew by more than an input of its size may take."""


class Guard:
    """Runs inputs one by one, and knows the slowest and the largest.

    `current` is memory that another process sees too: the input that this one died of.
    """

    def __init__(self, harness: Harness, current: mmap | None = None, executions: int = 0) -> None:
        self._harness = harness
        self._current = current
        self._base = peak()
        self.executions = executions
        self.slowest = 0.0
        signal.signal(signal.SIGVTALRM, _too_long)

    def __call__(self, data: bytes) -> None:
        """Run one input. Raises what the harness raises, `HangError`, `MemoryHogError`."""
        self.executions += 1
        if self._current is not None:
            self._current[8:16] = len(data).to_bytes(8, "big")
            self._current[16 : 16 + len(data)] = data
            self._current[:8] = self.executions.to_bytes(8, "big")

        started = time.process_time()
        most, before = allowed(len(data)), peak()
        signal.setitimer(signal.ITIMER_VIRTUAL, most.seconds)
        try:
            self._harness(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

        self.slowest = max(self.slowest, time.process_time() - started)
        # the peak is of this input, and of none before it
        if peak() > before and (more := self.grown()) > most.memory:
            self._base = peak()  # the peak stays: what comes after is measured against it
            raise MemoryHogError(f"{more >> 20} MiB more than at the start")

    def grown(self) -> int:
        """Bytes that the peak is above what it was at the start."""
        return peak() - self._base


def shared() -> mmap:
    """Memory for `current`."""
    return mmap(-1, 16 + LARGEST)


def last_of(current: mmap) -> bytes:
    """The input that was run last."""
    return current[16 : 16 + int.from_bytes(current[8:16], "big")]


def count_of(current: mmap) -> int:
    """How many inputs were run, with the one that is run now."""
    return int.from_bytes(current[:8], "big")


def watch(child: int, current: mmap) -> int | None:
    """Wait for a process to end; its status, None where it was killed because one input took too
    long.
    """
    count, since = count_of(current), time.monotonic()
    most = MAX_START
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)

        now = count_of(current)
        if now != count:
            size = int.from_bytes(current[8:16], "big")
            count, since, most = (
                now,
                time.monotonic(),
                MAX_WALL + (allowed(size).seconds - MAX_SECONDS) / SHARE,
            )
        elif time.monotonic() - since > most:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None

        time.sleep(0.05)


def limit_memory(more: int = MAX_SPACE) -> None:
    """Let this process have so many bytes more of address space than it has (Linux)."""
    if sys.platform == "linux":
        now = (
            int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            * resource.getpagesize()
        )
        resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise HangError("more processor time than an input of its size may take")
