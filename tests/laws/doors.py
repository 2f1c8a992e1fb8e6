"""Every way to the findings of a file, as a function from its name to what it finds, so that they can be compared."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import ptcompile
from ptcompile import cli
from ptcompile.api.explain import explain_page
from ptcompile.cli import config
from ptcompile.cli.baseline import without_known
from ptcompile.cli.commands.mcp import _read_surroundings, _settings
from ptcompile.cli.exclude import exclusions
from ptcompile.cli.files import UsageError
from ptcompile.cli.workspace import Workspace
from ptcompile.diagnostics import field_path
from ptcompile.mcp.inputs import Call
from ptcompile.mcp.tools import TOOLS
from ptcompile.server.document import Texts
from tests.conftest import ROOT

FILENAME = "text.yaml"
"""The file that every door looks at, in the current folder."""
_REPORT = "report.json"
_OF_A_RUN = frozenset({"PTC907"})
"""What a run says of itself, and not of a file: that it checked nothing."""
HOOKS = ROOT / ".pre-commit-hooks.yaml"


class Seen(NamedTuple):
    """A finding, as far as every door shows it."""

    code: str
    severity: str
    message: str
    path: str
    line: int
    """0 without a line, and for a door that has none."""


def _seen(diagnostics: Iterable[ptcompile.Diagnostic]) -> list[Seen]:
    return [
        Seen(
            diagnostic.code,
            diagnostic.severity,
            diagnostic.message,
            field_path(diagnostic.path),
            diagnostic.span.line if diagnostic.span else 0,
        )
        for diagnostic in diagnostics
    ]


def _seen_in_report(report: dict[str, Any], *, lines: bool = True) -> list[Seen]:
    return [
        Seen(
            diagnostic["code"],
            diagnostic["severity"],
            diagnostic["message"],
            field_path(tuple(diagnostic["path"])),
            diagnostic["span"]["line"] if lines and diagnostic["span"] else 0,
        )
        for diagnostic in report["diagnostics"]
        if diagnostic["code"] not in _OF_A_RUN
    ]


def python_lint() -> list[Seen]:
    """Return the findings of `ptcompile.lint` with the arguments that the configuration means."""
    settings = config.load(None)
    return _seen(without_known(settings)(_python_report(settings).diagnostics))


def python_lint_around() -> list[Seen]:
    """Return the findings of `ptcompile.lint` with the objects of the other files of the folder, and nothing of a file
    that the configuration excludes.
    """
    settings = config.load(None)
    if exclusions(settings, ["."])(FILENAME):
        return []
    others = [path for path in sorted(Path().glob("*.yaml")) if path.name != FILENAME]
    return _seen(without_known(settings)(_python_report(settings, beside=others).diagnostics))


def _python_report(settings: config.Config, beside: list[Path] | None = None) -> ptcompile.Report:
    return ptcompile.lint(
        Path(FILENAME),
        cluster=None if settings.cluster is None else Path(settings.cluster),
        schemas=settings.schemas,
        beside=beside,
        **_judging(settings),
    )


def python_compile() -> list[Seen]:
    """Return the findings of `ptcompile.compile` with the same arguments."""
    settings = config.load(None)
    profile = None if settings.cluster is None else Path(settings.cluster)
    return _seen(
        ptcompile.compile(Path(FILENAME), cluster=profile, **_judging(settings)).diagnostics
    )


def _judging(settings: config.Config) -> dict[str, Any]:
    return {
        "select": settings.selectors(),
        "ignore": settings.ignored_selectors(FILENAME),
        "severity": settings.severities(FILENAME),
        "extensions": settings.extensions,
    }


def _command(*words: str) -> dict[str, Any]:
    """Return the report of a command."""
    Path(_REPORT).unlink(missing_ok=True)
    cli.main([*words, "--output-format", f"json={_REPORT}"])
    report: dict[str, Any] = json.loads(Path(_REPORT).read_text(encoding="utf-8"))
    return report


def command_lint() -> list[Seen]:
    """Return the findings of `ptcompile lint`."""
    return _seen_in_report(_command("lint", FILENAME))


def hook() -> list[Seen]:
    """Return the findings of the hook for pre-commit, which the action and the template of GitLab run too."""
    return _seen_in_report(_command(*_words_of_the_hook(), FILENAME))


@cache
def _words_of_the_hook() -> list[str]:
    """Return what the hook runs, without the name of the program."""
    (entry,) = (
        one["entry"] for one in yaml.safe_load(HOOKS.read_text()) if one["id"] == "ptcompile-lint"
    )
    words: list[str] = entry.split()
    return words[1:]


def command_compile() -> list[Seen]:
    """Return the findings of `ptcompile compile`."""
    return _seen_in_report(_command("compile", FILENAME))


def krm() -> list[Seen]:
    """Return the findings of `ptcompile krm`, which writes each object anew and has no lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(FILENAME).read_bytes())))
        try:
            return _seen_in_report(_command("krm"), lines=False)
        except UsageError:  # there is no object
            return []


def editor() -> list[Seen]:
    """Return the findings of the language server in the folder."""
    workspace = Workspace([str(Path.cwd())], {})
    path = str(Path(FILENAME).resolve())
    text = Path(path).read_text(encoding="utf-8")
    opened = Texts(workspace, "utf-16").get(f"file://{path}", path, text, lambda: None)
    assert not opened.settings.error
    return _seen(opened.report.diagnostics)


def assistant_lint() -> list[Seen]:
    """Return the findings of the MCP server's tool lint."""
    return _seen_in_report(_tool("lint"))


def assistant_compile() -> list[Seen]:
    """Return the findings of the MCP server's tool compile."""
    return _seen_in_report(_tool("compile")["report"])


def _tool(name: str) -> dict[str, Any]:
    root = str(Path.cwd())
    return TOOLS[name].run(
        Call(
            {"path": FILENAME},
            [root],
            partial(_settings, root),
            partial(_read_surroundings, [root]),
        )
    )


def page() -> list[Seen]:
    """Return the findings of the page that `watch` shows, for the spec's own target."""
    from ptcompile.api.inputs import Inputs

    settings = config.load(None)
    inputs = Inputs.read(
        Path(FILENAME),
        cluster=None if settings.cluster is None else Path(settings.cluster),
        extensions=settings.extensions,
        only_specs=True,
    )
    return _seen(explain_page(inputs, None, settings.selection(FILENAME)).diagnostics)


DOORS: dict[str, Callable[[], list[Seen]]] = {
    "Python, lint": python_lint,
    "command lint": command_lint,
    "KRM function": krm,
}
"""Doors to the findings of any file, alone."""
DOORS_OF_FOLDERS: dict[str, Callable[[], list[Seen]]] = {
    "Python, lint with others": python_lint_around,
    "hook": hook,
    "language server": editor,
    "MCP, lint": assistant_lint,
}
"""Doors to the findings of any file in its repository."""
DOORS_OF_SPECS: dict[str, Callable[[], list[Seen]]] = {
    "Python, compile": python_compile,
    "command compile": command_compile,
    "MCP, compile": assistant_compile,
    "page of explain and watch": page,
}
"""Doors to the findings of specs."""
