"""llms.txt: the pages of the site with a sentence each, for language models. https://llmstxt.org/ has the form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

_OPTIONAL: Final = frozenset({"Facts", "Project"})
"""Parts of the site that a reader with little room leaves out."""


def text(
    title: str, summary: str, site: str, nav: Sequence[Any], page: Callable[[str], str]
) -> str:
    """Return the file. `page` returns the Markdown of a page by its path."""
    sections: dict[str, list[str]] = {}
    for name, label, path in _pages(nav, "", ""):
        section = "Optional" if name in _OPTIONAL else name or "Start"
        address = site + f"{path.removesuffix('.md')}/".removesuffix("index/")
        sentence = _first_sentence(page(path))
        sections.setdefault(section, []).append(
            f"- [{label}]({address})" + (f": {sentence}" if sentence else "")
        )
    order = sorted(sections, key=lambda section: section == "Optional")
    return (
        "\n\n".join(
            [
                f"# {title}",
                f"> {summary}",
                *(f"## {section}\n\n" + "\n".join(sections[section]) for section in order),
            ]
        )
        + "\n"
    )


def _pages(nav: Sequence[Any], section: str, label: str) -> Iterator[tuple[str, str, str]]:
    """Yield the part of the site, the title and the path of each page; a page without a title has that of its part."""
    for item in nav:
        if isinstance(item, str):
            yield section, label, item
            continue
        for name, inner in item.items():
            if isinstance(inner, str):
                yield section, name, inner
            else:
                yield from _pages(inner, section or name, name)


def _first_sentence(markdown: str) -> str:
    """Return the first sentence of the first paragraph of a page, without links, or ""."""
    body = re.sub(
        r"^---\n.*?^---\n|<!--.*?-->|^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE
    )
    paragraphs = (part.strip() for part in body.split("\n\n"))
    first = next((part for part in paragraphs if part[:1].isalpha() or part[:1] in "`["), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split()))
    sentence = re.match(r".*?\.(?= |$)", plain)
    return (sentence[0] if sentence else plain).rstrip(":")
