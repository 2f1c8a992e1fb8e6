"""`ptcompile lint`: what an API server, the operators and the run would say of manifests and specs, offline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ptcompile.cli import files
from ptcompile.cli.beside import Beside
from ptcompile.cli.config import settings
from ptcompile.cli.excluding import excluding
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.many.judge import Judge, judged

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Judge every document of every file; 1 where there is a finding that counts."""
    if not options.paths:
        raise UsageError("no file given; ptcompile lint --help shows how (- reads standard input)")
    fixing = _asks_for_fixes(options)
    config = settings(options)
    findings = Findings(
        options.output_format,
        fail_on=config.fail_on,
        exit_zero=options.exit_zero,
        output_file=options.output_file,
        statistics=options.statistics,
        extensions=config.extensions,
    )
    inputs, unreadable = files.read_all(options.paths, excluding(config) if _folders(options.paths) else None)
    findings.unreadable(unreadable)
    profile = findings.profile(config.cluster) if config.cluster else None
    if options.add_ignore:
        return _add_ignores(inputs, Judge(options, config, profile))
    if fixing:
        from ptcompile.cli import fixes

        return fixes.run(inputs, Judge(options, config, profile), findings)
    others = Beside(inputs)
    for file, one in judged(inputs, Judge(options, config, profile, others.of), others):
        findings.add(file, one.diagnostics, documents=one.documents, unchecked=one.unchecked, lines=one.lines)
        findings.meant += one.meant
    return findings.finish(always=True)


def _folders(paths: Sequence[str]) -> bool:
    """Whether files are looked for, and not all named."""
    return any("*" in path or os.path.isdir(path) for path in paths)


def _asks_for_fixes(options: argparse.Namespace) -> bool:
    if not (options.fix or options.diff or options.unsafe_fixes):
        return False
    from ptcompile.cli import fixes

    return fixes.asked(options)


def _add_ignores(inputs: Iterable[File], judge: Judge) -> int:
    """Write a comment for every finding, and say what cannot be said in a comment."""
    from ptcompile.documents.suppression import add_ignores

    changed: dict[str, str] = {}
    added = left = 0
    for file in inputs:
        report = judge.report(file)
        if not report.diagnostics:
            continue
        text, done = add_ignores(file.content.decode("utf-8", errors="surrogateescape"), report.diagnostics)
        added += done
        left += len(report.diagnostics) - done
        if done:
            changed[file.name] = text
    if "<stdin>" in changed:
        raise UsageError("--add-ignore edits files and cannot be used with standard input")
    files.write_files(changed)
    files.say(f"ptcompile: {added} findings ignored in {len(changed)} files, {left} that no comment can ignore\n")
    return int(left > 0)
