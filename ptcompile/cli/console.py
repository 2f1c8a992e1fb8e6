"""A line of progress for people who wait at a terminal: after a second, and gone before anything else is printed."""

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

_PATIENCE: Final = 1.0
"""Seconds of silence: most runs are done by then."""
_OFTEN: Final = 0.1
"""Seconds between two lines."""
_ERASE: Final = "\r\x1b[K"


def watched(items: Iterable[T], total: int, what: str = "files") -> Iterator[T]:
    """The items, with a line that says how many of them are done."""
    if not terminal():
        yield from items
        return
    due = monotonic() + _PATIENCE
    try:
        for done, item in enumerate(items):
            if monotonic() >= due:
                show(f"{done} of {total} {what}")
                due = monotonic() + _OFTEN
            yield item
    finally:
        files.print_error("", raw=True)


def terminal() -> bool:
    """Whether standard error is a terminal on which a line can be erased."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def show(text: str) -> None:
    """Show a line in the place of the one before."""
    files.print_error(f"ptcompile: {text}")
    files.ERASE.append(_ERASE)
