"""`ptcompile convert`: one operator's manifests as another's."""

from __future__ import annotations

import argparse

from ptcompile.cli import files
from ptcompile.cli.findings import Findings
from ptcompile.cli.options import add_output_format, check_target

EPILOG = """\
The manifests are imported and compiled for the other operator: the same pods, processes, commands, variables, amounts
and volumes, or an error that names what the other operator cannot express. What it does differently is a warning.

  ptcompile convert pytorchjob.yaml --target trainjob > trainjob.yaml   from Kubeflow's v1 to its v2
  ptcompile convert job.yaml --target jobset --lossy                    drop, with a warning, what it cannot express

Exits with status 0 if everything is converted, 1 if not, else 2.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser(
        "convert",
        help="convert manifests to another operator, or fail where something would be lost",
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.add_argument("paths", nargs="+", metavar="FILE", help="files, directories, or - for standard input")
    one.add_argument(
        "--target", metavar="T", required=True, help="operator to write manifests for (see `ptcompile targets`)"
    )
    one.add_argument("-o", "--output", metavar="OUT", help="write to this file (default: standard output)")
    one.add_argument("--cluster", metavar="FILE", help="the cluster profile")
    one.add_argument(
        "--lossy", action="store_true", help="drop what the target cannot express, with a warning instead of an error"
    )
    add_output_format(one)
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert every file. One error anywhere, and nothing is written."""
    from ptcompile.documents.emit import emit_all
    from ptcompile.verbs.convert import convert

    check_target(options.target)
    findings = Findings(options.output_format)
    inputs, unreadable = files.read_all(options.paths)
    findings.unreadable(unreadable)
    profile = findings.profile(options.cluster)
    manifests: list[dict[str, object]] = []
    for file in inputs if profile is not None else ():
        result = convert(
            file.content,
            target=options.target,
            filename=file.name,
            cluster=profile if options.cluster else None,
            lossy=options.lossy,
        )
        findings.add(file, result.diagnostics)
        manifests += result.manifests
    status = findings.finish()
    if status:
        return status
    text = emit_all(manifests)
    if options.output is None:
        return files.write_stdout(text)
    files.write_files({options.output: text})
    return 0
