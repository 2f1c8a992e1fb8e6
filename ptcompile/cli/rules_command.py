"""`ptcompile rules`: the rules that `lint` asks; `ptcompile explain CODE`: the page of one."""

from __future__ import annotations

import argparse
import json
import os
import re

from ptcompile.cli import files
from ptcompile.cli.files import UsageError

_is_code = re.compile(r"PTC[0-9]{3}|[a-z]+(-[a-z0-9]+)+").fullmatch


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `rules`."""
    one = commands.add_parser("rules", help="list the lint rules", allow_abbrev=False)
    one.add_argument(
        "--output-format",
        choices=("text", "json", "markdown"),
        default="text",
        help="format of the list (default: text)",
    )
    one.set_defaults(run=_rules)


def is_code(word: str) -> bool:
    """Whether a word is written as a code or the name of a rule, and is no file."""
    return _is_code(word) is not None and not os.path.exists(word)


def explain(word: str) -> int:
    """Print the page of a code or a name. Raises `UsageError` where there is none."""
    from ptcompile.findings.codes import CODES
    from ptcompile.kubernetes.names import suggest
    from ptcompile.linting.catalogue import explained, named

    name = named(word)
    if name is None:
        near = suggest(word, [*CODES, *CODES.values()])
        raise UsageError(f"no rule {word!r}" + (f"; did you mean {near}?" if near else "; ptcompile rules lists them"))
    return files.write_stdout(explained(name))


def _rules(options: argparse.Namespace) -> int:
    from ptcompile.linting import catalogue
    from ptcompile.verbs.rules import rules

    if options.output_format == "json":
        return files.write_stdout(json.dumps(rules(), indent=2) + "\n")
    return files.write_stdout(catalogue.as_markdown() if options.output_format == "markdown" else catalogue.listed())
