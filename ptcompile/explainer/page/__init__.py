"""One page that shows where every line came from: `ptcompile explain --html`.

`gathered` explains and simulates every target, `listing` finds the lines, `document` writes the HTML. page.css,
reasons.js and page.js stand beside them, and in the page; it loads nothing.
"""

from __future__ import annotations

from ptcompile.explainer.page.content import Page, gather
from ptcompile.explainer.page.html import html

__all__ = ["Page", "gather", "html"]
