"""`ptcompile lint`: what an API server and the operators would say of manifests and specs, offline."""

from __future__ import annotations

import argparse

from ptcompile import linting
from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.cli.findings import Findings
from ptcompile.versions import parse_version


def run(options: argparse.Namespace) -> int:
    """Judge every document of every file; 1 where there is an error."""
    if not options.paths:
        raise UsageError("no file given; ptcompile lint --help shows how (- reads standard input)")
    if options.kubernetes_version is not None:
        try:
            parse_version(options.kubernetes_version)
        except ValueError as error:
            raise UsageError(f"--kubernetes-version: {error}") from None
    findings = Findings(options.output_format)
    inputs, unreadable = files.read_all(options.paths)
    findings.unreadable(unreadable)
    if not inputs and not unreadable:
        raise UsageError(f"there is no YAML or JSON file in {', '.join(options.paths)}")
    profile = findings.profile(options.cluster) if options.cluster else None
    for file in inputs:
        report = linting.lint(
            file.content,
            filename=file.name,
            cluster=profile,
            kubernetes=options.kubernetes_version,
            webhooks=not options.no_webhooks,
            unknown_kinds=options.unknown_kinds,
        )
        findings.add(file, report.diagnostics, documents=report.documents, unchecked=report.unchecked)
    return findings.finish(always=True)
