"""Rules for Volcano's queues."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "unread_queue_resource": "capability/deserved/guarantee",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
