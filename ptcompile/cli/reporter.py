"""The findings of a run over all its files, and how they are reported."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence

from ptcompile._internal.about import SITE
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import pluralize
from ptcompile.cli import files
from ptcompile.cli.files import InputFile, UsageError, hides_lines
from ptcompile.diagnostics import Diagnostic, Problem, Span, has_error
from ptcompile.report import TELL_UNCHECKED, Unchecked, renderer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import TypeVar

    from ptcompile.api import compile
    from ptcompile.cli.baseline import Baseline
    from ptcompile.extending import Extensions
    from ptcompile.kubernetes.index import ObjectIdentity
    from ptcompile.source.documents import Source
    from ptcompile.spec.cluster_profile import ClusterProfile

    T = TypeVar("T")
    R = TypeVar("R")


_DOCUMENT_FORMATS = frozenset({"json", "sarif", "junit", "gitlab"})
"""Formats that are printed even without findings."""
_NOT_ABOUT_FINDINGS = frozenset({"extension-failed", "no-documents", "not-finished"})
"""Findings after which a run has no answer: a plugin raised an exception, there was nothing to
look at, or too much.
"""


_ONCE_PER_KIND = "structure-only"
"""A note about a kind, which does not concern the file."""


class ReportFormat(NamedTuple):
    """A requested report of the findings."""

    name: str
    file: str | None = None
    """Where it is written; None for standard output."""


def printed_format(formats: Sequence[ReportFormat]) -> str | None:
    """Return the format of the report that is printed, if any. Raises `UsageError` for several."""
    if not formats:
        return "full"
    printed = [report.name for report in formats if report.file is None]
    if len(printed) > 1:
        raise UsageError(
            f"--output-format: only one report can be printed; write another as {printed[-1]}=FILE"
        )
    return printed[0] if printed else None


class LintedFile(NamedTuple):
    """The lint findings of one file, and its counts."""

    diagnostics: tuple[Diagnostic, ...]
    """Their fixes have titles but no edits."""
    documents: int
    unchecked: tuple[str, ...]
    """The objects that were not checked, as `apiVersion Kind/name`."""
    ignored: int
    """Number of findings that comments in the file or `ignore` suppress."""
    lines: Mapping[int, str]
    """The lines of the file that a full report quotes, by number, with secrets masked; empty for
    other formats.
    """
    objects: tuple[tuple[ObjectIdentity, str], ...] = ()
    """The objects that another file of the folder may also define, each with a digest of its
    content.
    """
    checked: int = 0
    """Number of objects that were checked."""


def map_files(
    work: Callable[[T], R],
    items: Sequence[T],
    jobs: int | None,
    files_per_process: int | None = None,
) -> Generator[R, None, None]:
    """Yield the results of `work` for the items, in order, computed by `jobs` processes or as many
    as are worthwhile.

    `files_per_process` is the number of files that justifies a process, if `work` takes longer than
    lint and compile. Progress is shown on a terminal. Raises what `work` raises, and `UsageError`
    if a process is killed.
    """
    if len(items) < 2:
        yield from map(work, items)
        return

    from contextlib import closing

    from ptcompile.cli.presentation import with_progress
    from ptcompile.cli.processes import FILES_PER_PROCESS, map_in_processes, process_count

    count = process_count(jobs, len(items), files_per_process or FILES_PER_PROCESS)
    with closing(map_in_processes(work, items, count)) as results:
        yield from with_progress(results, len(items))


class Reporter:
    """Collects diagnostics with the texts they point into, and prints them once, at the end."""

    ignored = 0
    """Number of findings that comments in the files, the configuration or an option suppress."""
    fixed: int | None = None
    """Number of fixed findings, or None unless fixes were requested."""
    stdout_is_taken = False
    """Whether standard output has another result already; findings then go to standard error."""
    _known = 0
    """Number of findings that the baseline covers."""
    _checked: int | None = None
    """Number of objects that a lint checked; None for another verb."""
    _unreadable = False
    _unfinished: Diagnostic | None = None
    """The error of a run that the deadline ended."""

    def __init__(
        self,
        formats: Sequence[ReportFormat] = (),
        *,
        fail_on: str = "error",
        exit_zero: bool = False,
        output_file: str | None = None,
        groupings: Sequence[str] = (),
        baseline: Baseline | None = None,
        active_codes: Collection[str] = (),
        extensions: Extensions | None = None,
        may_be_empty: bool = True,
        has_context: bool = True,
    ) -> None:
        self._has_context = has_context
        """Whether the files beside those of the run were read: only then is a baseline's entry
        known to be stale.
        """
        self._may_be_empty = may_be_empty
        """Whether a run may have no document at all; verbs whose function says so itself need
        not ask.
        """
        self._format = printed_format(formats)
        self._written = [report for report in formats if report.file is not None]
        """The reports that are written to files."""
        if output_file is not None or groupings:
            self._format = self._format or "full"
        self._extensions = extensions
        self._fail_on = fail_on
        self._exit_zero = exit_zero
        self._output_file = output_file
        """The file for the report that would be printed."""
        self._groupings = groupings
        """What statistics are grouped by; if any, they are printed instead of the findings."""
        self._baseline = baseline
        self._active_codes = active_codes
        self._diagnostics: list[Diagnostic] = []
        self._texts: dict[str | None, str] = {}
        self._lines: dict[str | None, dict[int, str]] = {}
        """The lines that a full report quotes, by file and number, if the caller chose them."""
        self._names: list[str] = []
        """Names of the files."""
        self._documents = 0
        self._unchecked: list[Unchecked] = []
        self._skipped: list[str] = []
        self._noted_kinds: set[str] = set()
        """The messages about kinds that were reported: a run has one for each kind, not one for
        each file.
        """

    def read_files(self, paths: Sequence[str]) -> list[InputFile]:
        """Return the files that the paths name or contain; report those that cannot be read."""
        inputs, unreadable = files.read_all(paths)
        self.report_unreadable(unreadable)
        return inputs

    def report_unreadable(self, reasons: Sequence[str]) -> None:
        """Report files that cannot be read; the run continues and ends with status 2."""
        for reason in reasons:
            self._unreadable = True
            files.print_error(f"ptcompile: {reason}")

    def unreadable_status(self) -> int:
        """Return the exit status for unreadable files: 2, or 0 if all could be read."""
        return 2 if self._unreadable else 0

    def read_profile(self, path: str | None) -> ClusterProfile | None:
        """Return the profile in a file, or the built-in one without a file. None if it is wrong,
        which is a finding then.
        """
        from ptcompile.compiler.reader import load_profile

        content = files.read(path) if path is not None else None
        profile, diagnostics = load_profile(content, filename=path)
        if path is not None and content is not None:
            # added without being counted: summaries count only the files that the run is about
            self._diagnostics += diagnostics
            self._texts[path] = InputFile(path, content, True).text()
        return profile

    def read_profiles(
        self, before: str | None, after: str | None
    ) -> tuple[ClusterProfile | None, ClusterProfile | None]:
        """Return the profiles of two sides as `read_profile` does; a file that is both is read
        once.
        """
        profile = self.read_profile(before)
        return profile, profile if before == after else self.read_profile(after)

    def add_text(self, name: str, text: str) -> None:
        """Store a text that is not a file, for findings in it."""
        self._texts[name] = text

    def add_release(self, kubernetes: str) -> None:
        """Store the warning about a version of the server that is not known."""
        from ptcompile.compiler.reader import unmodeled_release
        from ptcompile.kubernetes.versions import parse_version
        from ptcompile.source import streams

        option = "--kubernetes-version"
        self.add_text(option, kubernetes)
        span = Span(1, 1, 1, len(kubernetes) + 1)
        problems = unmodeled_release("kubernetes", parse_version(kubernetes), ())
        self._diagnostics += [
            streams.to_diagnostic(each._replace(span=span), None, option) for each in problems
        ]

    def add(
        self,
        file: InputFile,
        diagnostics: Sequence[Diagnostic],
        *,
        documents: int = 1,
        unchecked: Sequence[str] = (),
        checked: int | None = None,
        lines: Mapping[int, str] | None = None,
    ) -> None:
        """Count a file and store its findings, with its text or the `lines` of it that the
        report quotes.
        """
        self._names.append(file.name)
        self._documents += documents
        self._unchecked += [Unchecked(file.name, each) for each in unchecked]
        if checked is not None:
            self._checked = (self._checked or 0) + checked
        self._diagnostics += [
            diagnostic for diagnostic in diagnostics if not self._is_repeated_note(diagnostic)
        ]
        if lines is not None:
            self._lines.setdefault(file.name, {}).update(lines)
        elif diagnostics and not hides_lines(file.name):
            self._texts[file.name] = file.text()

    def add_unfinished(self, inputs: Sequence[InputFile], count: int) -> None:
        """Store the error of a run that the deadline ended after so many of its files, at the
        one that it was in.
        """
        from ptcompile.source import streams

        file = inputs[min(count, len(inputs) - 1)]
        if not hides_lines(file.name):
            self.add_text(file.name, file.text())
        message = (
            f"not finished: {count} of {len(inputs)} files were checked when the time was over"
        )
        help = "give it more with --timeout SECONDS, or fewer or smaller files"
        span = Span(1, 1, 1, 1)
        problem = Problem("not-finished", (), message, help, "error", "run", "ptcompile", span=span)
        self._unfinished = streams.to_diagnostic(problem, None, file.name)

    def add_all(self, inputs: Sequence[InputFile], diagnostics: Sequence[Diagnostic]) -> None:
        """Count files and store the findings of all of them; those about options or all files
        come first.
        """
        if not inputs:
            return

        names = {file.name for file in inputs}
        by_file: dict[str | None, list[Diagnostic]] = {file.name: [] for file in inputs}
        by_file[inputs[0].name] += [item for item in diagnostics if item.filename not in names]
        for diagnostic in diagnostics:
            if diagnostic.filename in names:
                by_file[diagnostic.filename].append(diagnostic)
        for file in inputs:
            self.add(file, by_file[file.name])

    def _is_repeated_note(self, diagnostic: Diagnostic) -> bool:
        """Return whether the run has reported the note on a kind for another file."""
        if diagnostic.name != _ONCE_PER_KIND:
            return False
        is_repeated = diagnostic.message in self._noted_kinds
        self._noted_kinds.add(diagnostic.message)
        return is_repeated

    def add_compiled(
        self, file: InputFile, result: compile.Result, lines: Mapping[int, str] | None = None
    ) -> bool:
        """Count a compiled file. Return False for a file found in a directory that has nothing to
        compile: it is skipped.
        """
        if not file.named and not result.manifests:
            has_no_spec = all(d.name == "unknown-kind" for d in result.diagnostics)
            if has_no_spec or _is_foreign_template(file):
                self._skipped.append(file.name)
                return False
        self.add(file, result.diagnostics, lines=lines)
        self.ignored += len(result.meant)
        return True

    def report_no_jobs(self, paths: Sequence[str]) -> int:
        """Report that there was nothing to compile; return 1."""
        files.print_error(f"ptcompile: no TrainingJob in {', '.join(paths)}")
        return 1

    def finish(self, *, always: bool = False) -> int:
        """Print the report and return the exit status; `always` prints a summary of a clean run
        too.

        Findings are the result of a lint, so they go to standard output. Those of a compile go to
        standard error, without fixes, which only lint applies.
        """
        self._apply_baseline()
        if self._unfinished is not None:
            self._diagnostics.append(self._unfinished)
        self._report_emptiness()
        self._report_nothing_checked()
        if not always:
            self._diagnostics = [diagnostic._replace(fix=None) for diagnostic in self._diagnostics]

        # a report is written even if it has no findings
        files.write_files(
            {report.file: self._report(report.name) for report in self._written if report.file}
        )
        status = 0
        is_document = self._format in _DOCUMENT_FORMATS or self._output_file
        if self._diagnostics or (always and is_document):
            status = self._print_findings(result=always and not self.stdout_is_taken)
        if always or self._diagnostics or self._skipped:
            files.print_error(self._summary(is_lint=always))
        lists_rules = self._format == "full" and not (self._groupings or self._checked_nothing)
        if lists_rules and self._diagnostics:
            files.print_error(self._code_help())

        has_no_answer = any(d.name in _NOT_ABOUT_FINDINGS for d in self._diagnostics)
        if self._unreadable or status or has_no_answer:
            return 2

        return int(any(map(self._is_failing, self._diagnostics)) and not self._exit_zero)

    @property
    def _is_empty(self) -> bool:
        """Whether no file has a document, in a run that must have one."""
        has_anything = self._documents or self._diagnostics or self._unchecked or self._known
        return not (has_anything or self._may_be_empty)

    def _report_emptiness(self) -> None:
        """Add a finding for each file if there was nothing to look at."""
        if not self._is_empty:
            return
        from ptcompile.source import streams

        self._diagnostics = [
            streams.to_diagnostic(streams.no_documents(), None, name) for name in self._names
        ]

    @property
    def _checked_nothing(self) -> bool:
        return self._checked == 0 and bool(self._documents or self._unchecked)

    def _report_nothing_checked(self) -> None:
        """Add a note if there were objects, and none that could be checked."""
        if not self._checked_nothing or has_error(self._diagnostics):
            return
        from ptcompile.source import streams

        place = next(iter(self._names), None)
        self._diagnostics.append(
            streams.to_diagnostic(_nothing_checked(self._unchecked), None, place)
        )

    def _is_failing(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding fails the run: an error, and with `--fail-on warning` a warning
        that is not about style, or is of a user's own rule.
        """
        if diagnostic.severity == "error":
            return True
        if diagnostic.name == "nothing-checked":
            return self._fail_on == "unchecked"
        is_style = diagnostic.stage == "style" and not diagnostic.owner
        return self._fail_on == "warning" and diagnostic.severity == "warning" and not is_style

    def write_baseline(self, filename: str, codes: Mapping[str, str]) -> int:
        """Write all findings to a baseline, and return the exit status. `codes` are those of all
        rules by name.

        A run that had nothing to look at, or did not finish, does not know them, so it writes no
        baseline.
        """
        if self._is_empty or self._unfinished is not None:
            return self.finish(always=True)
        from ptcompile.cli import baseline

        summary = baseline.write(filename, self._diagnostics, self._complete_files(), codes)
        files.print_error(f"ptcompile: {summary}")
        return self.unreadable_status()

    def _complete_files(self) -> list[str]:
        """Return the files whose findings are complete: those of a run that knows the objects of
        other files, and standard input.
        """
        return [name for name in self._names if self._has_context or name == "<stdin>"]

    def _apply_baseline(self) -> None:
        """Remove the findings that the baseline covers, and add those about the baseline itself."""
        if self._baseline is None:
            return
        new, self._known, problems = self._baseline.apply(
            self._diagnostics, self._complete_files(), self._active_codes
        )
        self._diagnostics = [*new, *problems]
        if problems:
            self.add_text(self._baseline.filename, self._baseline.text)

    def _print_findings(self, *, result: bool) -> int:
        """Print the findings: those of a lint on standard output or to a file, those of a
        compile on standard error.
        """
        if self._format is None:
            return 0

        if self._groupings:
            from ptcompile.report.statistics import FORMS, statistics

            counts = statistics(self._diagnostics, self._groupings)
            text = FORMS[self._format](counts, self._groupings)
        else:
            text = self._report(self._format)

        if self._output_file is not None:
            files.write_files({self._output_file: text})
            return 0

        stream = sys.stdout if result else sys.stderr
        if self._format in ("full", "concise") and files.wants_color(stream):
            from ptcompile.report.text import add_color

            text = add_color(text)
        if result:
            return files.write_stdout(text)

        files.write_stderr(text)
        return 0

    def _report(self, output_format: str) -> str:
        """Return the findings in a format."""
        if output_format == "sarif":
            from ptcompile.linter.pages import pages
            from ptcompile.report.ci import sarif

            names = [diagnostic.name for diagnostic in self._diagnostics]
            return sarif(
                self._diagnostics,
                self._texts,
                self._unchecked,
                pages(names) | self._extension_pages(names),
            )
        if output_format == "full":
            from ptcompile.report.text import lines_to_quote, with_frames

            lines = {
                name: lines_to_quote(self._diagnostics, text, name)
                for name, text in self._texts.items()
            }
            return with_frames(self._diagnostics, {**self._lines, **lines})

        unchecked = (self._unchecked,) if output_format in TELL_UNCHECKED else ()
        return renderer(output_format)(self._diagnostics, self._texts, *unchecked)

    def _extension_pages(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the pages of rules that plugins and the configuration add."""
        if self._extensions is None:
            return {}
        from ptcompile.extending.calls import pages

        return pages(self._extensions, names)

    def _code_help(self) -> str:
        """Return where the reported codes are explained: offline, and on the site."""
        pages = {d.code: d.url for d in self._diagnostics}
        is_ours = any(not d.owner for d in self._diagnostics)
        code, address = "CODE", f"{SITE}codes/" if is_ours else None
        if len(pages) == 1:
            ((code, address),) = pages.items()
        see = f" or see {address}" if address else ""
        return f"ptcompile: for more, run 'ptcompile explain {code}'{see}"

    def _summary(self, *, is_lint: bool) -> str:
        counts = Counter(d.severity for d in self._diagnostics)
        parts = [pluralize(counts["error"], "error"), pluralize(counts["warning"], "warning")]
        if counts["note"]:
            parts.append(pluralize(counts["note"], "note"))
        if self.fixed is not None:
            parts.append(f"{self.fixed} fixed")
        fixes = [d.fix.safe for d in self._diagnostics if d.fix is not None]
        if any(fixes):
            parts.append(f"{sum(fixes)} fixable")
        if not all(fixes):
            parts.append(f"{len(fixes) - sum(fixes)} fixable with --unsafe-fixes")
        hidden = ((self.ignored, "ignored"), (self._known, "in the baseline"))
        parts += [f"{count} {where}" for count, where in hidden if count]
        if is_lint:
            parts = [
                pluralize(len(self._names), "file"),
                pluralize(self._documents, "document"),
                *parts,
            ]
            templates = {d.filename for d in self._diagnostics if d.name == "unrendered-template"}
            if templates:
                parts.append(pluralize(len(templates), "template"))
        if self._unchecked:
            kinds = sorted({each.kind for each in self._unchecked})
            parts.append(f"not checked: {len(self._unchecked)} ({', '.join(kinds)})")
        if self._skipped:
            parts.append(
                f"skipped, no TrainingJob in them: {len(self._skipped)} "
                f"({', '.join(self._skipped[:5])})"
            )

        nothing = "nothing was checked: " if self._checked_nothing else ""
        return f"ptcompile: {nothing}{', '.join(parts)}"


def reporter_of(options: argparse.Namespace, *, extensions: Extensions | None = None) -> Reporter:
    """Return the reporter of a command, which can quote the texts of --set and --name."""
    reporter = Reporter(options.output_format, extensions=extensions)
    if options.set or options.name is not None:
        from ptcompile.cli import overrides

        reporter.add_text(overrides.SET_OPTION, overrides.options_text(options.set))
        reporter.add_text(overrides.NAME_OPTION, options.name or "")

    return reporter


def _nothing_checked(unchecked: Sequence[Unchecked]) -> Problem:
    """Return the note on a run without an object that could be checked."""
    kinds = sorted({each.kind for each in unchecked})
    if kinds:
        why = f"ptcompile has no rules for {', '.join(kinds)}"
    else:
        why = "every document is a template"

    help = (
        "check what is rendered, or name the CRD with --schemas; --fail-on unchecked fails such a "
        "run"
    )
    span = Span(1, 1, 1, 1)

    return Problem(
        "nothing-checked",
        (),
        f"nothing was checked: {why}",
        help,
        "note",
        "style",
        "ptcompile",
        span=span,
    )


def _is_foreign_template(file: InputFile) -> bool:
    """Return whether a file that does not compile is a template that is not meant to be a spec."""
    from ptcompile.source.templates import template_mark

    return b"TrainingJob" not in file.content and template_mark(file.text()) is not None


def shows_lines(options: argparse.Namespace) -> bool:
    """Return whether the report quotes lines of the files."""
    formats: Sequence[ReportFormat] = options.output_format
    if getattr(options, "statistics", False):
        formats = [report for report in formats if report.file is not None]
        return any(report.name == "full" for report in formats)
    return not formats or any(report.name == "full" for report in formats)


def quoted_lines(
    file: InputFile,
    diagnostics: Sequence[Diagnostic],
    options: argparse.Namespace,
    parsed: Source | None = None,
) -> Mapping[int, str]:
    """Return the lines that the report quotes with findings in a file, by number, with secrets
    masked.

    `parsed` is the file if it has been read already.
    """
    if not diagnostics or not shows_lines(options) or hides_lines(file.name):
        return {}
    from ptcompile.report.text import lines_to_quote

    return lines_to_quote(diagnostics, file.text(), file.name, parsed)
