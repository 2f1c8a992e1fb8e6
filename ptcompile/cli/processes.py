"""A function over many files in several processes, results in the order of the files.

Processes are forked where that is safe, and spawned elsewhere; `work` is pickled then. They hold no files and no
locks, so that they can be ended at any time, and they end by themselves once the process that started them is gone.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

from ptcompile.cli.files import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess, SpawnProcess
    from typing import Any, Final, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")
    _Worker = ForkProcess | SpawnProcess


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


_FIRST: Final = 8
"""Items before a fork, at most: what they load, no other process loads again."""
_CHUNK: Final = 32
"""Items of one message, at most: a message costs about a tenth of judging a file."""
_AHEAD: Final = 4
"""Chunks for each process that may be done before their turn: what bounds the memory."""


def map_in_processes(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Generator[R, None, None]:
    """The results of `work` for the items, in their order.

    What `work` raises is raised at its item's turn. Raises `UsageError` if a process is killed.
    """
    if jobs < 2 or len(items) < 2:
        yield from map(work, items)
        return
    if forks := _can_fork():
        first = max(1, min(_FIRST, len(items) // (4 * jobs)))
        yield from map(work, items[:first])
        items = items[first:]
    try:
        workers = _Workers(work, items, jobs, forks)
    except OSError:  # no more processes or pipes are allowed
        yield from map(work, items)
        return
    try:
        chunks = [*_chunks(len(items), jobs)]
        for chunk, results in zip(chunks, workers.results(chunks), strict=True):
            yield from results
            yield from map(work, items[chunk][len(results) :])  # one that failed there raises here, with its traceback
    finally:
        workers.end()


def _chunks(count: int, jobs: int) -> Iterator[slice]:
    """Parts of so many items, in order. The last ones are small, so that all processes are done at about one time."""
    at = 0
    while at < count:
        size = max(1, min(_CHUNK, (count - at) // (4 * jobs)))
        yield slice(at, at + size)
        at += size


class _Workers:
    """The processes, and the pipe to each."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any], jobs: int, forks: bool) -> None:
        self._processes: dict[Connection[Any, Any], _Worker] = {}
        self._items, self._forks = items, forks
        try:
            with _interrupts_held(forks):
                self._start(work, jobs, forks)
        except BaseException:
            self.end()
            raise

    def _start(self, work: Callable[[Any], Any], jobs: int, forks: bool) -> None:
        from multiprocessing import get_context

        context = get_context("fork") if forks else get_context("spawn")
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            inherited = [*self._processes, ours] if forks else []
            given = self._items if forks else None  # else each chunk is sent
            process = context.Process(target=_serve, args=(work, given, theirs, inherited), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process

    def results(self, chunks: Sequence[slice]) -> Iterator[list[Any]]:
        """The results of each chunk in its turn: fewer than it has items where one of them raised an exception."""
        from multiprocessing.connection import wait

        idle = [*self._processes]
        busy: dict[Any, int] = {}
        done: dict[int, list[Any]] = {}
        sent = 0
        for turn in range(len(chunks)):
            while True:
                while idle and sent < min(len(chunks), turn + _AHEAD * len(self._processes)):
                    busy[idle[-1]] = sent
                    self._send(idle.pop(), chunks[sent])
                    sent += 1
                if turn in done:
                    break
                for ready in wait([*busy]):
                    done[busy.pop(ready)] = self._received(ready)
                    idle.append(ready)  # type: ignore[arg-type]  # it is one of those given
            yield done.pop(turn)

    def _send(self, to: Connection[Any, Any], chunk: slice) -> None:
        try:
            to.send(chunk if self._forks else self._items[chunk])
        except OSError:
            raise self._lost(to) from None

    def _received(self, ready: Any) -> list[Any]:
        try:
            received: list[Any] = ready.recv()
        except (EOFError, OSError):
            raise self._lost(ready) from None
        return received

    def _lost(self, one: Connection[Any, Any]) -> UsageError:
        process = self._processes[one]
        process.join(1)
        code = process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"
        return UsageError(f"a worker process {how}; if memory ran out, use fewer processes, for example --jobs 1")

    def end(self) -> None:
        """End them, whatever they do."""
        for ours, process in self._processes.items():
            ours.close()
            process.terminate()
        for process in self._processes.values():
            process.join()


def _serve(
    work: Callable[[Any], Any],
    items: Sequence[Any] | None,
    pipe: Connection[Any, Any],
    inherited: Sequence[Connection[Any, Any]],
) -> None:
    """Answer one chunk after the other, until the pipe is closed.

    A fork has all items and is sent slices of them; `inherited` are the other ends that it has.
    """
    for one in inherited:
        one.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked ends this one
    gc.disable()  # as in the command's own process
    with suppress(Exception):  # the pipe was closed: there is no more to do
        while True:
            chunk = pipe.recv()
            pipe.send(_worked(work, chunk if items is None else items[chunk]))


def _worked(work: Callable[[Any], Any], chunk: Sequence[Any]) -> list[Any]:
    results: list[Any] = []
    with suppress(Exception):
        for item in chunk:
            results.append(work(item))
    return results


def _can_fork() -> bool:
    """Whether a fork is safe: on Linux, in a process without any other thread, of Python or not."""
    if sys.platform != "linux":
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


@contextmanager
def _interrupts_held(forks: bool) -> Iterator[None]:
    """Ctrl-C is for the process that was asked, behind this: those started in it never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    if not forks:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # which would let Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
