"""The table of commands: the group, the module and the purpose of each. No module is imported before its command runs.

A module has `PARSERS`: by command, a function that adds its options to a parser.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Command(NamedTuple):
    """A command of the command line."""

    group: str
    module: str
    """Module of this package."""
    summary: str


_WRITE, _CHECK, _UNDERSTAND = "Write manifests and specs", "Check", "Understand"
_CLUSTER, _SET_UP = "Prepare a cluster", "Look up and set up"
COMMANDS: Final = {
    "compile": Command(_WRITE, "compile", "compile specs into manifests (the default command)"),
    "init": Command(_WRITE, "reference", "write a commented spec to start from"),
    "import": Command(_WRITE, "migrate", "turn existing manifests into specs, proved to mean the same"),
    "convert": Command(_WRITE, "migrate", "convert manifests to another operator, or fail if something would be lost"),
    "flyte": Command(_WRITE, "flyte", "write manifests for a Flyte task, or for a workflow's PyTorch tasks"),
    "lint": Command(_CHECK, "lint", "check manifests as an API server would"),
    "diff": Command(_CHECK, "diff", "show how two specs or manifests differ, and what that means for the pods"),
    "rehearse": Command(_CHECK, "rehearse", "run a job's pods as real torchrun processes, with faults"),
    "simulate": Command(_UNDERSTAND, "simulate", "show what every pod will see"),
    "explain": Command(_UNDERSTAND, "explain", "show which pass, rule and line wrote each part, or what a field means"),
    "watch": Command(_UNDERSTAND, "watch", "serve the page of explain --html, live"),
    "requires": Command(_CLUSTER, "platform", "list what a cluster must have for a job"),
    "platform": Command(_CLUSTER, "platform", "print what a cluster must have before jobs run"),
    "rules": Command(_SET_UP, "reference", "list the lint rules"),
    "targets": Command(_SET_UP, "reference", "list the targets and what each can express"),
    "schema": Command(_SET_UP, "reference", "print a JSON Schema for editors or results"),
    "plugins": Command(_SET_UP, "reference", "list installed plugins and which are in use"),
    "completion": Command(_SET_UP, "completion", "print a tab-completion script for a shell"),
    "server": Command(_SET_UP, "server", "run the language server for editors"),
}
"""The commands, in the order of the help."""
