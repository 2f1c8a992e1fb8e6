"""Apply a function to many files in several processes, with results in the order of the files.

Processes are forked if that is safe, otherwise spawned, which pickles `work`. They hold no files or
locks, so they can be killed at any time, and they exit once the process that started them is gone.
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
    from typing import Any, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")
    _Process = ForkProcess | SpawnProcess


FILES_PER_PROCESS = 100
"""Number of files that justifies a process: a fork takes as long as linting about 20 of them or
compiling about 60.
"""
MAX_PROCESSES = 60
"""Limit of processes: Windows waits for at most 63 at once."""
_CPU_QUOTA_FILE = "/sys/fs/cgroup/cpu.max"
"""CPU limit of the container (cgroup v2): `QUOTA PERIOD` in microseconds; `max` means no limit."""


def process_count(jobs: int | None, files: int, files_per_process: int = FILES_PER_PROCESS) -> int:
    """Return the number of processes for a number of files: `jobs` if set, else as many as there
    are cores and work for.
    """
    count = jobs if jobs is not None else min(core_count(), files // files_per_process)
    return max(1, min(count, files, MAX_PROCESSES))


def core_count() -> int:
    """Return the number of cores that this process may use, given its affinity and its
    container.
    """
    try:
        available = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        # only Linux has affinities
        available = os.cpu_count() or 1
    return max(1, min(available, _quota_in_cores() or available))


def _quota_in_cores() -> int:
    """Return the container's CPU limit in cores, rounded up, or 0 for no limit."""
    try:
        with open(_CPU_QUOTA_FILE, encoding="ascii") as file:
            quota, period = map(int, file.read().split())
        return -(-quota // period)
    except (OSError, ValueError, ZeroDivisionError):
        return 0


_MAX_ITEMS_BEFORE_FORK = 8
"""Limit of items processed before the fork: forked processes share the modules that these load."""
_MAX_CHUNK = 32
"""Limit of items per message; a message takes about a tenth of the time of linting a file."""
_MAX_CHUNKS_AHEAD = 4
"""Chunks per process that may be finished ahead of their turn; this limits the memory."""


def map_in_processes(
    work: Callable[[T], R], items: Sequence[T], jobs: int
) -> Generator[R, None, None]:
    """Yield the results of `work` for the items, in order.

    An exception of `work` is raised at its item's turn. Raises `UsageError` if a process is killed.
    """
    if jobs < 2 or len(items) < 2:
        yield from map(work, items)
        return

    if forks := _can_fork():
        first = max(1, min(_MAX_ITEMS_BEFORE_FORK, len(items) // (4 * jobs)))
        yield from map(work, items[:first])
        items = items[first:]

    try:
        workers = _Pool(work, items, jobs, forks)
    except OSError:
        # no more processes or pipes are allowed
        yield from map(work, items)
        return

    try:
        chunks = [*_chunks(len(items), jobs)]
        for chunk, results in zip(chunks, workers.results(chunks), strict=True):
            yield from results
            # an item that failed in its process fails again here, with its traceback
            yield from map(work, items[chunk][len(results) :])
    finally:
        workers.end()


def _chunks(count: int, jobs: int) -> Iterator[slice]:
    """Yield slices of `count` items in order. The last ones are small, so all processes finish at
    about the same time.
    """
    start = 0
    while start < count:
        size = max(1, min(_MAX_CHUNK, (count - start) // (4 * jobs)))
        yield slice(start, start + size)
        start += size


class _Pool:
    """The processes and the pipe to each."""

    def __init__(
        self, work: Callable[[Any], Any], items: Sequence[Any], jobs: int, forks: bool
    ) -> None:
        self._processes: dict[Connection[Any, Any], _Process] = {}
        self._items = items
        self._forks = forks
        try:
            with _block_interrupts(forks):
                self._start(work, jobs, forks)
        except BaseException:
            self.end()
            raise

    def _start(self, work: Callable[[Any], Any], jobs: int, forks: bool) -> None:
        """Start the processes, each with a pipe of chunks and results."""
        from multiprocessing import get_context

        context = get_context("fork") if forks else get_context("spawn")
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            inherited = [*self._processes, ours] if forks else []
            # a spawned process receives each chunk
            inherited_items = self._items if forks else None
            process = context.Process(
                target=_serve, args=(work, inherited_items, theirs, inherited), daemon=True
            )
            process.start()
            theirs.close()
            self._processes[ours] = process

    def results(self, chunks: Sequence[slice]) -> Iterator[list[Any]]:
        """Yield the results of each chunk in order; fewer than it has items if one of them
        raised an exception.
        """
        from multiprocessing.connection import wait

        idle = [*self._processes]
        busy: dict[Any, int] = {}
        done: dict[int, list[Any]] = {}
        sent = 0
        for turn in range(len(chunks)):
            while True:
                while idle and sent < min(
                    len(chunks), turn + _MAX_CHUNKS_AHEAD * len(self._processes)
                ):
                    busy[idle[-1]] = sent
                    self._send(idle.pop(), chunks[sent])
                    sent += 1

                if turn in done:
                    break

                for ready in wait([*busy]):
                    done[busy.pop(ready)] = self._receive(ready)
                    idle.append(ready)  # type: ignore[arg-type]  # wait() returns connections that it was given

            yield done.pop(turn)

    def _send(self, connection: Connection[Any, Any], chunk: slice) -> None:
        try:
            connection.send(chunk if self._forks else self._items[chunk])
        except OSError:
            raise self._lost_process(connection) from None

    def _receive(self, connection: Any) -> list[Any]:
        try:
            received: list[Any] = connection.recv()
        except (EOFError, OSError):
            raise self._lost_process(connection) from None
        return received

    def _lost_process(self, connection: Connection[Any, Any]) -> UsageError:
        process = self._processes[connection]
        process.join(1)
        code = process.exitcode
        if code is not None and code < 0:
            how = f"was killed by signal {-code}"
        else:
            how = f"ended with status {code}"

        return UsageError(
            f"a worker process {how}; if memory ran out, use fewer processes, for example --jobs 1"
        )

    def end(self) -> None:
        """Terminate the processes."""
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
    """Process chunks until the pipe is closed.

    A fork has all items and receives slices of them; `inherited` are the other pipe ends that it
    must close.
    """
    for connection in inherited:
        connection.close()
    # the parent process ends this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # the command's own process runs without garbage collection too
    gc.disable()
    # a closed pipe means that there is no more work
    with suppress(Exception):
        while True:
            chunk = pipe.recv()
            pipe.send(_work_until_error(work, chunk if items is None else items[chunk]))


def _work_until_error(work: Callable[[Any], Any], chunk: Sequence[Any]) -> list[Any]:
    results: list[Any] = []
    with suppress(Exception):
        for item in chunk:
            results.append(work(item))
    return results


def _can_fork() -> bool:
    """Return whether a fork is safe: on Linux, in a process without any other thread, native
    ones included.
    """
    if sys.platform != "linux":
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


@contextmanager
def _block_interrupts(forks: bool) -> Iterator[None]:
    """Block Ctrl-C while processes are started: they inherit that, so only the starting process
    handles it.
    """
    # Windows cannot block signals
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return

    if not forks:
        from multiprocessing import resource_tracker

        # starting it later would unblock Ctrl-C
        resource_tracker.ensure_running()

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
