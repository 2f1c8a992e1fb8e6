"""`ptcompile lint`: check files, fix them, show fixes as a patch, add suppression comments."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files
from ptcompile.cli.config import Config, load_with_options
from ptcompile.cli.files import InputFile, UsageError, enter_untrusted_mode
from ptcompile.cli.related import RelatedObjects
from ptcompile.cli.repeated import repeated_objects
from ptcompile.cli.reporter import Findings, LintedFile, map_files, quoted_lines, shows_lines
from ptcompile.report.layout import format_location, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeVar

    from ptcompile.api.fix import Fixed
    from ptcompile.api.lint import Report
    from ptcompile.cli.cache import ResultCache
    from ptcompile.cli.repeated import ObjectDigests, RepeatedObjects
    from ptcompile.spec.cluster_profile import ClusterProfile

    R = TypeVar("R")


FEW: Final = 16
"""Files that are judged about as soon as it is known whether they have changed."""


class FileLinter:
    """All that decides what is found in a file, but the file."""

    def __init__(
        self,
        options: argparse.Namespace,
        config: Config,
        profile: ClusterProfile | None,
        beside: Callable[[InputFile], Sequence[Mapping[str, Any]] | None] = lambda _: None,
        earlier: RepeatedObjects | None = None,
    ) -> None:
        self.options, self.config, self.profile, self.beside = options, config, profile, beside
        self.earlier = earlier
        """Objects that each file repeats, or None if no other file can define them."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made of, for a process that is not a fork: plugins cannot be."""
        return _judge, (self.options, self.beside, self.earlier)

    def __call__(self, file: InputFile) -> LintedFile:
        """The findings of a file, with the lines that are shown of it."""
        report = self.report(file)
        found = tuple(
            one if one.fix is None else one._replace(fix=one.fix._replace(edits=())) for one in report.diagnostics
        )
        lines = quoted_lines(file, found, self.options)
        return LintedFile(found, report.documents, report.unchecked, len(report.meant), lines, report.objects)

    def report(self, file: InputFile) -> Report:
        """The findings of a file, with their edits."""
        from ptcompile.api.lint import lint

        config = self.config
        return lint(
            file.content,
            filename=file.name,
            cluster=self.profile,
            kubernetes=config.kubernetes_version,
            webhooks=not self.options.no_webhooks,
            unknown_kinds=self.options.unknown_kinds,
            select=config.selected(),
            ignore=[*config.ignore, *config.ignored_in(file.name)],
            schemas=config.schemas,
            beside=self.beside(file),
            extensions=config.extensions,
            earlier=None if self.earlier is None else self.earlier.get(file.name, {}),
        )

    def fixed(self, file: InputFile) -> Fixed:
        """A file with its findings fixed."""
        from ptcompile.api.fix import fix_findings_of

        report = self.report
        return fix_findings_of(
            file.content, lambda text: report(file._replace(content=text)), unsafe=self.options.unsafe_fixes
        )


def lint_files(
    inputs: Sequence[InputFile], judge: FileLinter, others: RelatedObjects
) -> Iterator[tuple[InputFile, LintedFile]]:
    """Each file with what is found in it. `others` is what `judge` has for each file of the others."""
    kept = _kept(inputs, judge, others)
    known = [kept.get(file) if kept is not None else None for file in inputs]
    left = [file for file, one in zip(inputs, known, strict=True) if one is None]
    if left:
        others.objects_by_file()  # once, and not in each process
    fresh = map_files(judge, left, judge.options.jobs)
    try:
        for file, one in zip(inputs, known, strict=True):
            result = one if one is not None else next(fresh)
            if kept is not None and one is None:
                kept.put(file, result)
            yield file, result
    finally:
        fresh.close()
    if kept is not None:
        kept.save()


def _kept(inputs: Sequence[InputFile], judge: FileLinter, others: RelatedObjects) -> ResultCache | None:
    """The results of the last run; None where they are not wanted, or cannot be had."""
    options, config = judge.options, judge.config
    if options.no_cache or options.untrusted or config.plugins or len(inputs) < FEW:
        return None
    from ptcompile.cli import cache

    folder = options.cache_dir or cache.default_folder()
    if folder is None:
        return None
    try:
        cache.prepare(folder)
        asked = cache.settings_key(options, config, shows_lines(options))
    except OSError as error:
        if options.cache_dir:
            files.print_error(f"ptcompile: --cache-dir: {folder}: {files.reason(error)}; no results are kept\n")
        return None
    return cache.ResultCache(folder, asked, cache.file_key(config, others))


