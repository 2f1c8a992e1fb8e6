"""Selectors of findings: parsing, suggestions, and the findings that they select."""

from __future__ import annotations

import re

import pytest

from ptcompile.diagnostics.codes import CODES
from ptcompile.diagnostics.selection import NO_CODES, selected_names, selection, severities


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("PTC302", {"missing-shm"}),
        ("missing-shm", {"missing-shm"}),
        (
            "PTC90",
            {
                "unused-ignore",
                "bad-ignore",
                "extension-failed",
                "expired-ignore",
                "stale-baseline",
                "expired-baseline",
                "nothing-checked",
            },
        ),
        (" PTC901 ", {"unused-ignore"}),
        ("ALL", set(CODES)),
    ],
)
def test_a_selector_is_a_code_a_prefix_a_name_or_all(selector: str, names: set[str]) -> None:
    assert selected_names([selector]) == names


@pytest.mark.parametrize("selector", ["", "PTC999", "PT", "missing", "ptc302", "PTC30 2", "*"])
def test_a_selector_that_selects_nothing_is_rejected(selector: str) -> None:
    with pytest.raises(ValueError, match="no rule"):
        selected_names(["PTC302", selector])


def test_a_similar_name_is_suggested() -> None:
    with pytest.raises(ValueError, match="did you mean missing-shm"):
        selected_names(["missing-smh"])


def test_rejections_are_included_unless_ignored() -> None:
    chosen = selection(["PTC302"], ["PTC501"])
    assert chosen.includes("missing-shm", "run")
    assert not chosen.includes("unused-ignore", "style")
    assert chosen.includes("required-value", "apply")
    assert chosen.includes("required-value", "pod")
    assert not chosen.includes("unknown-field", "apply")


def test_the_most_specific_selector_decides_the_severity() -> None:
    table = {
        "latest-image": "error",
        "PTC8": "note",
        "ALL": "warning",
        "PTC80": "error",
        "PTC301": "note",
    }
    shown = severities(table)
    assert shown["latest-image"] == "error"
    assert shown["unused-ignore"] == "warning"
    assert {shown[name] for name in selected_names(["PTC80"])} == {"error"}
    assert {shown[name] for name in selected_names(["PTC82"])} == {"note"}
    assert severities({**table, "PTC801": "note"})["latest-image"] == "error", (
        "a name is more specific than a code"
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"PTC801": "fatal"},
            "PTC801: 'fatal' is not a severity; it must be error, warning or note",
        ),
        ({"latest-imag": "note"}, "no rule 'latest-imag'; did you mean latest-image?"),
    ],
)
def test_a_wrong_severity_is_an_error(table: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        severities(table)


def test_everything_is_selected_by_default() -> None:
    assert selection() is selection(None, []) is selection(None, (), NO_CODES, {})
    assert selection().codes is NO_CODES


def test_rules_of_plugins_are_selected_by_their_names_and_codes() -> None:
    codes = {"needs-team": "ACME001"}
    assert selection(codes=codes).codes is codes
    assert selection(["ACME"], codes=codes).select == frozenset({"needs-team"})
    assert selection(ignore=["needs-team"], codes=codes).ignore == {"needs-team"}
    assert selection(severity={"needs-team": "note"}, codes=codes).severities == {
        "needs-team": "note"
    }
    with pytest.raises(ValueError, match="no rule"):
        selection(["ACME"])
