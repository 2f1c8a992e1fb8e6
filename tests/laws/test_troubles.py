"""The examples of docs/maintaining/troubles.md: each text of the corpus has the finding that the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.laws.findings import lines_of
from tests.laws.texts import every_text

PAGE = Path(__file__).parents[2] / "docs" / "maintaining" / "troubles.md"
EXAMPLE = re.compile(r"(PTC\d{3})((?:,? (?:blind|report|rule)/[a-z0-9-]+)+)")
"""A code and the texts that show it."""


def examples() -> list[tuple[str, str]]:
    """Return the codes with the texts that the page names for each."""
    return [
        (match[1], name + "/bad" if name.startswith("rule/") else name)
        for match in EXAMPLE.finditer(PAGE.read_text(encoding="utf-8"))
        for name in match[2].replace(",", " ").split()
    ]


@pytest.mark.parametrize(("code", "name"), examples())
def test_an_example_shows_its_code(code: str, name: str) -> None:
    text = next(text for text in every_text() if text.id == name)
    assert any(f" {code} " in line for line in lines_of(text))


def test_every_row_names_a_code_or_a_sentence() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    kinds = [row for row in rows if not row.startswith("| kind")]
    assert len(kinds) > 80
    assert all("PTC" in row or "| simulate |" in row for row in kinds)