def _judge(options: argparse.Namespace, beside: Any, earlier: RepeatedObjects | None) -> FileLinter:
    from ptcompile.compiler.reader import load_profile

    if options.untrusted:
        enter_untrusted_mode()
    config = load_with_options(options)
    if config.cluster is None:
        return FileLinter(options, config, None, beside, earlier)
    return FileLinter(options, config, load_profile(files.read(config.cluster))[0], beside, earlier)


def with_repeated(
    inputs: Sequence[InputFile],
    results: Sequence[R],
    judge: FileLinter,
    work: Callable[[InputFile], R],
    objects: Callable[[R], ObjectDigests],
) -> list[R]:
    """Return the results, after judging again the files that repeat an object of an earlier file of their folder.

    `work` judges a file with `judge`, and `objects` returns the objects of a result. A second pass, because the files
    that define an object are only known once all of them are read.
    """
    if judge.earlier is None:
        return [*results]
    from contextlib import closing

    pairs = [*zip(inputs, results, strict=True)]
    judge.earlier = repeated_objects((file.name, objects(result)) for file, result in pairs)
    again = [file for file in inputs if file.name in judge.earlier]
    with closing(map_files(work, again, judge.options.jobs)) as fresh:
        return [next(fresh) if file.name in judge.earlier else result for file, result in pairs]


_lines = re.compile(r"[^\n]*\n|[^\n]+").findall


class _File(NamedTuple):
    """A file, and what became of it."""

    file: InputFile
    fixed: Fixed


def asked(options: argparse.Namespace) -> bool:
    """Whether fixes are asked for. Raises `UsageError` for options that do not go together."""
    if options.fix and options.diff:
        raise UsageError("--fix writes files and --diff does not: give only one of them")
    if options.add_ignore and (options.fix or options.diff):
        raise UsageError("--add-ignore cannot be combined with --fix or --diff")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError("--unsafe-fixes requires --fix or --diff")
    return bool(options.fix or options.diff)


def run_fixes(inputs: Sequence[InputFile], judge: FileLinter, findings: Findings) -> int:
    """Fix all files, then report what is left of their findings; or show the difference and write nothing."""
    from contextlib import closing

    options = judge.options
    with closing(map_files(judge.fixed, inputs, options.jobs)) as results:
        fixed = with_repeated(inputs, [*results], judge, judge.fixed, lambda fixed: fixed.report.objects)
    done = [_File(*one) for one in zip(inputs, fixed, strict=True)]
    for one in done:
        _say_skipped(one)
    return _show(done, findings) if options.diff else _write(done, findings)


def _say_skipped(one: _File) -> None:
    for diagnostic, why, fault in one.fixed.skipped:
        title = diagnostic.fix.title if diagnostic.fix else ""
        ours = f"; {files.BUG}, please report it" if fault else ""
        text = f"{format_location(diagnostic)}: {diagnostic.code} is not fixed ({title}): {why}{ours}"
        files.print_error(f"ptcompile: {printable(text)}\n")


def _write(done: list[_File], findings: Findings) -> int:
    changed = {one.file.name: one.fixed.content for one in done if one.fixed.content != one.file.content}
    files.write_files({name: content.decode() for name, content in changed.items() if name != "<stdin>"})
    findings.fixed = sum(len(one.fixed.applied) for one in done)
    for one in done:
        report = one.fixed.report
        file = one.file._replace(content=one.fixed.content)
        findings.add(file, report.diagnostics, documents=report.documents, unchecked=report.unchecked)
        findings.ignored += len(report.meant)
    stdin = [one for one in done if one.file.name == "<stdin>"]
    if not stdin:
        return findings.finish(always=True)
    findings.stdout_is_taken = True
    failed = files.write_bytes(b"".join(one.fixed.content for one in stdin))
    return max(failed, findings.finish(always=True))


def _show(done: list[_File], findings: Findings) -> int:
    """The difference as a patch on standard output; 1 where there is one."""
    text = "".join(line for one in done for line in _difference(one))
    applied = sum(len(one.fixed.applied) for one in done)
    count = sum(one.fixed.content != one.file.content for one in done)
    left = sum(d.fix is not None and not d.fix.safe for one in done for d in one.fixed.report.diagnostics)
    more = f", {left} more with --unsafe-fixes" if left else ""
    files.print_error(f"ptcompile: {applied} fixable in {count} of {len(done)} files{more}\n")
    return max(files.write_stdout(text), int(applied > 0), findings.unreadable_status())


