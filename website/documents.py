"""The repository's own documents as pages of the site, with links that lead somewhere on both."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from ptcompile.diagnostics.codes import CODES
from website.blocks import ROOT

REPOSITORY: Final = "https://github.com/ptcompile/ptcompile/blob/main/"
_PAGES: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
_MADE: Final = {
    "ptcompile/__init__.py": "reference/python.md",
    "ptcompile/cli/commands/__init__.py": "reference/cli.md",
    "ptcompile/diagnostics/codes.json": "codes/index.md",
    "ptcompile/hardware/machines.json": "reference/machines.md",
    "schemas/README.md": "reference/json.md",
    "schemas/cluster.schema.json": "reference/cluster.md",
    "schemas/spec.schema.json": "reference/spec.md",
    "schemas/targets.json": "reference/targets.md",
}
"""The pages that are generated, by what a clone has instead of them."""
_LINK: Final = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def pages() -> dict[str, str]:
    """Each document under the path of its page."""
    return {page: (ROOT / name).read_text(encoding="utf-8") for name, page in _PAGES.items()}


def relinked(markdown: str, page: str) -> str:
    """The text of a page; its links to files of the repository lead to their page, or to the repository."""
    name = next((one for one, path in _PAGES.items() if path == page), f"docs/{page}")
    return _LINK.sub(lambda found: _target(found[1], name, page), markdown)


def _target(link: str, name: str, page: str) -> str:
    """Where a link of the document `name`, shown as `page`, leads on the site."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), link))
    path, mark, place = path.partition("#")
    found = (_PAGES | _MADE).get(path) or (
        path.removeprefix("docs/") if path.startswith("docs/") else None
    )
    if found is None:
        return REPOSITORY + path + mark + place
    return posixpath.relpath(found, posixpath.dirname(page) or ".") + mark + place


_CODE: Final = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)|^#.*?$|<!--.*?-->|`[^`\n]*`|\[[^\]]*\]\([^)]*\)|\b(?P<code>PTC\d{3})\b",
    re.MULTILINE | re.DOTALL,
)
"""A code of a finding. The other alternatives consume text in which a code is not linked."""


def link_codes(markdown: str, page: str) -> str:
    """Link the codes in a page's prose to their pages; the pages of codes and the index are left unchanged."""
    if page.startswith("codes/"):
        return markdown
    folder = posixpath.relpath("codes", posixpath.dirname(page) or ".")
    known = set(CODES.values())
    return _CODE.sub(
        lambda m: f"[{m[0]}]({folder}/{m[0]}.md)" if m["code"] in known else m[0], markdown
    )
