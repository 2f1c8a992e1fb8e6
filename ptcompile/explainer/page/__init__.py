"""One page that shows where every line came from: `ptcompile explain --html`.

`content` explains and simulates every target and finds the lines, `html` writes the page. page.css, reasons.js and
page.js stand beside them, and in the page; it loads nothing.
"""

from __future__ import annotations

from ptcompile.explainer.page.content import ExplainPage, gather
from ptcompile.explainer.page.html import html

__all__ = ["ExplainPage", "gather", "html"]
