"""Work on all texts in a few processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

PROCESSES = 2


def mapped(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield what `work` returns for each item, in order. It is a function of a module."""
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        yield from pool.imap(work, items, chunksize=8)
