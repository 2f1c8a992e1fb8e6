"""Files judged in their order: from what is kept of the last run, and by as many processes as there are cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ptcompile.cli import files
from ptcompile.cli.beside import Beside
from ptcompile.cli.files import File
from ptcompile.cli.many.cores import processes
from ptcompile.cli.many.judge import Judge
from ptcompile.cli.many.judged import Judged
from ptcompile.cli.many.lines import shows_lines
from ptcompile.cli.many.processes import mapped
from ptcompile.cli.progress import watched

if TYPE_CHECKING:
    from ptcompile.cli.many.kept import Kept

FEW: Final = 16
"""Files that are judged about as soon as it is known whether they have changed."""


def judged(inputs: Sequence[File], judge: Judge, others: Beside) -> Iterator[tuple[File, Judged]]:
    """Each file with what is found in it. `others` is what `judge` has for each file of the others."""
    kept = _kept(inputs, judge, others)
    known = [kept.get(file) if kept is not None else None for file in inputs]
    left = [file for file, one in zip(inputs, known, strict=True) if one is None]
    if left:
        others.found()  # once, and not in each process
    fresh = mapped(judge, left, processes(judge.options.jobs, len(left)))
    try:
        for file, one in watched(zip(inputs, known, strict=True), len(inputs)):
            result = one if one is not None else next(fresh)
            if kept is not None and one is None:
                kept.put(file, result)
            yield file, result
    finally:
        fresh.close()
    if kept is not None:
        kept.save()


def _kept(inputs: Sequence[File], judge: Judge, others: Beside) -> Kept | None:
    """The results of the last run; None where they are not wanted, or cannot be had."""
    options, config = judge.options, judge.config
    if options.no_cache or options.untrusted or config.plugins or len(inputs) < FEW:
        return None
    from ptcompile.cli.many import kept, keys

    folder = options.cache_dir or kept.place()
    if folder is None:
        return None
    try:
        kept.prepare(folder)
        settings = keys.settings_key(options, config, shows_lines(options))
    except OSError as error:
        if options.cache_dir:
            files.say(f"ptcompile: --cache-dir: {folder}: {files.reason(error)}; no results are kept\n")
        return None
    return kept.Kept(folder, settings, keys.file_key(config, others))
