"""The page under user preferences: dark mode, narrow windows, print, no script, and screen readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptcompile.explainer.page import html
from tests.explainer.page.browser import CHROMIUM, Browser
from tests.explainer.page.making import example, page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")


def test_dark_mode_has_a_dark_background(show: Any, tmp_path: Path) -> None:
    shots, grounds = [], []
    for scheme in ("light", "dark"):
        tab = show("example", prefers_color_scheme=scheme)
        grounds.append(tab.run("getComputedStyle(document.body).backgroundColor"))
        shots.append(tab.screenshot(tmp_path / f"{scheme}.png"))
    assert shots[0] != shots[1]
    light, dark = ([int(n) for n in ground[4:-1].split(",")] for ground in grounds)
    assert min(light) > 230
    assert max(dark) < 40


@pytest.mark.parametrize(("scheme", "other"), [("dark", "light"), ("light", "dark")])
def test_a_fixed_scheme_overrides_the_reader_s(
    scheme: str, other: str, chromium: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(html(page(*example()), scheme), encoding="utf-8")
    chromium.open(path, prefers_color_scheme=other)
    ground = chromium.run("getComputedStyle(document.body).backgroundColor")
    assert ground == {"dark": "rgb(14, 19, 28)", "light": "rgb(245, 246, 248)"}[scheme]
    assert chromium.run("getComputedStyle(document.documentElement).colorScheme") == scheme
    assert not chromium.errors()


@pytest.mark.parametrize("width", [360, 800, 1280, 1920])
def test_nothing_is_wider_than_the_window(width: int, show: Any) -> None:
    for case in ("example", "hostile"):
        tab = show(case, width=width)
        assert tab.run("document.documentElement.scrollWidth") <= width


def test_tables_keep_their_columns_on_a_phone(show: Any) -> None:
    tab = show("example", width=390)
    assert tab.run("document.querySelector('#pods-job table.pods').offsetWidth") >= 640
    assert tab.run("document.querySelector('#pods-job .wide').offsetWidth") < 390


@pytest.mark.parametrize(("width", "is_touched"), [(1280, True), (390, True), (390, False)])
def test_the_hint_on_a_phone_is_to_tap(width: int, is_touched: bool, show: Any) -> None:
    shown = "document.getElementById('why').innerText"
    try:
        show("example").call("Emulation.setTouchEmulationEnabled", enabled=is_touched)
        tab = show("example", width=width)
        assert tab.run(shown).startswith("Tap a line")
        assert "Tab" not in tab.run(shown)
    finally:
        tab.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert show("example").run(shown).startswith("Point at a line")


def test_print_is_light_and_shows_the_chosen_target(show: Any, tmp_path: Path) -> None:
    tab = show("example", prefers_color_scheme="dark")
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    tab.call("Emulation.setEmulatedMedia", media="print", features=[dark])
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.run("getComputedStyle(document.querySelector('.tabs')).display") == "none"
    assert tab.run("getComputedStyle(document.getElementById('why')).display") == "none"
    assert tab.run("document.getElementById('job-109').offsetHeight") > 0
    assert tab.run("document.getElementById('jobset').offsetHeight") == 0
    pane = "document.getElementById('job-lines')"
    assert tab.run(f"{pane}.scrollHeight") <= tab.run(f"{pane}.clientHeight")
    assert tab.pdf(tmp_path / "page.pdf")[:4] == b"%PDF"


def test_the_page_is_readable_without_its_script(show: Any, chromium: Browser) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab = show("example")
        nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    texts = " ".join(str(node.get("name", {}).get("value", "")) for node in nodes)
    for words in (
        "llama.finetune",
        "kind: JobSet",
        "kind: PyTorchJob",
        "What each pass did",
        "rendezvous",
        "on failure",
    ):
        assert words.replace("kind: ", "") in texts
    roles = [node.get("role", {}).get("value") for node in nodes]
    assert "tab" not in roles
    assert "listitem" in roles


def test_every_element_has_an_accessible_name(show: Any) -> None:
    tab = show("example")
    nodes = [
        node for node in tab.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]
    ]
    by_role: dict[str, list[str]] = {}
    for node in nodes:
        by_role.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    assert by_role["tab"] == [
        "pod (refused)",
        "job",
        "pytorchjob",
        "volcano (refused)",
        "trainjob (refused)",
        "jobset",
    ]
    assert by_role["tabpanel"] == ["job"]
    assert by_role["tablist"] == ["Targets"]
    assert by_role["listbox"] == ["Lines of spec", "Lines of the profile", "Lines of job"]
    assert len(by_role["option"]) == 32 + 18 + 111
    assert "status" in by_role
    for role in ("button", "region", "table", "tab", "image", "option"):
        assert all(by_role.get(role, [])), role
