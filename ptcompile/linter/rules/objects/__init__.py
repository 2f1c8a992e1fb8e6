"""Rules for objects of any kind, also those without pods."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "repeated_object": "name",
    "secret_in_env": "",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
