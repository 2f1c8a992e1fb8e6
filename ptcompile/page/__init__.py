"""One page that shows where every line came from: `ptcompile explain --html`.

`gathered` explains and simulates every target, `listing` finds the lines, `document` writes the HTML. page.css,
reasons.js and page.js stand beside them, and in the page; it loads nothing.
"""

from __future__ import annotations

from ptcompile.page.document import html
from ptcompile.page.gathered import gather
from ptcompile.page.model import Page

__all__ = ["Page", "gather", "html"]
