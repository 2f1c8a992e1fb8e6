"""One thread that works off what is asked, in order, and drops what is no longer wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

_T = TypeVar("_T")


class Stopped(Exception):  # noqa: N818 - no error: the answer is not wanted any more
    """Raised within work that was cancelled, at its next pause."""


class Worker:
    """Runs one thing at a time, so that what it works on needs no locks."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ptcompile")

    async def run(self, work: Callable[[Callable[[], None]], _T]) -> _T:
        """The result of `work`, which is given a `pause` to call now and then.

        When the awaiting task is cancelled, work that has not begun is not done, and work that has ends at its next
        pause.
        """
        stopped = Event()

        def pause() -> None:
            if stopped.is_set():
                raise Stopped

        def begin() -> _T:
            pause()
            return work(pause)

        try:
            return await asyncio.wrap_future(self._pool.submit(begin))
        except asyncio.CancelledError:
            stopped.set()
            raise

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
