"""Deadlines: what runs is interrupted, in any thread, and what is finished is not."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from ptcompile._internal.deadline import deadline
from ptcompile._internal.limits import NotFinishedError


def in_another_thread(work: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # what pytest.raises did not expect
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


def here(work: Callable[[], None]) -> None:
    work()


@pytest.fixture(params=[here, in_another_thread])
def run(request: pytest.FixtureRequest) -> Callable[[Callable[[], None]], None]:
    made: Callable[[Callable[[], None]], None] = request.param
    return made


def test_endless_work_is_interrupted(run: Callable[[Callable[[], None]], None]) -> None:
    def endless() -> None:
        while True:
            with suppress(Exception):  # work that survives any mistake
                time.sleep(0.001)

    def work() -> None:
        with pytest.raises(NotFinishedError), deadline(0.05):
            endless()

    run(work)


def test_finished_work_is_left_alone(run: Callable[[Callable[[], None]], None]) -> None:
    def work() -> None:
        with deadline(0.05):
            pass
        with deadline(None):
            time.sleep(0.2)

    run(work)
    assert threading.active_count() <= 3


def test_a_browser_has_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def work() -> None:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with deadline(60):
            pass

    monkeypatch.setattr(sys, "platform", "emscripten")
    in_another_thread(work)
