"""The site in a real browser: no page overflows on a phone or a desktop, and dark mode and search work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.conftest import thinned
from tests.explainer.page.browser import CHROMIUM, Browser

pytest.importorskip("material", reason="mkdocs-material is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")

WIDTHS = (400, 1280)
GENERATED = {"codes/": 10, "messages/": 1}
"""Folders of pages that are made of tables, and of how many pages one is looked at. They have nothing of Material's
scripts but a button beside code.
"""


def resize(tab: Browser, width: int) -> None:
    tab.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )


def visit(tab: Browser, address: str, width: int, scheme: str = "light") -> None:
    resize(tab, width)
    tab.call(
        "Emulation.setEmulatedMedia",
        media="",
        features=[{"name": "prefers-color-scheme", "value": scheme}],
    )
    tab.load(address)


def addresses(site: Path) -> list[str]:
    return sorted(
        path.relative_to(site).as_posix().removesuffix("index.html")
        for path in site.rglob("index.html")
    )


@pytest.fixture
def without_search(tab: Browser) -> Iterator[None]:
    """Leave out the index of the search, which the browser makes anew on each page."""
    tab.call("Network.enable")
    tab.call("Network.setBlockedURLs", urls=["*search_index.json"])
    yield
    tab.call("Network.setBlockedURLs", urls=[])


OVERFLOWING = (
    "[document.documentElement.scrollWidth - document.documentElement.clientWidth, ...[...document"
    ".querySelectorAll('.md-content *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1"
    " && !e.closest('pre, .md-typeset__scrollwrap, .md-typeset__table, .highlight')).map((e) => e.outerHTML"
    ".slice(0, 80))]"
)
"""By how much the page is too wide, and the elements that are."""


Overflow = tuple[str, int, int, list[str]]
"""Address, width of the window, by how much the page is too wide, and elements that are."""


def overflows(tab: Browser, pages: Iterable[str]) -> Iterator[Overflow]:
    """Yield what is too wide on the pages that the tab opens while this asks for the next one, by their addresses."""
    for address in pages:
        for width in WIDTHS:
            resize(tab, width)
            excess, *elements = tab.run(OVERFLOWING)
            if excess > 0 or elements:
                yield address, width, excess, elements[:2]


def visited(tab: Browser, served: str, addresses: Iterable[str]) -> Iterator[str]:
    for address in addresses:
        visit(tab, served + address, WIDTHS[0])
        yield address


def followed(tab: Browser, served: str, addresses: Iterable[str]) -> Iterator[str]:
    """Show each page in the place of the one before, as a link does on this site (navigation.instant): an eighth of the
    time of a visit.
    """
    for address in addresses:
        tab.run(
            f"fetch({served + address!r}).then((answer) => answer.text()).then((text) => {{"
            " const page = new DOMParser().parseFromString(text, 'text/html');"
            f" for (const part of {REPLACED})"
            " document.querySelector(part).replaceWith(page.querySelector(part)); })"
        )
        yield address


REPLACED = ["[data-md-component=header-topic]", "[data-md-component=container]"]
"""What differs from page to page."""


@pytest.mark.usefixtures("without_search")
def test_no_page_overflows(site: Path, served: str, tab: Browser) -> None:
    written = [page for page in addresses(site) if not page.startswith((*GENERATED,))]
    assert [*overflows(tab, visited(tab, served, written))] == []


@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize("folder", GENERATED)
def test_no_generated_page_overflows(site: Path, served: str, tab: Browser, folder: str) -> None:
    every = [page for page in addresses(site) if page.startswith(folder)]
    assert len(every) > 200
    first, *others = thinned(every, GENERATED[folder])
    assert [*overflows(tab, visited(tab, served, [first]))] == []
    assert [*overflows(tab, followed(tab, served, others))] == []


def widened(tab: Browser, pages: Iterable[str]) -> Iterator[str]:
    for page in pages:
        tab.run("document.querySelector('.md-content p').style.width = '2000px'")
        yield page


def test_an_overflow_is_detected(served: str, tab: Browser) -> None:
    """On a page that is loaded, and on one that is shown in its place."""
    for pages in (visited(tab, served, [""]), followed(tab, served, ["codes/PTC302/"])):
        for _, _, excess, elements in (found := [*overflows(tab, widened(tab, pages))]):
            assert excess > 0
            assert elements
        assert [width for _, width, _, _ in found] == [*WIDTHS]


def test_dark_mode_follows_the_reader_s_preference(served: str, tab: Browser) -> None:
    shades = []
    for scheme in ("light", "dark"):
        visit(tab, served, 1280, scheme)
        shades.append(tab.run("getComputedStyle(document.body).backgroundColor"))
    assert shades[0] != shades[1]
    assert sum(int(part) for part in shades[1].strip("rgba()").split(",")[:3]) < 200


LINKS = (
    "[...document.querySelectorAll('a.md-search-result__link')].map((a) => a.getAttribute('href'))"
)
"""The addresses of the results on the page, as the browser's language has them."""


def search(tab: Browser, query: str) -> list[str]:
    """Return the addresses of the results that the page's own search shows, the best first. The results of the query
    before are gone first.
    """
    tab.run(
        "new Promise((done) => { const field = document.querySelector('input.md-search__input');"
        " const enter = (text) => { field.focus(); field.value = text;"
        " field.dispatchEvent(new Event('keyup', {bubbles: true}));"
        " field.dispatchEvent(new Event('input', {bubbles: true})); };"
        f" const links = () => {LINKS}; const until = Date.now() + 20000; enter('');"
        f" const look = () => {{ if (!links().length || Date.now() > until) {{ enter({query!r}); done(); }}"
        " else setTimeout(look, 20); }; look(); })"
    )
    links: list[str] = tab.run(
        f"new Promise((done) => {{ const until = Date.now() + 20000; const look = () => {{ const links = {LINKS};"
        " if (links.length || Date.now() > until) done(links); else setTimeout(look, 50); }; look(); })"
    )
    return [re.sub(r"\?h=[^#]*", "", link) for link in links]


FIRST_RESULTS = {
    "missing-shm": "codes/PTC302/",
    "PTC302": "codes/PTC302/",
    "unknown-field": "codes/PTC501/",
    "nprocPerNode": "reference/spec/#elastic-nprocpernode",
    "resources.gpu": "reference/spec/#resources-gpu",
    "spec.runPolicy.backoffLimit": "reference/spec/#runpolicy-backofflimit",
    "nodePools": "reference/cluster/#profilespec-nodepools",
    "deepspeed": "guide/launchers/",
    "lint": "guide/lint/",
    "ignore": "guide/lint/#ignore-findings",
    "init containers": "guide/spec/#init-containers",
    "storage": "guide/storage/",
}
"""Pages that a query finds first; a section is among the first two results."""


def test_search_finds_the_right_page_first(served: str, tab: Browser) -> None:
    """The browser makes the index of the site once for all queries: it takes a minute of its time."""
    visit(tab, served, 1280)
    tab.run("document.querySelector('[data-md-toggle=search]').click()")
    wrong = {}
    for query, address in FIRST_RESULTS.items():
        results = [link.removeprefix(served) for link in search(tab, query)][:2]
        page, _, anchor = address.partition("#")
        is_first = bool(results) and results[0].partition("#")[0] == page
        if not is_first or (anchor and address not in results):
            wrong[query] = results
    assert wrong == {}


def test_pages_load_only_from_the_site(served: str, tab: Browser) -> None:
    visit(tab, served + "guide/first-job/", 1280)
    assert [url for url in tab.asked_for() if not url.startswith((served, "blob:"))] == []
