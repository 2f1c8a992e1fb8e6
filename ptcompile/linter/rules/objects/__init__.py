"""Rules that compare an object of any kind with the other objects of its stream."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "repeated_object": "name",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
