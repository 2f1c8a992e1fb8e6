"""The progress line on a terminal. It appears after a second and is erased before anything else is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from time import monotonic

from ptcompile.cli import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")

_QUIET_SECONDS: Final = 1.0
"""Time without a progress line; most runs end before."""
_INTERVAL_SECONDS: Final = 0.1
"""Time between two updates of the line."""
_ERASE: Final = "\r\x1b[K"


def with_progress(items: Iterable[T], total: int, noun: str = "files") -> Iterator[T]:
    """Yield the items and show on the terminal how many are done."""
    if not has_terminal():
        yield from items
        return
    due = monotonic() + _QUIET_SECONDS
    try:
        for done, item in enumerate(items):
            if monotonic() >= due:
                show_progress(f"{done} of {total} {noun}")
                due = monotonic() + _INTERVAL_SECONDS
            yield item
    finally:
        files.write_stderr("")


def has_terminal() -> bool:
    """Return whether standard error is a terminal that can erase a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def show_progress(text: str) -> None:
    """Replace the progress line."""
    from ptcompile.report.layout import safe_text

    files.write_stderr(f"ptcompile: {safe_text(text)}")
    files.ERASE.append(_ERASE)
