"""Rules for what Roles and RoleBindings grant."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "grants_nothing": "resources/subjects",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
