"""`ptcompile lint`: check files, fix them, show fixes as a patch, add suppression comments."""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Callable, Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import NotFinishedError
from ptcompile._internal.namedtuple import Any
from ptcompile.cli import files
from ptcompile.cli.config import Config, kustomizations_beside, load_with_options
from ptcompile.cli.files import InputFile, UsageError, enter_untrusted_mode
from ptcompile.cli.related import RelatedObjects, earlier_files, repeated_objects, with_context
from ptcompile.cli.reporter import (
    LintedFile,
    Reporter,
    map_files,
    printed_format,
    quoted_lines,
    shows_lines,
)
from ptcompile.diagnostics.selection import selection
from ptcompile.kubernetes.index import Objects
from ptcompile.report.layout import format_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.api.fix import Fixed
    from ptcompile.api.lint import Report
    from ptcompile.api.options import LintOptions
    from ptcompile.cli.baseline import Baseline
    from ptcompile.cli.cache import ResultCache
    from ptcompile.cli.related import ObjectDigests, RepeatedObjects
    from ptcompile.kubernetes.index import ObjectIdentity
    from ptcompile.source.documents import Source
    from ptcompile.spec.cluster_profile import ClusterProfile

    R = TypeVar("R")


MIN_FILES_TO_CACHE = 16
"""Number of input files below which the cache is not worthwhile."""


class FileLinter:
    """A function from a file to its findings, with everything else that they depend on."""

    def __init__(
        self,
        options: argparse.Namespace,
        config: Config,
        profile: ClusterProfile | None,
        related: Callable[[InputFile], Objects | None] = lambda _: None,
        earlier: RepeatedObjects | None = None,
    ) -> None:
        self.options = options
        self.config = config
        self.profile = profile
        self.related = related
        self.earlier = earlier
        """Objects that each file repeats, or None if no other file can define them."""
        self.kustomizations = functools.cache(kustomizations_beside)
        self.everything: Sequence[InputFile] = ()
        """The files of a partial run in order, with those that are only read."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the options, for spawned processes: plugins cannot be pickled."""
        return _restore_linter, (self.options, self.related, self.earlier)

    def __call__(self, file: InputFile) -> LintedFile:
        """Return the findings of a file, with the lines that the report quotes."""
        report, parsed = self._report_of(file)
        diagnostics = tuple(
            diagnostic._replace(fix=diagnostic.fix and diagnostic.fix._replace(edits=()))
            for diagnostic in report.diagnostics
        )
        lines = quoted_lines(file, diagnostics, self.options, parsed)
        # breaks the reference cycle between documents and source
        parsed.documents = ()

        return LintedFile(
            diagnostics,
            report.documents,
            report.unchecked,
            len(report.meant),
            lines,
            report.objects,
            report.checked,
        )

    def report(self, file: InputFile) -> Report:
        """Return the findings of a file, with the edits of their fixes."""
        report, parsed = self._report_of(file)
        # breaks the reference cycle between documents and source
        parsed.documents = ()
        return report

    def _options_of(self, file: InputFile) -> LintOptions:
        return self.config.lint_options(
            file.name,
            self.profile,
            webhooks=not self.options.no_webhooks,
            unknown_kinds=self.options.unknown_kinds,
            kustomizations=self.kustomizations,
        )

    def _report_of(self, file: InputFile) -> tuple[Report, Source]:
        """Return the report of a file with its text as it was read."""
        from ptcompile.api.inputs import File
        from ptcompile.api.lint import lint_inputs
        from ptcompile.source import documents as source

        options = self._options_of(file)
        parsed = source.read(file.content, file.name, options.versions.kubernetes)
        earlier = None if self.earlier is None else self.earlier.get(file.name, {})
        inputs = options.inputs(File(parsed, file.name), self.related(file))
        return lint_inputs(inputs, options, may_be_empty=True, earlier=earlier), parsed

    def fix(self, file: InputFile) -> Fixed:
        """Return a file with its findings fixed."""
        from ptcompile.api.fix import fix_findings_of

        return fix_findings_of(
            file.content,
            lambda text: self.report(file._replace(content=text)),
            unsafe=self.options.unsafe_fixes,
        )

    def defined_earlier(self, file: InputFile) -> dict[ObjectIdentity, str]:
        """Return the objects of a file that an earlier file of its folder defines too, which
        need not be reported.
        """
        from ptcompile.api.inputs import File
        from ptcompile.linter.repeated import defined_earlier
        from ptcompile.source import documents as source

        earlier = earlier_files(file, self.everything)
        if not earlier:
            return {}

        parsed = source.read(file.content, file.name)
        definitions = self._options_of(file).inputs(File(parsed, file.name)).definitions

        return defined_earlier(parsed, definitions, earlier)


