"""Rules for ComputeDomains."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "nodes_differ_from_domain": "numNodes",
    "repeated_channel_template": "@ResourceClaimTemplate",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
