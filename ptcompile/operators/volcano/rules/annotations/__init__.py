"""Rules for what Volcano's scheduler reads from objects of any kind."""

from __future__ import annotations

RULES: dict[str, str] = {
    "unknown_volcano_annotation": "volcano annotations/labels",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
