"""One page that shows the origin of every line: `ptcompile explain --html`.

`content` explains and simulates every target and locates the lines; `html` writes the page, and
`queue` its part about the job's queue. It embeds page.css, queue.css, reasons.js and page.js from
this folder and loads nothing.
"""

from __future__ import annotations

from ptcompile.explainer.page.content import (
    ExplainPage,
    gather,
    is_too_large,
    too_large_page,
    with_earlier_manifests,
)
from ptcompile.explainer.page.html import html

__all__ = [
    "ExplainPage",
    "gather",
    "html",
    "is_too_large",
    "too_large_page",
    "with_earlier_manifests",
]
