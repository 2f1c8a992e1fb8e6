"""Selectors of findings: parsing, suggestions, and the findings that they select."""

from __future__ import annotations

import pytest

from ptcompile.diagnostics.codes import CODES
from ptcompile.diagnostics.selection import selected_names, selection


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("PTC302", {"missing-shm"}),
        ("missing-shm", {"missing-shm"}),
        ("PTC90", {"unused-ignore", "bad-ignore", "extension-failed"}),
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
