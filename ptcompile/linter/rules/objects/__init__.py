"""Rules for objects of any kind, beside the others of their stream."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "repeated_object": "name",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
