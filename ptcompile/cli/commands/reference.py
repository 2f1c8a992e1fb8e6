"""What this version knows, printed: rules, targets, plugins, and the spec to start from."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Container

from ptcompile.cli import config, files
from ptcompile.cli.files import UsageError
from ptcompile.cli.options import check_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.extending.plugins import Plugin


def add_init(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser("init", help="write a commented spec to start from", allow_abbrev=False)
    one.add_argument("--target", metavar="T", help="write it for this operator (see `ptcompile targets`)")
    one.add_argument(
        "-o", "--output", metavar="FILE", help="write it to this file, which must not exist (default: standard output)"
    )
    one.set_defaults(run=run_init)


def run_init(options: argparse.Namespace) -> int:
    """Print the starter spec, or write it where there is nothing yet."""
    check_target(options.target)
    from ptcompile.api.reference import init

    text = init(options.target)
    if options.output is None:
        return files.write_stdout(text)
    if os.path.lexists(options.output):
        raise UsageError(f"{options.output}already exists, and init never overwrites a file")
    files.write_files({options.output: text})
    files.print_error(f"ptcompile: wrote {options.output}; ptcompile {options.output} prints its manifests\n")
    return 0


def add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `plugins`."""
    one = commands.add_parser("plugins", help="installed plugins, and which are in use", allow_abbrev=False)
    one.add_argument("--format", choices=("text", "json"), default="text", help="of the list (text)")
    one.set_defaults(run=run_plugins)


def run_plugins(options: argparse.Namespace) -> int:
    """List the plugins. 2 where the configuration names one that is missing or broken."""
    from ptcompile.api.reference import plugins

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


_is_code = re.compile(r"(?i:PTC)[0-9]{3}|[A-Z]{2,8}[0-9]{3}|[a-z]+(-[a-z0-9]+)+").fullmatch


def add_rules(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    from ptcompile._internal.spelling import closest_match
    from ptcompile.diagnostics.codes import CODES
    from ptcompile.linter.pages import explain_name, name_of

    name = name_of(word)
    extensions = config.extensions() if name is None else None
    if extensions is not None:
        from ptcompile.extending import calls

        rule = calls.find_rule(extensions, word)
        if rule is not None:
            return files.write_stdout(calls.terminal_page(rule))
    if name is None:
        more = extensions.codes if extensions is not None else {}
        near = closest_match(word, [*CODES, *CODES.values(), *more, *more.values()])
        raise UsageError(f"no rule {word!r}" + (f"; did you mean {near}?" if near else "; ptcompile rules lists them"))
    return files.write_stdout(explain_name(name))


def _rules(options: argparse.Namespace) -> int:
    from ptcompile.api.reference import rules
    from ptcompile.linter import pages as catalogue

    extensions = config.extensions() if options.output_format != "markdown" else None
    if options.output_format == "json":
        return files.write_stdout(json.dumps(rules(extensions=extensions), indent=2) + "\n")
    if options.output_format == "markdown":
        return files.write_stdout(catalogue.as_markdown())
    return files.write_stdout(catalogue.rule_list(_rows(extensions)))


def _rows(extensions: Extensions | None) -> list[tuple[str, ...]]:
    rules = extensions.rules if extensions is not None else ()
    return [(one.code, one.name, one.severity, one.stage, one.authority) for one in rules]


def add_targets(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command's options."""
    one = commands.add_parser("targets", help="the targets, and what each can express")
    formats = ("text", "json", "markdown")
    one.add_argument("--format", choices=formats, default="text", help="of the table (text); markdown: of accelerators")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--versions", action="store_true", help="what each release of an operator changed instead")
    what.add_argument(
        "--accelerators", action="store_true", help="the accelerators known by name, with their machines, instead"
    )
    one.set_defaults(run=run_targets)


def run_targets(options: argparse.Namespace) -> int:
    """Print one of the tables."""
    if options.accelerators:
        return files.write_stdout(_accelerators(options.format))
    if options.format == "markdown":
        files.print_error("ptcompile: --format markdown goes with --accelerators\n")
        return 2
    if options.versions:
        from ptcompile.requirements import capabilities

        return files.write_stdout(capabilities.versions_text())
    from ptcompile.api.reference import targets

    found = targets()
    return files.write_stdout(_json(found.to_dict()) if options.format == "json" else found.text())


def _accelerators(format: str) -> str:
    from ptcompile.hardware import tables

    if format == "json":
        return _json(tables.to_dict())
    return tables.markdown() if format == "markdown" else tables.text()


def _json(data: object) -> str:
    return json.dumps(data, indent=2) + "\n"
