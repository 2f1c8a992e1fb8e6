"""`ptcompile rules`: the rules that `lint` asks; `ptcompile explain CODE`: the page of one."""

from __future__ import annotations

import argparse
import json
import os
import re

from ptcompile.cli import config, files
from ptcompile.cli.files import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions

_is_code = re.compile(r"(?i:PTC)[0-9]{3}|[A-Z]{2,8}[0-9]{3}|[a-z]+(-[a-z0-9]+)+").fullmatch


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
    """Whether a word is written as a code or the name of a rule, and is not a file."""
    return _is_code(word) is not None and not os.path.exists(word)


def explain(word: str) -> int:
    """Print the page of a code or a name. Raises `UsageError` where there is none."""
    from ptcompile.findings.codes import CODES
    from ptcompile.kubernetes.names import suggest
    from ptcompile.linting.catalogue import explained, named

    name = named(word)
    extensions = config.extensions() if name is None else None
    if extensions is not None:
        from ptcompile.extending import pages

        rule = pages.named(extensions, word)
        if rule is not None:
            return files.write_stdout(pages.explained(rule))
    if name is None:
        more = extensions.codes if extensions is not None else {}
        near = suggest(word, [*CODES, *CODES.values(), *more, *more.values()])
        raise UsageError(f"no rule {word!r}" + (f"; did you mean {near}?" if near else "; ptcompile rules lists them"))
    return files.write_stdout(explained(name))


def _rules(options: argparse.Namespace) -> int:
    from ptcompile.linting import catalogue
    from ptcompile.verbs.rules import rules

    extensions = config.extensions() if options.output_format != "markdown" else None
    if options.output_format == "json":
        return files.write_stdout(json.dumps(rules(extensions=extensions), indent=2) + "\n")
    if options.output_format == "markdown":
        return files.write_stdout(catalogue.as_markdown())
    return files.write_stdout(catalogue.listed(_rows(extensions)))


def _rows(extensions: Extensions | None) -> list[tuple[str, ...]]:
    rules = extensions.rules if extensions is not None else ()
    return [(one.code, one.name, one.severity, one.stage, one.authority) for one in rules]