def lint_files(
    inputs: Sequence[InputFile], linter: FileLinter, related: RelatedObjects
) -> Iterator[tuple[InputFile, LintedFile]]:
    """Yield each file with its findings. `related` provides the related objects to `linter`."""
    cache = _open_cache(linter, related)
    cached = [cache.get(file) if cache is not None else None for file in inputs]
    uncached = [
        file for file, cached_result in zip(inputs, cached, strict=True) if cached_result is None
    ]
    if uncached:
        # loaded here once instead of in each process
        related.load()
    fresh = map_files(linter, uncached, linter.options.jobs)
    try:
        for file, cached_result in zip(inputs, cached, strict=True):
            result = cached_result if cached_result is not None else next(fresh)
            if cache is not None and cached_result is None:
                cache.put(file, result)
            yield file, result
    finally:
        fresh.close()
        if cache is not None:
            cache.save()


def _open_cache(linter: FileLinter, related: RelatedObjects) -> ResultCache | None:
    """Return the cache, or None if it is disabled, not worthwhile or not available."""
    options = linter.options
    config = linter.config
    if (
        options.no_cache
        or options.untrusted
        or config.plugins
        or related.read_count < MIN_FILES_TO_CACHE
    ):
        return None

    from ptcompile.cli import cache

    folder = options.cache_dir or cache.default_folder()
    if folder is None:
        return None

    try:
        cache.prepare(folder)
        settings_key = cache.settings_key(options, config, shows_lines(options))
    except OSError as error:
        if options.cache_dir:
            files.print_error(f"ptcompile: --cache-dir {folder} is not used: {files.reason(error)}")
        return None

    return cache.ResultCache(folder, settings_key, cache.file_key(config, related))


def _restore_linter(
    options: argparse.Namespace, related: Any, earlier: RepeatedObjects | None
) -> FileLinter:
    from ptcompile.compiler.reader import load_profile

    if options.untrusted:
        enter_untrusted_mode()
    config = load_with_options(options)
    profile = None if config.cluster is None else load_profile(files.read(config.cluster))[0]
    return FileLinter(options, config, profile, related, earlier)


def with_repeated(
    inputs: Sequence[InputFile],
    results: Sequence[R],
    linter: FileLinter,
    work: Callable[[InputFile], R],
    objects: Callable[[R], ObjectDigests],
) -> list[R]:
    """Return the results, after linting again the files that repeat an object of an earlier file of
    their folder.

    `work` checks a file with `linter`, and `objects` returns the objects of a result. This takes a
    second pass, because the files that define an object are known only after all of them are read.
    """
    if linter.earlier is None:
        return [*results]

    from contextlib import closing

    pairs = [*zip(inputs, results, strict=True)]
    if linter.everything:
        linter.earlier = {
            file.name: repeated for file in inputs if (repeated := linter.defined_earlier(file))
        }
    else:
        linter.earlier = repeated_objects((file.name, objects(result)) for file, result in pairs)

    again = [file for file in inputs if file.name in linter.earlier]
    with closing(map_files(work, again, linter.options.jobs)) as fresh:
        return [next(fresh) if file.name in linter.earlier else result for file, result in pairs]


_split_lines = Pattern(r"[^\n]*\n|[^\n]+").findall


