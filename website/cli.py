"""The page of the command line, made from the parser."""

from __future__ import annotations

import argparse
import os
import textwrap

from ptcompile.cli import build_parser
from ptcompile.cli.commands import COMMANDS

_HEAD = """# Command line

The first word may be a command; without one it is `compile`. Results go to standard output, everything for people to
standard error.

| Exit status | Meaning |
|---|---|
| 0 | no error: warnings and notes alone do not change the status |
| 1 | an error in a file, which for a spec means that it does not compile; a warning with `lint --fail-on warning`; \
a difference with `diff` or `compile --check`; an available fix with `lint --diff`; a rehearsal that did not pass |
| 2 | wrong usage, an input that is missing or unreadable, a path that matches no file, or a bug in ptcompile |
| 130 | ended by Ctrl-C, except `watch`, which ends with 0 |
| 143 | `rehearse` ended by SIGTERM |"""


def page() -> str:
    """Every command with its usage, its options and the text below them."""
    os.environ["COLUMNS"] = "84"  # argparse wraps usage lines to it
    parts = [_HEAD]
    group = ""
    for name, command in COMMANDS.items():
        if command.group != group:
            group = command.group
            parts.append(f"## {group}")
        parts.append(_command(name, build_parser(name), command.summary))
    return "\n\n".join(parts) + "\n"


def _command(name: str, parser: argparse.ArgumentParser, text: str) -> str:
    usage = parser.format_usage().removeprefix("usage: ")
    parts = [f"### ptcompile {name}", _first_upper(text) + ".", f"```text\n{usage}```"]
    rows = [_row(action) for action in parser._actions if action.dest != "help"]
    if rows:
        parts.append("\n".join(["| Argument | Meaning |", "|---|---|", *rows]))
    if parser.epilog:
        parts.append(f"```text\n{textwrap.dedent(parser.epilog).strip()}\n```")
    return "\n\n".join(parts)


def _row(action: argparse.Action) -> str:
    choices = "{" + ", ".join(map(str, action.choices)) + "}" if action.choices else None
    value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest.upper())
    names = [f"`{name} {value}`".replace(" `", "`") for name in action.option_strings] or [
        f"`{value}`"
    ]
    meaning = (action.help or "").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return f"| {', '.join(names)} | {_first_upper(meaning)} |"


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
