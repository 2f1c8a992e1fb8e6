"""Several processes over many items: the same results in the same order, exceptions, killed processes, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from ptcompile.cli import processes
from ptcompile.cli.files import UsageError
from ptcompile.cli.processes import map_in_processes
from tests.cli import work
from tests.cli.running import ROOT, no_traceback, process
from tests.making import smallest

ITEMS = tuple(range(50))
LINT = (sys.executable, "-m", "ptcompile", "lint", "--isolated", "--no-cache")


FORKED = """\
import os, pytest
from ptcompile.cli.files import UsageError
from ptcompile.cli import processes
from tests.cli import test_processes as tests, work
assert processes._can_fork()
for one in (1, 2, 4):
    tests.test_results_come_in_order(None, one)
tests.test_the_work_is_shared(None)
tests.test_an_exception_is_raised_at_its_turn(None)
tests.test_a_killed_process_is_an_error(None)
tests.test_results_that_cannot_be_sent_are_an_error(None)
tests.test_abandoned_processes_are_ended(None)
print("done")
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="forks, and asks /proc")


@on_linux
def test_all_tests_here_pass_with_forks() -> None:
    """In a separate process: the tests' process may have other threads."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-W", "error", "-c", FORKED]
    done = subprocess.run(
        words, env=env, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spawn processes instead of forking them."""
    monkeypatch.setattr(processes, "_can_fork", lambda: False)


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_results_come_in_order(start: None, jobs: int) -> None:
    assert list(map_in_processes(work.doubled, ITEMS, jobs)) == [2 * item for item in ITEMS]


def test_the_work_is_shared(start: None) -> None:
    process_ids = list(map_in_processes(work.process_of, range(200), 2))
    assert [number for number, _ in process_ids] == list(range(200))
    assert len({pid for _, pid in process_ids} - {os.getpid()}) == 2


def test_without_more_processes_this_one_does_the_work(
    start: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise BlockingIOError("resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", full)
    assert {pid for _, pid in map_in_processes(work.process_of, ITEMS, 2)} == {os.getpid()}


def test_few_items_and_one_job_stay_in_this_process() -> None:
    assert {pid for _, pid in map_in_processes(work.process_of, ITEMS, 1)} == {os.getpid()}
    assert {pid for _, pid in map_in_processes(work.process_of, (1,), 4)} == {os.getpid()}
    assert list(map_in_processes(work.doubled, (), 4)) == []


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 9999])
@pytest.mark.parametrize("jobs", [2, 8])
def test_chunks_cover_all_items_and_the_last_are_small(count: int, jobs: int) -> None:
    chunks = [*processes._chunks(count, jobs)]
    assert [at for chunk in chunks for at in range(count)[chunk]] == list(range(count))
    sizes = [chunk.stop - chunk.start for chunk in chunks]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) <= processes._MAX_CHUNK
    assert set(sizes[-jobs:]) == {1}


def test_an_exception_is_raised_at_its_turn(start: None) -> None:
    results = map_in_processes(work.fails_at_twenty, ITEMS, 2)
    assert [next(results) for _ in range(20)] == list(range(20))
    with pytest.raises(LookupError, match="twenty"):
        next(results)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process_is_an_error(start: None) -> None:
    with pytest.raises(
        UsageError, match="a worker process was killed by signal 9; if memory ran out, use fewer"
    ):
        list(map_in_processes(work.dies_at_twenty, ITEMS, 2))


def test_results_that_cannot_be_sent_are_an_error(start: None) -> None:
    with pytest.raises(UsageError, match="a worker process ended with status 0"):
        list(map_in_processes(work.Unpicklable(), ITEMS, 2))


def test_abandoned_processes_are_ended(start: None) -> None:
    results = map_in_processes(work.process_of, range(400), 2)
    pids = {next(results)[1] for _ in range(100)} - {os.getpid()}
    results.close()
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_number_of_waiting_results_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slow item holds back a limited number of results."""
    asked: list[int] = []

    class Watched(Sequence[int]):
        def __len__(self) -> int:
            return 10_000

        def __getitem__(self, at: object) -> Sequence[int]:  # type: ignore[override]
            assert isinstance(at, slice)
            asked.append(at.start or 0)
            return range(10_000)[at]

    sent: list[int] = []
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    monkeypatch.setattr(processes._Pool, "_send", _counted(processes._Pool._send, sent))
    results = map_in_processes(work.doubled, Watched(), 2)
    next(results)
    results.close()
    assert len(sent) <= 2 * processes._MAX_CHUNKS_AHEAD


def _counted(send: Callable[..., None], sent: list[int]) -> Callable[..., None]:
    def counted(*given: object) -> None:
        sent.append(1)
        send(*given)

    return counted


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that takes some seconds."""
    folder = tmp_path_factory.mktemp("long")
    text = "---\n".join(smallest("", f"job-{number}") for number in range(20))
    for number in range(108):  # the first eight are judged before the processes are there
        content = (
            text.replace("job-", f"job-{number}-")
            if number >= 8
            else smallest(name=f"job-{number}")
        )
        (folder / f"{number:03}.yaml").write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def running(long: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a lint of the folder with two processes, in its own process group, and wait until both run."""
    words = [*LINT, "--jobs", "2", str(long)]
    done = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, start_new_session=True
    )
    try:
        _wait(lambda: len(_children(done.pid)) == 2)
        yield done
    finally:
        if not _gone(done.pid):
            os.killpg(done.pid, signal.SIGKILL)
        done.communicate()


def _children(pid: int) -> list[int]:
    try:
        return [
            int(part)
            for part in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        ]
    except OSError:
        return []


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not until():
        assert time.monotonic() < end
        time.sleep(0.01)


def _gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@on_linux
def test_ctrl_c_ends_all_processes(running: subprocess.Popen[bytes]) -> None:
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, b"", b"")
    _wait(lambda: _gone(running.pid))


@on_linux
def test_a_killed_process_fails_the_command(running: subprocess.Popen[bytes]) -> None:
    os.kill(_children(running.pid)[0], signal.SIGKILL)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (2, b"")
    message = (
        "ptcompile: a worker process was killed by signal 9; if memory ran out, use fewer processes"
    )
    assert err.decode().startswith(message)
    no_traceback(err.decode())
    _wait(lambda: _gone(running.pid))


@on_linux
def test_processes_do_not_outlive_a_killed_command(running: subprocess.Popen[bytes]) -> None:
    running.kill()
    running.communicate(timeout=30)
    _wait(lambda: _gone(running.pid))


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "auto", "²"])
def test_jobs_is_a_number(value: str, tmp_path: Path) -> None:
    ran = process("lint", f"--jobs={value}", tmp_path)
    assert ran.status == 2
    assert f"{value!r} is not a number of processes, 1 or more" in ran.err
