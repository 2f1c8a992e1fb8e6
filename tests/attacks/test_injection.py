"""Input that imitates markup, workflow commands or terminal escape sequences."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ptcompile
from ptcompile.explainer.page import html
from ptcompile.graph import GRAPHS
from ptcompile.report import FORMATS, renderer
from ptcompile.simulator.as_text import overview
from tests.making import gather

TEXT = (Path(__file__).parent / "injection-ok.yaml").read_text()


def harmless(text: str) -> bool:
    """Return whether a text has no control characters except line ends, and no direction marks."""
    return text.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", FORMATS)
def test_reports_escape_terminal_and_runner_commands(name: str) -> None:
    text = TEXT.replace('"nodes": 2', '"nods": 2, "</script>::error::x": 1')
    diagnostics = ptcompile.lint(text, filename="a\x1b[31m.yaml").diagnostics
    shown = renderer(name)(diagnostics, {"a\x1b[31m.yaml": text})
    assert diagnostics
    assert harmless(shown)
    if name in ("json", "sarif"):
        json.loads(shown)
    if name == "junit":
        ElementTree.fromstring(shown)  # noqa: S314
    if name == "github":
        assert all(
            line.startswith(("::error ", "::warning ", "::notice ")) for line in shown.splitlines()
        )


def test_worlds_and_pictures_escape_markup() -> None:
    world = ptcompile.simulate(TEXT)
    assert world.jobs
    assert harmless(overview(world))
    for name, draw in GRAPHS.items():
        shown = draw(world)
        assert harmless(shown)
        assert "<img" not in shown
        if name == "svg":
            ElementTree.fromstring(shown)  # noqa: S314


def test_the_page_escapes_markup() -> None:
    page = html(gather(TEXT))
    assert "<img" not in page
    assert "Content-Security-Policy" in page
    assert page.count("</script>") == page.count("<script")
