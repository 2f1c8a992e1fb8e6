"""The built site: every code has a page, every link resolves, and nothing is loaded from other sites.

Skipped without mkdocs-material.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml

from ptcompile._internal.about import SITE, page_address
from ptcompile.diagnostics.codes import CODES
from tests.conftest import ROOT
from website.documents import link_codes

pytest.importorskip("material", reason="mkdocs-material is not installed")


class Page(HTMLParser):
    """The links, anchors and loaded resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe") and "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Return every page by its address within the site."""
    return {
        _address(site, path): Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


def _address(site: Path, path: Path) -> str:
    return path.relative_to(site).as_posix().removesuffix("index.html")


def _leads(pages: dict[str, Page], site: Path, address: str, link: str) -> bool:
    to = urlsplit(urljoin(SITE + address, link))
    below = f"{to.scheme}://{to.netloc}{to.path}"
    if not below.startswith(SITE):
        return to.scheme == "https"
    path = unquote(below.removeprefix(SITE))
    if path in pages:
        return not to.fragment or unquote(to.fragment) in pages[path].ids
    return (site / path).is_file()


def test_the_site_address_is_the_same_everywhere() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert urls["Documentation"] == SITE
    assert urls["Changelog"].startswith(SITE)
    assert yaml.safe_load(text)["site_url"] == SITE


def test_every_code_has_its_page(site: Path, pages: dict[str, Page]) -> None:
    for name, code in CODES.items():
        address = page_address(code).removeprefix(SITE)
        assert address in pages
        text = (site / address / "index.html").read_text(encoding="utf-8")
        assert f"{code} {name}" in text
        assert f"ptcompile explain {code}" in text
        assert "../" in pages[address].links, "to the index"


def test_pages_of_codes_lead_to_their_neighbors(pages: dict[str, Page]) -> None:
    first, second, *_ = sorted(CODES.values())
    assert f"../{second}/" in pages[f"codes/{first}/"].links
    assert f"../{first}/" in pages[f"codes/{second}/"].links
    assert {"../PTC301/", "../PTC303/"} <= set(pages["codes/PTC302/"].links)


def test_every_link_resolves(site: Path, pages: dict[str, Page]) -> None:
    wrong = [
        (address, link)
        for address, page in pages.items()
        if address != "404.html"
        for link in page.links
        if not _leads(pages, site, address, link)
    ]
    assert wrong == []
    assert not _leads(pages, site, "guide/lint/", "../nowhere/")
    assert not _leads(pages, site, "guide/lint/", "#nowhere")
    assert _leads(pages, site, "guide/lint/", "../ci/#pre-commit")


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    loaded = {
        urljoin(SITE + address, one) for address, page in pages.items() for one in page.loaded
    }
    assert [one for one in sorted(loaded) if not one.startswith((SITE, "data:"))] == []
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert sheets
    assert not any("url(http" in sheet or "@import" in sheet for sheet in sheets)


def test_angle_brackets_are_text(site: Path) -> None:
    text = (site / "codes" / "PTC404" / "index.html").read_text(encoding="utf-8")
    assert "&lt;pod&gt;.&lt;subdomain&gt;" in text
    pages = [
        path.read_text(encoding="utf-8")
        for path in (*site.rglob("codes/**/*.html"), *site.rglob("reference/**/*.html"))
    ]
    assert not any(re.search(r"\\<(?!/span>)", page) for page in pages), (
        "an example may end in a backslash"
    )


def test_codes_in_prose_lead_to_their_pages(pages: dict[str, Page]) -> None:
    assert "../../codes/PTC198/" in pages["guide/machines/"].links
    assert "../codes/PTC302/" not in pages["codes/"].links
    text = "# PTC302\n\nPTC302, `PTC302`, [PTC302](x.md) and PTC000\n\n```\nPTC302\n```\n<!-- PTC302 -->\n"
    assert link_codes(text, "guide/x.md") == text.replace(
        "\nPTC302,", "\n[PTC302](../codes/PTC302.md),"
    )
    assert link_codes(text, "codes/PTC302.md") == text


def test_pages_lead_to_the_repository_and_to_their_neighbors(site: Path) -> None:
    text = (site / "guide" / "spec" / "index.html").read_text(encoding="utf-8")
    assert text.count('class="md-source"') == 2  # in the header and, on phones, in the drawer
    assert 'data-md-component="source"' not in text, "the theme's script would ask GitHub for stars"
    assert "md-footer__link--prev" in text
    assert "md-footer__link--next" in text


def _searched(site: Path) -> Iterator[str]:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    return (document["location"] for document in index["docs"])


def test_search_knows_guides_fields_and_codes(site: Path) -> None:
    places = set(_searched(site))
    assert {
        "guide/first-job/",
        "codes/PTC302/",
        "reference/spec/#jobspec",
        "reference/cli/#ptcompile-lint",
    } <= places


def test_the_reference_is_complete(site: Path) -> None:
    import ptcompile
    from ptcompile.api.reference import targets
    from ptcompile.cli.commands import COMMANDS
    from ptcompile.spec.cluster_profile import ProfileSpec
    from ptcompile.spec.training_job import JobSpec

    def text(name: str) -> str:
        return (site / "reference" / name / "index.html").read_text(encoding="utf-8")

    for name, model in (("spec", JobSpec), ("cluster", ProfileSpec)):
        fields = [field.alias or key for key, field in model.model_fields.items()]
        assert [field for field in fields if f"<code>{field}</code>" not in text(name)] == []
    assert [command for command in COMMANDS if f'id="ptcompile-{command}"' not in text("cli")] == []
    python = text("python")
    names = [name for name in ptcompile.__all__ if not name.startswith("_")]
    assert [
        name
        for name in names
        if f'id="ptcompile.{name}"' not in python and f"<code>{name}</code>" not in python
    ] == []
    assert [
        one for one in ("report", "world", "diff", "handle") if f'id="{one}"' not in text("json")
    ] == []
    assert [row.name for row in targets().capabilities if row.name not in text("targets")] == []
