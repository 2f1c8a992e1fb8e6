"""Runs over many files: more than one process, and results kept from one run to the next."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

    R = TypeVar("R")


class Judged(NamedTuple):
    """The findings of one file, and what is counted."""

    diagnostics: tuple[Diagnostic, ...]
    """Of a fix they have the title, and not the edits."""
    documents: int
    unchecked: tuple[str, ...]
    """The documents of unknown kinds, as `Kind/name`."""
    meant: int
    """Findings that comments in the file or `ignore` say are meant."""
    lines: Mapping[int, str]
    """The lines that a report in full shows, secrets masked, by number; none for the other formats."""


def shared(work: Callable[[T], R], items: Sequence[T], asked: int | None) -> Generator[R, None, None]:
    """The results of `work` for the items, in their order, by as many processes as were asked for, or as pay.

    A person at a terminal sees how many are done. Raises what `work` raises, and `UsageError` if a process is killed.
    """
    if len(items) < 2:
        yield from map(work, items)
        return
    from contextlib import closing

    from ptcompile.cli.many.cores import processes
    from ptcompile.cli.many.processes import mapped
    from ptcompile.cli.progress import watched

    with closing(mapped(work, items, processes(asked, len(items)))) as results:
        yield from watched(results, len(items))
