"""`ptcompile plugins`: the plugins that are installed, and which of them the configuration names."""

from __future__ import annotations

import argparse
import json
from collections.abc import Container

from ptcompile.cli import config, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending.installed import Plugin


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `plugins`."""
    one = commands.add_parser("plugins", help="installed plugins, and which are in use", allow_abbrev=False)
    one.add_argument("--format", choices=("text", "json"), default="text", help="of the list (text)")
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the plugins. 2 where the configuration names one that is missing or broken."""
    from ptcompile.verbs.plugins import plugins

    found = plugins()
    wrong: files.UsageError | None = None
    used: Container[str] = ()
    try:
        extensions = config.extensions()
        used = [one.name for one in extensions.plugins] if extensions is not None else []
    except files.UsageError as error:
        wrong = error
    if options.format == "json":
        shown = json.dumps([{**one.to_dict(), "used": one.name in used} for one in found], indent=2) + "\n"
    else:
        shown = "".join(_shown(one, used=one.name in used) for one in found) or "no plugin is installed\n"
    status = files.write_stdout(shown)
    if wrong is not None:
        raise wrong
    return status


def _shown(one: Plugin, *, used: bool) -> str:
    """A line for the plugin, and one for each group of what it adds."""
    head = f"{one.name} {one.version}" + ("" if used else "  (installed, and not named in the configuration)") + "\n"
    groups = {"rules": one.rules, "passes": one.passes, "targets": one.targets}
    return head + "".join(f"  {group:<8} {', '.join(names)}\n" for group, names in groups.items() if names)
