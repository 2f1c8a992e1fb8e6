"""The page in a real browser: content, pointing, keyboard and preferences.

Uses Debian's Chromium (`apt-get install chromium`); skipped if it is not installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.explainer.page.browser import CHROMIUM, Browser
from tests.explainer.page.conftest import CASES
from tests.explainer.page.making import example, page
from tests.explainer.page.reference import kin

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")

LIT = """Object.fromEntries(["value", "there", "said"].map((strength) =>
  [strength, [...document.querySelectorAll(`.lit.${strength}`)].map((li) => li.id)]))"""


def lit(tab: Browser) -> set[str]:
    return {one for ids in tab.run(LIT).values() for one in ids}


def why(tab: Browser) -> str:
    reason: str = tab.run("document.querySelector('[role=status][aria-live=polite]').textContent")
    return reason


@pytest.mark.parametrize("case", ["example", "six", "parameter-server"])
def test_pointing_at_a_spec_line_highlights_its_manifest_lines(case: str, show: Any) -> None:
    tab, target = show(case), page(*CASES[case]).chosen
    down, _ = kin(*CASES[case], target)
    for line in list(down)[::3]:
        tab.hover(f"#{line} code")
        assert lit(tab) == down[line], line
        assert tab.run("[...document.querySelectorAll('.here')].map((li) => li.id)") == [line]


@pytest.mark.parametrize("case", ["example", "six", "parameter-server"])
def test_pointing_at_a_manifest_line_highlights_its_input_lines(case: str, show: Any) -> None:
    tab, target = show(case), page(*CASES[case]).chosen
    _, up = kin(*CASES[case], target)
    for line in list(up)[::9]:
        tab.hover(f"#{line} code")
        assert lit(tab) == up[line], line


def test_value_lines_are_distinguished_from_existence_lines(show: Any) -> None:
    tab = show("example")
    tab.hover("#spec-14 code")  # the line of `resources`
    lit_lines = tab.run(LIT)
    texts = [
        tab.run(f"document.querySelector('#{line} code').textContent.trim()")
        for line in lit_lines["value"]
    ]
    assert 'nvidia.com/gpu: "8"' in texts
    assert "- key: nvidia.com/gpu" in [
        tab.run(f"document.querySelector('#{line} code').textContent.trim()")
        for line in lit_lines["there"]
    ]


def test_highlighted_lines_are_scrolled_into_view(show: Any) -> None:
    tab = show("example", height=700)
    tab.run("document.getElementById('job-lines').scrollTop = 0")
    tab.hover("#spec-14 code")
    seen = tab.run(
        "(() => { const pane = document.getElementById('job-lines').getBoundingClientRect();"
        " return [...document.querySelectorAll('.lit.value')].some((li) => { const r = li.getBoundingClientRect();"
        " return r.top >= pane.top - 1 && r.bottom <= pane.bottom + 1; }); })()"
    )
    assert seen


def test_highlights_end_when_the_pointer_leaves(show: Any) -> None:
    tab = show("example")
    idle = why(tab)
    tab.hover("#spec-14 code")
    assert lit(tab)
    assert why(tab) != idle
    tab.hover("h1")
    assert not lit(tab)
    assert why(tab) == idle


def test_the_live_region_names_pass_rule_and_lines(show: Any) -> None:
    tab = show("example")
    listing = next(one for one in page(*example()).listings if one.target == "job")
    reason = next(one for one in listing.reasons if one.by == "rendezvous" and one.origins)
    tab.hover(f"#job-{reason.first} code")
    said = why(tab)
    assert f"Line {reason.first} of job written by the pass rendezvous. {reason.rule}" in said
    assert "spec.yaml line" in said
    tab.hover("#spec-14 code")
    assert why(tab).startswith("spec.yaml line 14. Its value is in lines ")
    assert "By the passes resources, placement, tolerations." in why(tab)
    tab.hover("#spec-1 code")
    assert "No value of job depends on it." in why(tab)


def test_the_keyboard_works_like_the_pointer(show: Any) -> None:
    tab = show("example")
    stops = []
    for _ in range(3):
        tab.press("Tab")
        stops.append(tab.run("document.activeElement.id"))
    assert stops == ["spec-1", "cluster-1", "tab-job"]
    tab.run("document.getElementById('spec-1').focus()")
    tab.press(*["ArrowDown"] * 13)
    assert tab.run("document.activeElement.id") == "spec-14"
    assert tab.run("document.getElementById('spec-14').getAttribute('aria-selected')") == "true"
    by_keys, reason = lit(tab), why(tab)
    tab.press("ArrowRight")
    assert tab.run("document.activeElement.id") in by_keys
    assert "spec-14" in lit(tab)
    tab.press("ArrowLeft")
    assert tab.run("document.activeElement.id").startswith(("spec-", "cluster-"))
    tab.press("End")
    tab.press("ArrowDown")
    tab.press("Home")
    assert tab.run("document.activeElement.id").endswith("-1")
    tab.press("Escape")
    assert not lit(tab)
    assert tab.run("document.activeElement === document.body")
    tab.hover("#spec-14 code")
    assert (lit(tab), why(tab)) == (by_keys, reason)


def test_a_click_holds_a_line_until_escape(show: Any) -> None:
    tab = show("six")
    tab.click("#spec-9 code")
    held = lit(tab)
    tab.hover("#spec-5 code")
    assert lit(tab) == held
    tab.press("Escape")
    tab.hover("#spec-5 code")
    assert lit(tab) != held


def test_a_pass_highlights_its_lines(show: Any) -> None:
    tab = show("example")
    listing = next(one for one in page(*example()).listings if one.target == "job")
    tab.hover("#job .legend button:nth-child(3)")
    wanted = {f"job-{reason.first}" for reason in listing.reasons if reason.by == "resources"}
    assert lit(tab) == wanted
    assert why(tab).startswith("Written by the pass resources line")


def test_tabs_show_one_target_its_pods_and_its_findings(show: Any) -> None:
    tab = show("example")
    visible = "[...document.querySelectorAll('[data-target]')].filter((e) => e.offsetHeight).map((e) => e.id)"
    notes = (
        "[...document.querySelectorAll('#spec-lines .note')].filter((e) => e.offsetHeight).length"
    )
    assert tab.run(visible) == ["job", "pods-job"]
    assert tab.run(notes) == 0
    tab.click("#tab-volcano")
    assert tab.run(visible) == ["volcano"]
    assert tab.run(notes) == 1
    assert "cannot express this job" in tab.run("document.getElementById('volcano').innerText")
    tab.press("ArrowLeft", "ArrowLeft")
    assert tab.run("document.activeElement.id") == "tab-job"
    assert tab.run(
        "[...document.querySelectorAll('[role=tab][aria-selected=true]')].map((e) => e.id)"
    ) == ["tab-job"]
    tab.press("End")
    assert tab.run(visible) == ["jobset", "pods-jobset"]
    down, _ = kin(*CASES["example"], "jobset")
    tab.hover("#spec-14 code")
    assert lit(tab) == down["spec-14"]


def test_the_chosen_tab_stays_when_the_page_is_loaded_again(show: Any) -> None:
    chosen = "document.querySelector('.tabs [aria-selected=\"true\"]')?.id"
    tab = show("six")
    assert tab.run(chosen) == "tab-pod"
    tab.click("#tab-volcano")
    tab.reload()
    assert tab.run(chosen) == "tab-volcano"


def test_file_content_is_shown_but_never_executed(show: Any) -> None:
    tab = show("hostile")
    for line in range(5, 18):
        tab.hover(f"#spec-{line} code")
    for target in page(*CASES["hostile"]).targets:
        tab.click(f"#tab-{target}")
    assert tab.run("window.hacked === undefined")
    shown = tab.run("document.getElementById('job-lines').textContent")
    assert "</script><script>window.hacked=3</script><img src=x onerror=window.hacked=4>" in shown
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert tab.errors() == []


@pytest.mark.parametrize("case", CASES)
def test_a_page_has_no_errors_and_makes_no_requests(
    case: str, show: Any, files: dict[str, Path]
) -> None:
    tab = show(case)
    tab.hover("#spec-5 code")
    tab.press("Tab", "ArrowDown", "ArrowRight", "Escape")
    for target in page(*CASES[case]).targets:
        tab.click(f"#tab-{target}")
    assert tab.errors() == []
    assert tab.asked_for() == [files[case].resolve().as_uri()]