def wants_fixes(options: argparse.Namespace) -> bool:
    """Return whether fixes are requested. Raises `UsageError` for options that cannot be
    combined.
    """
    if options.fix and options.diff:
        raise UsageError("--fix writes files and --diff does not: give only one of them")
    if options.add_ignore and (options.fix or options.diff):
        raise UsageError("--add-ignore cannot be combined with --fix or --diff")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError("--unsafe-fixes requires --fix or --diff")
    if options.write_baseline and (
        options.fix or options.diff or options.add_ignore or options.statistics
    ):
        raise UsageError(
            "--write-baseline cannot be combined with --fix, --diff, --add-ignore or --statistics"
        )
    return bool(options.fix or options.diff)


def run_fixes(inputs: Sequence[InputFile], linter: FileLinter, reporter: Reporter) -> int:
    """Fix all files and report the remaining findings; with --diff, print a patch and write
    nothing.
    """
    from contextlib import closing

    options = linter.options
    with closing(map_files(linter.fix, inputs, options.jobs)) as results:
        fixed = with_repeated(
            inputs, [*results], linter, linter.fix, lambda result: result.report.objects
        )

    for result in fixed:
        _report_skipped(result)
    fixed_files = [*zip(inputs, fixed, strict=True)]
    has_content = any(result.report.documents or result.report.diagnostics for result in fixed)
    if options.diff and has_content:
        return _print_patch(fixed_files, reporter)

    return _write_fixed(fixed_files, reporter)


def _report_skipped(fixed: Fixed) -> None:
    for diagnostic, reason, is_bug in fixed.skipped:
        title = diagnostic.fix.title if diagnostic.fix else ""
        bug_note = f"; {files.BUG}, please report it" if is_bug else ""
        text = (
            f"{format_location(diagnostic)}: {diagnostic.code} is not fixed ({title}): "
            f"{reason}{bug_note}"
        )
        files.print_error(f"ptcompile: {text}")


def _write_fixed(fixed_files: list[tuple[InputFile, Fixed]], reporter: Reporter) -> int:
    changed = {
        file.name: result.content for file, result in fixed_files if result.content != file.content
    }
    saved = files.write_files(
        {name: content.decode() for name, content in changed.items() if name != "<stdin>"},
        {file.name: file.content for file, _ in fixed_files if file.name in changed},
    )
    reporter.report_unreadable([_saved_meanwhile(name) for name in saved])
    fixed_files = [(file, result) for file, result in fixed_files if file.name not in saved]
    reporter.fixed = sum(len(result.applied) for _, result in fixed_files)
    for file, result in fixed_files:
        report = result.report
        reporter.add(
            file._replace(content=result.content),
            report.diagnostics,
            documents=report.documents,
            unchecked=report.unchecked,
            checked=report.checked,
        )
        reporter.ignored += len(report.meant)

    stdin = [result.content for file, result in fixed_files if file.name == "<stdin>"]
    if not stdin:
        return reporter.finish(always=True)

    reporter.stdout_is_taken = True
    failed = files.write_bytes(b"".join(stdin))

    return max(failed, reporter.finish(always=True))


def _saved_meanwhile(name: str) -> str:
    return (
        f"{name}: saved by someone since it was read, so it is not changed; run the command again"
    )


def _print_patch(fixed_files: list[tuple[InputFile, Fixed]], reporter: Reporter) -> int:
    """Print the fixes as a patch to standard output; return 1 if there are any."""
    from ptcompile.api.check import diff_lines

    text = ""
    for file, result in fixed_files:
        old, new = (
            _split_lines(content.decode(errors="replace"))
            for content in (file.content, result.content)
        )
        text += "".join(diff_lines(old, new, file.name, file.name))

    applied = sum(len(result.applied) for _, result in fixed_files)
    count = sum(result.content != file.content for file, result in fixed_files)
    unsafe = sum(
        d.fix is not None and not d.fix.safe
        for _, result in fixed_files
        for d in result.report.diagnostics
    )
    unsafe_note = f", {unsafe} more with --unsafe-fixes" if unsafe else ""
    files.print_error(
        f"ptcompile: {applied} fixable in {count} of {len(fixed_files)} files{unsafe_note}"
    )
    from ptcompile.cli import presentation

    printed = presentation.write_painted(text, presentation.PATCH)
    return max(printed, int(applied > 0), reporter.unreadable_status())


