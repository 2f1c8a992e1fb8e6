"""`ptcompile lint --fix` and `--diff`: automatic fixes, written into the files or shown."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing

from ptcompile.cli import files
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.many import shared
from ptcompile.cli.many.judge import Judge
from ptcompile.report.common import place, printable
from ptcompile.typed import NamedTuple
from ptcompile.verbs.fix import Fixed

_lines = re.compile(r"[^\n]*\n|[^\n]+").findall


class _File(NamedTuple):
    """A file, and what became of it."""

    file: File
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


def run(inputs: Sequence[File], judge: Judge, findings: Findings) -> int:
    """Fix all files, then report what is left of their findings; or show the difference and write nothing."""
    options = judge.options
    with closing(shared(judge.fixed, inputs, options.jobs)) as results:
        done = [_File(*one) for one in zip(inputs, results, strict=True)]
    for one in done:
        _say_skipped(one)
    return _show(done, findings) if options.diff else _write(done, findings)


def _say_skipped(one: _File) -> None:
    for diagnostic, why, fault in one.fixed.skipped:
        title = diagnostic.fix.title if diagnostic.fix else ""
        ours = f"; {files.BUG}, please report it" if fault else ""
        text = f"{place(diagnostic)}: {diagnostic.code} is not fixed ({title}): {why}{ours}"
        files.say(f"ptcompile: {printable(text)}\n")


def _write(done: list[_File], findings: Findings) -> int:
    changed = {one.file.name: one.fixed.content for one in done if one.fixed.content != one.file.content}
    files.write_files({name: content.decode() for name, content in changed.items() if name != "<stdin>"})
    findings.fixed = sum(len(one.fixed.applied) for one in done)
    for one in done:
        report = one.fixed.report
        file = one.file._replace(content=one.fixed.content)
        findings.add(file, report.diagnostics, documents=report.documents, unchecked=report.unchecked)
        findings.meant += len(report.meant)
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
    files.say(f"ptcompile: {applied} fixable in {count} of {len(done)} files{more}\n")
    return max(files.write_stdout(text), int(applied > 0), findings.unread())


def _difference(one: _File) -> Iterator[str]:
    old, new = (_lines(content.decode(errors="replace")) for content in (one.file.content, one.fixed.content))
    for line in difflib.unified_diff(old, new, one.file.name, one.file.name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
