"""Reference output: rules, targets, plugins, and the starter spec."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Container

from ptcompile.cli import config, files, presentation
from ptcompile.cli.files import UsageError
from ptcompile.cli.options import check_target
from ptcompile.report.layout import format_json
from ptcompile.source.emitter import emit_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending.plugins import Plugin


def run_init(options: argparse.Namespace) -> int:
    """Print the starter spec or profile, or write it to a new file."""
    check_target(options.target)
    if not options.profile and (options.cloud or options.from_dump):
        raise UsageError("--cloud and --from-dump are of a profile: give --profile too")

    text, status = _starter(options)
    if status:
        return status
    if options.output is None:
        return files.write_stdout(text)
    if os.path.lexists(options.output):
        raise UsageError(f"{options.output} already exists; init never overwrites a file")

    files.write_files({options.output: text})
    if options.profile:
        use = "--cluster takes it"
    else:
        use = f"ptcompile {options.output} prints its manifests"

    files.print_error(f"ptcompile: wrote {options.output}; {use}")
    return 0


def _starter(options: argparse.Namespace) -> tuple[str, int]:
    """Return the text to start from, and the exit status of what it was read from."""
    from ptcompile.api.reference import init, starter_profile

    if not options.from_dump:
        return starter_profile(options.cloud) if options.profile else init(options.target), 0

    from ptcompile.cli.commands.platform import profile_of_dumps
    from ptcompile.cli.reporter import Reporter

    reporter = Reporter()
    text = profile_of_dumps(options.from_dump, reporter)

    return text, reporter.finish()


def run_plugins(options: argparse.Namespace) -> int:
    """List the plugins; return 2 if the configuration names a missing or broken one."""
    from ptcompile.api.reference import plugins

    installed = plugins()
    config_error: files.UsageError | None = None
    used: Container[str] = ()
    try:
        extensions = config.settings_of(options).extensions
        used = [plugin.name for plugin in extensions.plugins] if extensions is not None else []
    except files.UsageError as error:
        config_error = error

    if options.format == "json":
        text = format_json(
            [{**plugin.to_dict(), "used": plugin.name in used} for plugin in installed]
        )
    else:
        text = (
            "".join(_format_plugin(plugin, is_used=plugin.name in used) for plugin in installed)
            or "no plugin is installed\n"
        )

    status = files.write_stdout(text)
    if config_error is not None:
        raise config_error

    return status


def _format_plugin(plugin: Plugin, *, is_used: bool) -> str:
    """Return a line for the plugin, and one for each group of its additions."""
    head = (
        f"{plugin.name} {plugin.version}"
        + ("" if is_used else "  (installed, and not named in the configuration)")
        + "\n"
    )
    groups = {"rules": plugin.rules, "passes": plugin.passes, "targets": plugin.targets}
    return head + "".join(
        f"  {group:<8} {', '.join(names)}\n" for group, names in groups.items() if names
    )


_match_code = re.compile(r"(?i:PTC)[0-9]{3}|[A-Z]{2,8}[0-9]{3}|[a-z]+(-[a-z0-9]+)+").fullmatch


def is_code(word: str) -> bool:
    """Return whether a word looks like a code or rule name and is not an existing file."""
    return _match_code(word) is not None and not os.path.exists(word)


def explain(word: str, hint: Callable[[str], str]) -> int:
    """Print the page of a code or rule name. Raises `UsageError` if it does not exist, with the
    hint for the word.
    """
    from ptcompile._internal.spelling import closest_match
    from ptcompile.diagnostics.codes import CODES
    from ptcompile.linter.pages import explain_name, name_of

    name = name_of(word)
    extensions = config.load(None).extensions if name is None else None
    if extensions is not None:
        from ptcompile.extending import calls

        rule = calls.find_rule(extensions, word)
        if rule is not None:
            return files.write_stdout(calls.terminal_page(rule))
    if name is None:
        extension_codes = extensions.codes if extensions is not None else {}
        near = closest_match(
            word, [*CODES, *CODES.values(), *extension_codes, *extension_codes.values()]
        )
        raise UsageError(f"no rule {word!r}" + (f"; did you mean {near}?" if near else hint(word)))

    return files.write_stdout(explain_name(name))


def run_rules(options: argparse.Namespace) -> int:
    """Print the table of rules."""
    from ptcompile.api.reference import rules
    from ptcompile.linter import pages as catalog

    extensions = (
        config.settings_of(options).extensions if options.output_format != "markdown" else None
    )
    if options.output_format == "json":
        return files.write_stdout(format_json(rules(extensions=extensions)))
    if options.output_format == "markdown":
        return files.write_stdout(catalog.as_markdown())

    added = extensions.rules if extensions is not None else ()
    rows = [(rule.code, rule.name, rule.severity, rule.stage, rule.authority) for rule in added]
    return files.write_stdout(catalog.rule_list(rows))


def run_targets(options: argparse.Namespace) -> int:
    """Print one of the tables."""
    if options.accelerators:
        from ptcompile.hardware import tables

        return files.write_stdout(presentation.render(tables, options.format))
    if options.format == "markdown":
        files.print_error("ptcompile: --format markdown requires --accelerators")
        return 2
    if options.versions:
        from ptcompile.api.reference import versions_text

        return files.write_stdout(versions_text())

    from ptcompile.api.reference import targets

    return files.write_stdout(presentation.render(targets(), options.format))


def run_schema(options: argparse.Namespace) -> int:
    """Print a JSON Schema."""
    from ptcompile.api.reference import schema

    return files.write_stdout(emit_json(schema(options.schema)))
