"""`ptcompile init`: a spec to start from."""

from __future__ import annotations

import argparse
import os

from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.cli.options import check_target


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser("init", help="write a commented spec to start from", allow_abbrev=False)
    one.add_argument("--target", metavar="T", help="write it for this operator (see `ptcompile targets`)")
    one.add_argument(
        "-o", "--output", metavar="FILE", help="write it to this file, which must not exist (default: standard output)"
    )
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the starter spec, or write it where there is nothing yet."""
    check_target(options.target)
    from ptcompile.verbs.init import init

    text = init(options.target)
    if options.output is None:
        return files.write_stdout(text)
    if os.path.lexists(options.output):
        raise UsageError(f"{options.output}already exists, and init never overwrites a file")
    files.write_files({options.output: text})
    files.say(f"ptcompile: wrote {options.output}; ptcompile {options.output} prints its manifests\n")
    return 0
