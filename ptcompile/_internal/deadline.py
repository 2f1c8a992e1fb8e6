"""The deadline of a run: when it is over, what runs is interrupted wherever it is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ptcompile._internal.limits import NotFinishedError

_HAS_TIMER = hasattr(signal, "setitimer")


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise `NotFinishedError` in this thread after so many seconds, or never if None.

    The main thread is interrupted by a signal, where there is one, also while it waits for other
    processes; any other thread as soon as it runs Python code. A browser has neither timers nor
    threads for Python, so that a run there has no deadline.
    """
    if seconds is None or sys.platform == "emscripten":
        yield
        return

    is_interrupted = _HAS_TIMER and threading.current_thread() is threading.main_thread()
    with _alarm(seconds) if is_interrupted else _timer(seconds):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let the signal wait for the end of this block, which writes one file whole."""
    if not _HAS_TIMER:
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


def end_deadline() -> None:
    """Cancel the deadline. A run that has its result calls this before it replaces files, so that
    no signal stops it halfway.
    """
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def end(*_arguments: object) -> None:
        raise NotFinishedError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    import ctypes

    thread = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    is_over = False

    def end() -> None:
        with lock:
            if not is_over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    thread, ctypes.py_object(NotFinishedError)
                )

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            is_over = True
        timer.cancel()
