"""Citations: code, tests and documents cite only existing sections of docs/facts and CONTRIBUTING.md.

A citation is a page with a section, such as docs/facts/jobset.md#pods. More sections of the page may follow
(", #fields"), and a section may be followed by numbers of its cases or rules ("#cases 71", "#jobs 179 to 193",
"#cases C7").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

NUMBER = r"[CDV]?\d{1,3}(?![\w.]*\w)"
SECTION = rf"#[a-z0-9-]+(?: {NUMBER}(?:(?:, | and | to ){NUMBER})*)?"
SECTIONS = rf"{SECTION}(?:(?:, | and ){SECTION})*"
CITED = re.compile(rf"(?P<page>docs/facts/[\w-]+\.md|CONTRIBUTING\.md)(?P<sections>{SECTIONS})?")
DANGLING = re.compile(
    r"(?<![\w/-])(?:kubeflow|volcano|flyte|torchx_and_peers|python_libraries|lint_peers_and_style|sheet)\.md"
    r"|\bDESIGN\b|(?<!#)\b[Ll]aws? \d|\brules? \d+ to \d+"
)
"""Former citations of documents outside the repository."""
FOLDERS = (
    "ptcompile",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "fuzz",
    "integrations",
    "website",
    ".ci",
    ".github",
)
ENDINGS = {".py", ".md", ".toml", ".yml", ".yaml", ".sh", ""}
OUT_OF_SCOPE = ("tests/recorded/", "tests/docs/test_citations.py")


class Citation(NamedTuple):
    page: str
    anchor: str
    numbers: tuple[str, ...]


def citations(text: str) -> Iterator[Citation]:
    """Yield the citations in a text; a page without a section has an empty anchor."""
    for match in CITED.finditer(re.sub(r"\n[ \t]*(?:# )?", " ", text)):
        sections = re.findall(SECTION, match["sections"] or "")
        if not sections:
            yield Citation(match["page"], "", ())
        for section in sections:
            anchor, _, numbers = section.partition(" ")
            yield Citation(match["page"], anchor[1:], tuple(re.findall(r"[CDV]?\d+", numbers)))


def headings(page: str) -> list[str]:
    """Return the heading and the body of each section of a page, alternating."""
    text = re.sub(r"(?ms)^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"))
    return re.split(r"(?m)^#+ (.+)$", text)[1:]


def slug(heading: str) -> str:
    """Return a heading's anchor, which is the same for GitHub and MkDocs."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def bodies(page: str) -> dict[str, str]:
    """Return the text below each heading of a page, by anchor."""
    parts = headings(page)
    return {slug(heading): body for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def numbered(body: str) -> set[str]:
    """Return the numbers of a section's cases, rules and list items, with all numbers of a range."""
    found = set()
    for first, last in re.findall(
        r"(?m)^(?:- Case |\| |)([CDV]?\d+)[ab]?(?:\W[CDV]?(\d+))?(?=[:.]? )", body
    ):
        digits = first.lstrip("CDV")
        letter = first.removesuffix(digits)
        found |= {f"{letter}{number}" for number in range(int(digits), int(last or digits) + 1)}
    return found


def problems(text: str) -> Iterator[str]:
    for page, anchor, numbers in citations(text):
        if not (ROOT / page).is_file():
            yield f"{page}: no such page"
        elif anchor and anchor not in bodies(page):
            yield f"{page}#{anchor}: no such section"
        elif anchor:
            missing = set(numbers) - numbered(bodies(page)[anchor])
            yield from (f"{page}#{anchor}: no number {number}" for number in sorted(missing))


@cache
def sources() -> dict[str, str]:
    """Return the text of every file that may contain citations, by path."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")] + list(
        ROOT.glob("*.md")
    )
    named = {
        path.relative_to(ROOT).as_posix(): path for path in sorted(paths) if path.suffix in ENDINGS
    }
    return {
        name: path.read_text(encoding="utf-8", errors="replace")
        for name, path in named.items()
        if not name.startswith(OUT_OF_SCOPE) and "__pycache__" not in name and path.is_file()
    }


def test_every_citation_names_an_existing_section() -> None:
    wrong = [f"{name}: {problem}" for name, text in sources().items() for problem in problems(text)]
    assert not wrong, "\n".join(wrong)
    assert (
        sum(1 for text in sources().values() for citation in citations(text) if citation.anchor)
        > 250
    )


def test_only_documents_of_the_repository_are_cited() -> None:
    wrong = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in sources().items()
        if not name.startswith("docs/facts/") and name != "CHANGELOG.md"
        for match in DANGLING.finditer(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "page", sorted(path.name for path in (ROOT / "docs" / "facts").glob("*.md"))
)
def test_anchors_are_the_same_on_github_and_on_the_site(page: str) -> None:
    """GitHub and MkDocs number repeated headings differently and treat dashes differently."""
    anchors = [slug(heading) for heading in headings(f"docs/facts/{page}")[::2]]
    assert len(anchors) == len(set(anchors))
    assert not [anchor for anchor in anchors if "--" in anchor or anchor.strip("-") != anchor]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("docs/facts/jobset.md#pods", []),
        ("(docs/facts/jobset.md#pods, #fields and #cases 71)", []),
        (
            "docs/facts/jobset.md#pods,\n    #fieldz",
            ["docs/facts/jobset.md#fieldz: no such section"],
        ),
        ("docs/facts/nothing.md", ["docs/facts/nothing.md: no such page"]),
        ("docs/facts/jobset.md#cases 7", ["docs/facts/jobset.md#cases: no number 7"]),
        ("docs/facts/api-server.md#jobs 179 to 193", []),
        (
            "docs/facts/api-server.md#jobs 164 to 213",
            ["docs/facts/api-server.md#jobs: no number 213"],
        ),
        ("docs/facts/volcano.md#cases C7, C84", ["docs/facts/volcano.md#cases: no number C84"]),
        ("docs/facts/flyte.md#defects 1.", []),
        ("CONTRIBUTING.md#laws 23", ["CONTRIBUTING.md#laws: no number 23"]),
    ],
)
def test_a_broken_citation_is_detected(text: str, wanted: list[str]) -> None:
    assert list(problems(text)) == wanted


@pytest.mark.parametrize(
    "text", ["kubeflow.md 3.3", "(flyte.md 6.4)", "DESIGN section 4", "law 7", "rules 47 to 63"]
)
def test_a_citation_of_a_missing_document_is_detected(text: str) -> None:
    assert DANGLING.search(text)
    assert not DANGLING.search("docs/facts/volcano.md#gangs; docs/guide/flyte.md; test_law_5")