def _difference(one: _File) -> Iterator[str]:
    old, new = (_lines(content.decode(errors="replace")) for content in (one.file.content, one.fixed.content))
    import difflib

    for line in difflib.unified_diff(old, new, one.file.name, one.file.name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def run(options: argparse.Namespace) -> int:
    """Judge every document of every file; 1 where there is a finding that counts."""
    if not options.paths:
        raise UsageError("no file given; ptcompile lint --help shows how (- reads standard input)")
    fixing = _asks_for_fixes(options)
    config = load_with_options(options)
    findings = Findings(
        options.output_format,
        fail_on=config.fail_on,
        exit_zero=options.exit_zero,
        output_file=options.output_file,
        statistics=options.statistics,
        extensions=config.extensions,
    )
    inputs, unreadable = _inputs(options, config)
    findings.report_unreadable(unreadable)
    profile = findings.read_profile(config.cluster) if config.cluster else None
    others = RelatedObjects(inputs, is_complete=len(inputs) > 1 or "-" in options.paths or _folders(options.paths))
    judge = FileLinter(options, config, profile, others.objects_for, {} if len(inputs) > 1 else None)
    if options.add_ignore:
        return max(findings.unreadable_status(), _add_ignores(inputs, judge))
    if fixing:
        others.objects_by_file()  # once, and not in each process
        return run_fixes(inputs, judge, findings)
    judged = [one for _, one in lint_files(inputs, judge, others)]
    for file, one in zip(
        inputs, with_repeated(inputs, judged, judge, judge, lambda result: result.objects), strict=True
    ):
        findings.add(file, one.diagnostics, documents=one.documents, unchecked=one.unchecked, lines=one.lines)
        findings.ignored += one.ignored
    return findings.finish(always=True)


def _inputs(options: argparse.Namespace, config: Config) -> tuple[list[InputFile], list[str]]:
    """Return the files to judge and what cannot be read. Print which patterns of the configuration match no file, if
    the run covers its whole folder.
    """
    required = not options.allow_empty
    if not _folders(options.paths):
        return files.read_all(options.paths, require_match=required)
    from ptcompile.cli.exclude import exclusions, unmatched_patterns

    excludes, visited = exclusions(config), list[str]()

    def exclude(path: str) -> bool:
        visited.append(path)
        return excludes(path)

    inputs, unreadable = files.read_all(options.paths, exclude, require_match=required)
    top = os.path.join(os.path.realpath(config.folder), "")
    if any(os.path.isdir(path) and top.startswith(os.path.join(os.path.realpath(path), "")) for path in options.paths):
        for sentence in unmatched_patterns(config, [file.name for file in inputs], visited):
            files.print_error(f"ptcompile: {sentence}\n")
    return inputs, unreadable


def _folders(paths: Sequence[str]) -> bool:
    """Whether files are looked for, and not all named."""
    return any("*" in path or os.path.isdir(path) for path in paths)


def _asks_for_fixes(options: argparse.Namespace) -> bool:
    if not (options.fix or options.diff or options.unsafe_fixes):
        return False

    return asked(options)


def _add_ignores(inputs: Sequence[InputFile], judge: FileLinter) -> int:
    """Write a comment for every finding, and say what cannot be said in a comment."""
    from ptcompile.source.suppression import add_ignores

    changed: dict[str, str] = {}
    added = left = 0
    reports = [judge.report(file) for file in inputs]
    for file, report in zip(
        inputs, with_repeated(inputs, reports, judge, judge.report, lambda result: result.objects), strict=True
    ):
        ignorable = [one for one in report.diagnostics if one.name != "unrendered-template"]
        if not ignorable:
            continue
        text, done = add_ignores(file.content.decode("utf-8", errors="surrogateescape"), ignorable)
        added += done
        left += len(ignorable) - done
        if done:
            changed[file.name] = text
    if "<stdin>" in changed:
        raise UsageError("--add-ignore edits files and cannot be used with standard input")
    files.write_files(changed)
    files.print_error(
        f"ptcompile: {added} findings ignored in {len(changed)} files, {left} that no comment can ignore\n"
    )
    return int(left > 0)
