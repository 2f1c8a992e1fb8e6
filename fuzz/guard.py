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
from typing import Final

from fuzz.harness import Harness
from fuzz.mutate import MAX_SIZE

MAX_SECONDS: Final = 1.0
"""Processor time of one execution: a machine that others use too makes nothing of it slower."""
MAX_SPACE: Final = 1 << 30
"""Bytes of address space above the start: what would take more raises MemoryError, and is a crash that is kept."""
MAX_WALL: Final = 30.0
"""Seconds of one execution, after which its process is killed from outside: native code sees no signal, and a read that
waits takes no processor time."""
MAX_START: Final = 300.0
"""Seconds until the first execution."""
MAX_MEMORY: Final = 200 * 1024 * 1024
"""Bytes: the peak of the process, above what it was when all was loaded."""


class HangError(BaseException):
    """An execution took longer than `MAX_SECONDS`; no `except Exception` takes it for a mistake of the input."""


class MemoryHogError(Exception):
    """The peak of the process grew by more than `MAX_MEMORY`."""


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
        signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
        try:
            self._harness(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.slowest = max(self.slowest, time.process_time() - started)
        if (more := self.grown()) > MAX_MEMORY:
            self._base = peak()  # the peak stays: what comes after is measured against it
            raise MemoryHogError(f"{more >> 20} MiB more than at the start")

    def grown(self) -> int:
        """Bytes that the peak is above what it was at the start."""
        return peak() - self._base


def shared() -> mmap:
    """Memory for `current`."""
    return mmap(-1, 16 + 16 * MAX_SIZE)


def last_of(current: mmap) -> bytes:
    """The input that was run last."""
    return current[16 : 16 + int.from_bytes(current[8:16], "big")]


def count_of(current: mmap) -> int:
    """How many inputs were run, with the one that is run now."""
    return int.from_bytes(current[:8], "big")


def watch(child: int, current: mmap) -> int | None:
    """Wait for a process to end; its status, None where it was killed because one input took too long."""
    count, since = count_of(current), time.monotonic()
    most = MAX_START
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        now = count_of(current)
        if now != count:
            count, since, most = now, time.monotonic(), MAX_WALL
        elif time.monotonic() - since > most:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.05)


def limit_memory(more: int = MAX_SPACE) -> None:
    """Let this process have so many bytes more of address space than it has (Linux)."""
    if sys.platform == "linux":
        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise HangError(f"more than {MAX_SECONDS} s of processor time")
