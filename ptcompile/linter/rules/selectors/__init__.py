"""Rules for objects that select pods by their labels."""

from __future__ import annotations

RULES: dict[str, str] = {
    "selects_no_pod": "selector/podSelector",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
