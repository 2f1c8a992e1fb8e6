"""What MkDocs asks while it builds the site: pages that are made from the code, and guides that are not listed."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from website.pages import made_pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append guides that `nav` does not name to the section Guide, in the order of their names."""
    from website.blocks import ROOT

    assert config.nav is not None
    section: list[dict[str, str]] = next(one["Guide"] for one in config.nav if "Guide" in one)
    listed = {path for one in section for path in one.values()}
    found = [f"guide/{path.name}" for path in sorted((ROOT / "docs" / "guide").glob("*.md"))]
    section += [_titled(path) for path in found if path not in listed]
    return config


def _titled(path: str) -> dict[str, str]:
    from website.blocks import ROOT

    heading = (ROOT / "docs" / path).read_text(encoding="utf-8").partition("\n")[0]
    return {heading.removeprefix("# "): path}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code."""
    for path, text in made_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links of the repository's own documents lead to pages of the site, or to the repository."""
    from website.documents import relinked

    return relinked(markdown, page.file.src_uri)