def run(options: argparse.Namespace) -> int:
    """Lint all documents of all files; return 1 if a finding fails the run."""
    if not options.paths and options.since is None:
        raise UsageError("no file given; ptcompile lint --help shows how (- reads standard input)")

    options.paths = options.paths or [os.curdir]
    fixing = wants_fixes(options)
    config = load_with_options(options)
    baseline = _read_baseline(options, config)
    reporter = _make_reporter(options, config, baseline)
    inputs, unreadable = _read_inputs(options, config)
    inputs, everything, excluded, missing = with_context(inputs, options.context, config)
    reporter.report_unreadable([*unreadable, *missing])
    for file in excluded:
        files.print_error(f"ptcompile: {file.name}: left out, as in a run over the context")
    if options.since is not None:
        from ptcompile.cli.git import changed_since

        inputs = changed_since(options.since, inputs)
    if config.kubernetes_version is not None:
        reporter.add_release(config.kubernetes_version)
    profile = reporter.read_profile(config.cluster) if config.cluster else None
    several = len(everything) > 1
    related = RelatedObjects(
        everything, is_complete=several or "-" in options.paths or _has_context(options)
    )
    linter = FileLinter(options, config, profile, related.objects_for, {} if several else None)
    if len(inputs) < len(everything):
        linter.everything = everything
    if options.add_ignore:
        return _add_ignores(inputs, linter, baseline, reporter)
    if fixing:
        # loaded here once instead of in each process
        related.load()
        return run_fixes(inputs, linter, reporter)

    _lint_until_deadline(inputs, linter, related, reporter)
    if options.write_baseline is not None:
        return reporter.write_baseline(options.write_baseline, config.all_codes)

    return reporter.finish(always=True)


def _lint_until_deadline(
    inputs: Sequence[InputFile], linter: FileLinter, related: RelatedObjects, reporter: Reporter
) -> None:
    """Add the findings of all files to the report, or those of the files that are finished at
    the deadline.
    """
    linted_files: list[LintedFile] = []
    try:
        for _, linted in lint_files(inputs, linter, related):
            linted_files.append(linted)
        linted_files = with_repeated(
            inputs, linted_files, linter, linter, lambda result: result.objects
        )
    except NotFinishedError:
        reporter.add_unfinished(inputs, len(linted_files))

    for file, linted in zip(inputs, linted_files, strict=False):
        reporter.add(
            file,
            linted.diagnostics,
            documents=linted.documents,
            unchecked=linted.unchecked,
            checked=linted.checked,
            lines=linted.lines,
        )
        reporter.ignored += linted.ignored


def _make_reporter(
    options: argparse.Namespace, config: Config, baseline: Baseline | None
) -> Reporter:
    """Return the run's reporter. Raises `UsageError` for options that cannot be combined."""
    return Reporter(
        options.output_format,
        fail_on=config.fail_on,
        exit_zero=options.exit_zero,
        output_file=options.output_file,
        groupings=_groupings(options),
        baseline=baseline,
        active_codes=() if baseline is None else _active_codes(config),
        extensions=config.extensions,
        may_be_empty=options.allow_empty,
        has_context=_has_context(options),
    )


def _active_codes(config: Config) -> set[str]:
    """Return the codes of the rules that `select` and `ignore` leave on."""
    active = selection(config.selectors(), config.ignore, config.codes)
    return {code for name, code in config.all_codes.items() if active.includes(name, "style")}


def _read_baseline(options: argparse.Namespace, config: Config) -> Baseline | None:
    """Return the baseline to apply. Raises `UsageError`."""
    if config.baseline is None or options.write_baseline is not None:
        return None
    from ptcompile.cli import baseline

    return baseline.read(os.path.relpath(config.baseline), config.all_codes)


