"""The table of commands: the group, the module and the purpose of each. No module is imported before its command runs.

A module has `PARSERS`: by command, its examples, a function that adds its options to a parser, and one that runs it.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple


class CommandRow(NamedTuple):
    """A row of the table of commands."""

    group: str
    module: str
    """Module of this package."""
    summary: str


_WRITE = "Write manifests and specs"
_CHECK = "Check"
_UNDERSTAND = "Understand"
_CLUSTER = "Prepare a cluster"
_SET_UP = "Look up and set up"
COMMANDS = {
    "compile": CommandRow(_WRITE, "compile", "compile specs into manifests (the default command)"),
    "init": CommandRow(_WRITE, "reference", "write a commented spec to start from"),
    "import": CommandRow(_WRITE, "migrate", "turn manifests into specs that provably mean the same"),
    "convert": CommandRow(_WRITE, "migrate", "convert manifests to another operator, or say what prevents it"),
    "flyte": CommandRow(_WRITE, "flyte", "write manifests for the PyTorch tasks of a Flyte file"),
    "krm": CommandRow(_WRITE, "krm", "write manifests inside Kustomize, kpt and Helm"),
    "lint": CommandRow(_CHECK, "lint", "check manifests as an API server would"),
    "diff": CommandRow(_CHECK, "diff", "show what the difference of two files means for the pods"),
    "upgrade": CommandRow(_CHECK, "upgrade", "tell what other releases of a cluster mean for files that stay"),
    "rehearse": CommandRow(_CHECK, "rehearse", "run a job's pods as real torchrun processes, with faults"),
    "admit": CommandRow(_CHECK, "admit", "tell whether the queues of a cluster admit jobs, or why not"),
    "simulate": CommandRow(_UNDERSTAND, "simulate", "show what every pod will see"),
    "explain": CommandRow(_UNDERSTAND, "explain", "show what wrote each part, or what a word means"),
    "watch": CommandRow(_UNDERSTAND, "watch", "serve the page of explain --html, live"),
    "requires": CommandRow(_CLUSTER, "platform", "list what a cluster must have for a job"),
    "platform": CommandRow(_CLUSTER, "platform", "print what a cluster must have before jobs run"),
    "rules": CommandRow(_SET_UP, "reference", "list the lint rules"),
    "targets": CommandRow(_SET_UP, "reference", "list the targets and what each can express"),
    "schema": CommandRow(_SET_UP, "reference", "print a JSON Schema for editors or results"),
    "plugins": CommandRow(_SET_UP, "reference", "list installed plugins and which are in use"),
    "completion": CommandRow(_SET_UP, "completion", "print a tab-completion script for a shell"),
    "server": CommandRow(_SET_UP, "server", "run the language server for editors"),
    "mcp": CommandRow(_SET_UP, "mcp", "run the MCP server for assistants"),
}
"""The commands, in the order of the help."""
