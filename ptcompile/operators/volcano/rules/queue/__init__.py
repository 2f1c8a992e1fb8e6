"""Rules for Volcano's queues."""

from __future__ import annotations

RULES: dict[str, str] = {
    "unread_queue_resource": "capability/deserved/guarantee",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