def _groupings(options: argparse.Namespace) -> list[str]:
    """Return what the statistics are grouped by; nothing without --statistics. Raises
    `UsageError`.
    """
    if not options.statistics:
        if options.by:
            raise UsageError("--by requires --statistics")
        return []

    from ptcompile.report.statistics import FORMS, GROUPINGS, LABEL

    for grouping in options.by:
        if grouping not in GROUPINGS and not (grouping.startswith(LABEL) and grouping != LABEL):
            raise UsageError(f"--by: no group {grouping!r}; the groups are {', '.join(GROUPINGS)}")
    if (printed := printed_format(options.output_format) or "full") not in FORMS:
        raise UsageError(f"--statistics: no form for {printed}; the formats are {', '.join(FORMS)}")

    return options.by or ["rule"]


def _read_inputs(options: argparse.Namespace, config: Config) -> tuple[list[InputFile], list[str]]:
    """Return the input files and the reasons for unreadable ones. If the run covers the
    configuration's whole folder, report its patterns that match no file.
    """
    required = not options.allow_empty
    if not _has_folders(options.paths):
        return files.read_all(options.paths, require_match=required)

    from ptcompile.cli.exclude import exclusions, unmatched_patterns

    excludes = exclusions(config, options.paths)
    visited = list[str]()

    def exclude(path: str) -> bool:
        visited.append(path)
        return excludes(path)

    inputs, unreadable = files.read_all(options.paths, exclude, require_match=required)
    top = os.path.join(os.path.realpath(config.folder), "")
    if any(
        os.path.isdir(path) and top.startswith(os.path.join(os.path.realpath(path), ""))
        for path in options.paths
    ):
        for sentence in unmatched_patterns(config, [file.name for file in inputs], visited):
            files.print_error(f"ptcompile: {sentence}")

    return inputs, unreadable


def _has_context(options: argparse.Namespace) -> bool:
    """Return whether lint knows the files around those that it reports on."""
    return bool(options.context) or _has_folders(options.paths)


def _has_folders(paths: Sequence[str]) -> bool:
    """Return whether files are searched for, and not all named."""
    return any("*" in path or os.path.isdir(path) for path in paths)


def _add_ignores(
    inputs: Sequence[InputFile], linter: FileLinter, baseline: Baseline | None, reporter: Reporter
) -> int:
    """Add a comment for every finding that is not in the baseline, and report how many cannot be
    ignored by one.
    """
    from ptcompile.source.suppression import add_ignores

    changed: dict[str, str] = {}
    added = not_ignorable = 0
    reports = [linter.report(file) for file in inputs]
    reports = with_repeated(inputs, reports, linter, linter.report, lambda result: result.objects)
    if not any(report.documents or report.diagnostics for report in reports):
        for file in inputs:
            reporter.add(file, (), documents=0)
        # no file has a document
        return reporter.finish(always=True)

    diagnostics = [diagnostic for report in reports for diagnostic in report.diagnostics]
    new = diagnostics if baseline is None else baseline.apply(diagnostics, (), ()).new
    new_ids = set(map(id, new))
    for file, report in zip(inputs, reports, strict=True):
        ignorable = [
            d for d in report.diagnostics if id(d) in new_ids and d.name != "unrendered-template"
        ]
        if not ignorable:
            continue

        # comments are written as UTF-8, and the rest of the file would not be
        try:
            text, ignored = add_ignores(file.content.decode(), ignorable)
        except UnicodeDecodeError:
            text, ignored = "", 0

        added += ignored
        not_ignorable += len(ignorable) - ignored
        if ignored:
            changed[file.name] = text

    if "<stdin>" in changed:
        raise UsageError("--add-ignore edits files and cannot be used with standard input")

    saved = files.write_files(
        changed, {file.name: file.content for file in inputs if file.name in changed}
    )
    for name in saved:
        files.print_error(f"ptcompile: {_saved_meanwhile(name)}")
    files.print_error(
        f"ptcompile: {added} findings ignored in {len(changed)} files, {not_ignorable} cannot be "
        "ignored by a comment"
    )
    if saved:
        return 2

    return max(reporter.unreadable_status(), int(not_ignorable > 0))
