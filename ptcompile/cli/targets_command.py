"""`ptcompile targets`: what each target can express, what releases changed, and the accelerators known by name."""

from __future__ import annotations

import argparse
import json

from ptcompile.cli import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command's options."""
    one = commands.add_parser("targets", help="the targets, and what each can express")
    formats = ("text", "json", "markdown")
    one.add_argument("--format", choices=formats, default="text", help="of the table (text); markdown: of accelerators")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--versions", action="store_true", help="what each release of an operator changed instead")
    what.add_argument(
        "--accelerators", action="store_true", help="the accelerators known by name, with their machines, instead"
    )
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one of the tables."""
    if options.accelerators:
        return files.write_stdout(_accelerators(options.format))
    if options.format == "markdown":
        files.say("ptcompile: --format markdown goes with --accelerators\n")
        return 2
    if options.versions:
        from ptcompile.prerequisites import capabilities

        return files.write_stdout(capabilities.versions())
    from ptcompile.verbs.targets import targets

    found = targets()
    return files.write_stdout(_json(found.to_dict()) if options.format == "json" else found.text())


def _accelerators(format: str) -> str:
    from ptcompile.prerequisites import machines

    if format == "json":
        return _json(machines.to_dict())
    return machines.markdown() if format == "markdown" else machines.text()


def _json(data: object) -> str:
    return json.dumps(data, indent=2) + "\n"
