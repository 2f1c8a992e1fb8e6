"""What a run found, over all its files, and how it is told."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence

from ptcompile._internal.about import SITE, page_address
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files
from ptcompile.cli.files import InputFile, hidden
from ptcompile.diagnostics import Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import TypeVar

    from ptcompile.api import compile
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile

    T = TypeVar("T")
    R = TypeVar("R")


_WHOLE = frozenset({"json", "sarif", "junit"})
"""Formats that say so, where there is nothing to say."""
_FAILED = "extension-failed"
"""The finding that is not the file's fault: a plugin's code raised an exception."""


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

    from ptcompile.cli.console import watched
    from ptcompile.cli.processes import map_in_processes, processes

    with closing(map_in_processes(work, items, processes(asked, len(items)))) as results:
        yield from watched(results, len(items))


class Findings:
    """Collects diagnostics with the text they point into, and prints them once, at the end."""

    def __init__(
        self,
        output_format: str,
        *,
        fail_on: str = "error",
        exit_zero: bool = False,
        output_file: str | None = None,
        statistics: bool = False,
        extensions: Extensions | None = None,
    ) -> None:
        self._format = output_format
        self._extensions = extensions
        self._fail_on, self._exit_zero = fail_on, exit_zero
        self._output_file, self._statistics = output_file, statistics
        self.meant = 0
        """Findings that comments in the files, the configuration or an option say are meant."""
        self.fixed: int | None = None
        """Findings that were fixed, where that was asked for."""
        self.stdout_is_taken = False
        """Whether a result stands on standard output already; the findings go to standard error then."""
        self._diagnostics: list[Diagnostic] = []
        self._texts: dict[str | None, str] = {}
        self._lines: dict[str | None, dict[int, str]] = {}
        """Of files whose lines were chosen already: those that a report in full shows, by number."""
        self._files = self._documents = 0
        self._unchecked: list[str] = []
        self._skipped: list[str] = []
        self._unreadable = False

    def unreadable(self, reasons: Sequence[str]) -> None:
        """Say which files could not be read; the run goes on and ends with status 2."""
        for reason in reasons:
            self._unreadable = True
            files.print_error(f"ptcompile: {reason}\n")

    def unread(self) -> int:
        """The exit status for files that could not be read: 2, or 0 where all could."""
        return 2 if self._unreadable else 0

    def profile(self, path: str | None) -> ClusterProfile | None:
        """The profile of a file, the built-in one without a file; None where it is wrong, which is then a finding."""
        from ptcompile.compiler.reader import load_profile

        content = files.read(path) if path is not None else None
        profile, found = load_profile(content, filename=path)
        if path is not None and content is not None:
            self.add(InputFile(path, content, True), found)
        return profile

    def text(self, name: str, text: str) -> None:
        """Keep the text of what is not a file, for findings in it."""
        self._texts[name] = text

    def add(
        self,
        file: InputFile,
        found: Sequence[Diagnostic],
        *,
        documents: int = 1,
        unchecked: Sequence[str] = (),
        lines: Mapping[int, str] | None = None,
    ) -> None:
        """Count a file; keep its findings, and where there are any its text, or those `lines` of it that are shown."""
        self._files += 1
        self._documents += documents
        self._unchecked += unchecked
        self._diagnostics += found
        if lines is not None:
            self._lines.setdefault(file.name, {}).update(lines)
        elif found and not hidden(file.name):
            self._texts[file.name] = file.text()

    def compiled(self, file: InputFile, result: compile.Result, lines: Mapping[int, str] | None = None) -> bool:
        """Count a file that was compiled; False for one of a directory with nothing of ours in it, which is skipped."""
        if not (file.named or result.manifests) and (
            all(d.name == "unknown-kind" for d in result.diagnostics) or _other_template(file)
        ):
            self._skipped.append(file.name)
            return False
        self.add(file, result.diagnostics, lines=lines)
        self.meant += len(result.meant)
        return True

    def no_jobs(self, paths: Sequence[str]) -> int:
        """Say that there was nothing to compile; 1."""
        files.print_error(f"ptcompile: there is no TrainingJob in {', '.join(paths)}\n")
        return 1

    def finish(self, *, always: bool = False) -> int:
        """Print what there is to say and return the exit status; `always` prints a summary of a clean run too.

        Findings are the result of a lint, and so go to standard output; those of a compile go to standard error, and
        without their fixes: lint alone makes them.
        """
        status = 0
        if not always:
            self._diagnostics = [one._replace(fix=None) for one in self._diagnostics]
        if self._diagnostics or (always and (self._format in _WHOLE or self._output_file)):
            status = self._tell(result=always and not self.stdout_is_taken)
        if always or self._diagnostics or self._skipped:
            files.print_error(self._summary(judged=always))
        if self._diagnostics and self._format == "full" and not self._statistics:
            files.print_error(self._more())
        if self._unreadable or status or any(d.name == _FAILED for d in self._diagnostics):
            return 2
        failing = ("error", "warning") if self._fail_on == "warning" else ("error",)
        counted = any(d.severity in failing for d in self._diagnostics)
        return int(counted and not self._exit_zero)

    def _tell(self, *, result: bool) -> int:
        """Print the findings: the result of a lint on standard output or in a file, those of a compile for people."""
        from ptcompile.report import renderer

        if self._statistics:
            from ptcompile.report.text import statistics

            text = statistics(self._diagnostics)
        elif self._format == "sarif":
            from ptcompile.linter.pages import pages
            from ptcompile.report.ci import sarif

            named = [one.name for one in self._diagnostics]
            text = sarif(self._diagnostics, self._texts, pages(named) | self._more_pages(named))
        elif self._format == "full":
            from ptcompile.report.text import framed, lines_shown

            lines = {name: lines_shown(self._diagnostics, text, name) for name, text in self._texts.items()}
            text = framed(self._diagnostics, {**self._lines, **lines})
        else:
            text = renderer(self._format)(self._diagnostics, self._texts)
        if self._output_file is not None:
            files.write_files({self._output_file: text})
            return 0
        stream = sys.stdout if result else sys.stderr
        if self._format in ("full", "concise") and files.colourful(stream):
            from ptcompile.report.text import colour

            text = colour(text)
        if result:
            return files.write_stdout(text)
        files.print_error(text, raw=True)
        return 0

    def _more_pages(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The pages of rules that plugins and the configuration add."""
        if self._extensions is None:
            return {}
        from ptcompile.extending.calls import pages

        return pages(self._extensions, names)

    def _more(self) -> str:
        """Where the codes that were printed are explained: offline, and on the site."""
        codes = {d.code for d in self._diagnostics}
        code, address = "CODE", f"{SITE}codes/"
        if len(codes) == 1:
            (code,) = codes
            address = page_address(code)
        return f"ptcompile: for more, run 'ptcompile explain {code}' or see {address}\n"

    def _summary(self, *, judged: bool) -> str:
        counts = Counter(d.severity for d in self._diagnostics)
        parts = [_count(counts["error"], "error"), _count(counts["warning"], "warning")]
        if counts["note"]:
            parts.append(_count(counts["note"], "note"))
        if self.fixed is not None:
            parts.append(f"{self.fixed} fixed")
        fixes = [d.fix.safe for d in self._diagnostics if d.fix is not None]
        if any(fixes):
            parts.append(f"{sum(fixes)} fixable")
        if not all(fixes):
            parts.append(f"{len(fixes) - sum(fixes)} fixable with --unsafe-fixes")
        if self.meant:
            parts.append(f"{self.meant} ignored")
        if judged:
            parts = [_count(self._files, "file"), _count(self._documents, "document"), *parts]
            templates = {d.filename for d in self._diagnostics if d.name == "unrendered-template"}
            if templates:
                parts.append(_count(len(templates), "template"))
        if self._unchecked:
            kinds = sorted({name.partition("/")[0] for name in self._unchecked})
            parts.append(f"not checked: {len(self._unchecked)} ({', '.join(kinds)})")
        if self._skipped:
            parts.append(f"skipped, no TrainingJob in them: {len(self._skipped)} ({', '.join(self._skipped[:5])})")
        return f"ptcompile: {', '.join(parts)}\n"


def _other_template(file: InputFile) -> bool:
    """Return whether a file that could not be compiled is a template in which no spec of ours is meant."""
    from ptcompile.source.templates import template_mark

    return b"TrainingJob" not in file.content and template_mark(file.text()) is not None


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def shows_lines(options: argparse.Namespace) -> bool:
    """Whether the report shows lines of the files."""
    return options.output_format == "full" and not getattr(options, "statistics", False)


def lines_of(file: InputFile, found: Sequence[Diagnostic], options: argparse.Namespace) -> Mapping[int, str]:
    """The lines that are shown with findings in a file, by number, secrets masked."""
    if not found or not shows_lines(options):
        return {}
    from ptcompile.report.text import lines_shown

    return {} if hidden(file.name) else lines_shown(found, file.text(), file.name)
