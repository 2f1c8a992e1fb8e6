"""`ptcompile lint --fix` and `--diff`: what a program can mend, written into the files or shown."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ptcompile.cli import files
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import Findings
from ptcompile.fixing import Mended, mend
from ptcompile.report.common import place, printable
from ptcompile.verbs.lint import Report

_lines = re.compile(r"[^\n]*\n|[^\n]+").findall


class _File(NamedTuple):
    """A file, what became of it, and what is left to say of that."""

    file: File
    mended: Mended
    report: Report


def asked(options: argparse.Namespace) -> bool:
    """Whether fixes are asked for. Raises `UsageError` for options that do not go together."""
    if options.fix and options.diff:
        raise UsageError("--fix writes the files and --diff does not: give one of them")
    if options.add_ignore and (options.fix or options.diff):
        raise UsageError("--add-ignore does not go together with --fix and --diff")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError("--unsafe-fixes goes with --fix or --diff")
    return bool(options.fix or options.diff)


def run(inputs: Iterable[File], lint: Callable[[File], Report], findings: Findings, options: argparse.Namespace) -> int:
    """Fix all files, then report what is left of their findings; or show the difference and write nothing."""
    mended = [_mended(file, lint, unsafe=options.unsafe_fixes) for file in inputs]
    for one in mended:
        _say_skipped(one)
    return _show(mended, findings) if options.diff else _write(mended, findings)


def _mended(file: File, lint: Callable[[File], Report], *, unsafe: bool) -> _File:
    reports: dict[bytes, Report] = {}

    def judge(content: bytes) -> Report:
        if content not in reports:
            reports[content] = lint(file._replace(content=content))
        return reports[content]

    mended = mend(file.content, lambda content: judge(content).diagnostics, unsafe=unsafe)
    return _File(file, mended, judge(mended.content))


def _say_skipped(one: _File) -> None:
    for diagnostic, why, fault in one.mended.skipped:
        title = diagnostic.fix.title if diagnostic.fix else ""
        ours = "; this is a fault of ptcompile, and worth a report" if fault else ""
        text = f"{place(diagnostic)}: {diagnostic.code} is not fixed ({title}): {why}{ours}"
        files.say(f"ptcompile: {printable(text)}\n")


def _write(mended: list[_File], findings: Findings) -> int:
    changed = {one.file.name: one.mended.content for one in mended if one.mended.content != one.file.content}
    files.write_files({name: content.decode() for name, content in changed.items() if name != "<stdin>"})
    findings.fixed = sum(len(one.mended.applied) for one in mended)
    for one in mended:
        report = one.report
        file = one.file._replace(content=one.mended.content)
        findings.add(file, report.diagnostics, documents=report.documents, unchecked=report.unchecked)
        findings.meant += len(report.meant)
    stdin = [one for one in mended if one.file.name == "<stdin>"]
    if not stdin:
        return findings.finish(always=True)
    findings.stdout_is_taken = True
    failed = files.write_bytes(b"".join(one.mended.content for one in stdin))
    return max(failed, findings.finish(always=True))


def _show(mended: list[_File], findings: Findings) -> int:
    """The difference as a patch on standard output; 1 where there is one."""
    text = "".join(line for one in mended for line in _difference(one))
    applied = sum(len(one.mended.applied) for one in mended)
    count = sum(one.mended.content != one.file.content for one in mended)
    left = sum(d.fix is not None and not d.fix.safe for one in mended for d in one.report.diagnostics)
    more = f", {left} more with --unsafe-fixes" if left else ""
    files.say(f"ptcompile: {applied} fixable in {count} of {len(mended)} files{more}\n")
    return max(files.write_stdout(text), int(applied > 0), findings.unread())


def _difference(one: _File) -> Iterator[str]:
    old, new = (_lines(content.decode(errors="replace")) for content in (one.file.content, one.mended.content))
    for line in difflib.unified_diff(old, new, one.file.name, one.file.name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
