"""Rules for what Roles and RoleBindings grant."""

from __future__ import annotations

RULES: dict[str, str] = {
    "grants_nothing": "resources/subjects",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
