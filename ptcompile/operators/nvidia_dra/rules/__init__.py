"""Rules for ComputeDomains."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "nodes_differ_from_domain": "numNodes",
    "repeated_channel_template": "@ResourceClaimTemplate",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
