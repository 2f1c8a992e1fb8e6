"""Links of the documents lead to files of a clone; the site leads those to sources of generated pages to the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from website.documents import relinked
from website.pages import made_pages

PAGES = [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


def links(path: Path) -> list[str]:
    """Return the relative links of a page, without those in blocks of code."""
    prose = re.sub(
        r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return LINK.findall(re.sub(r"`[^`\n]*`", "", prose))


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_links_work_in_a_clone(path: Path) -> None:
    assert [link for link in links(path) if not (path.parent / link).exists()] == []


def test_the_site_has_the_page_of_each_source() -> None:
    text = "[a](../../schemas/spec.schema.json) [b](../../schemas/README.md#x) [c](../../LICENSE)"
    shown = LINK.findall(relinked(text, "guide/spec.md"))
    assert shown == ["../reference/spec.md", "../reference/json.md"]
    assert {link.removeprefix("../") for link in shown} <= made_pages().keys()
