"""Hooks that MkDocs calls while it builds the site: generated pages, links, what search finds, and llms.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from website import llms
from website.pages import made_pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated from the code."""
    for path, text in made_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Redirect links of the repository's documents, link the codes of findings to their pages, and hide the home page's
    sidebars, which would list only that page.
    """
    from website.documents import link_codes, relinked

    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    return link_codes(relinked(markdown, page.file.src_uri), page.file.src_uri)


def on_post_build(config: MkDocsConfig) -> None:
    """Decide what search finds first, and write llms.txt."""
    from website.search import rank

    rank(config.site_dir)
    made = made_pages()
    docs = Path(config.docs_dir)

    def page(path: str) -> str:
        return made[path] if path in made else (docs / path).read_text(encoding="utf-8")

    text = llms.text(
        config.site_name,
        config.site_description or "",
        config.site_url or "",
        config.nav or [],
        page,
    )
    (Path(config.site_dir) / "llms.txt").write_text(text, encoding="utf-8")
