"""The commands, as `commands.json` has them: their options, the text below these in the help, and
what runs them.

No module of a command is imported before it runs.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import JsonDict

OptionRows = list[str | JsonDict]
"""Options and defaults of a parser, each either a row or the name of rows that several commands
share.
"""


class CommandRow(NamedTuple):
    """A row of the table of commands."""

    group: str
    module: str
    """Module of this package."""
    function: str
    """Its function that runs the command."""
    summary: str
    options: OptionRows
    below: list[str]
    """Lines below the options in the help, with examples."""


TABLE = load_table("cli/commands/commands.json")
"""Also what other tools call the commands (`otherNames`) and the creation of a job, which no
command does (`submitting`), and the extensions of the files that arguments name, "/" for folders
(`filesBy...`).
"""
SHARED: dict[str, OptionRows] = TABLE["shared"]
"""Rows of options that several commands share, by name."""
COMMANDS = {name: CommandRow(**row) for name, row in TABLE["commands"].items()}
"""The commands, in the order of the help."""
