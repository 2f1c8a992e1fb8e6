"""Rules for ComputeDomains."""

from __future__ import annotations

RULES: dict[str, str] = {
    "nodes_differ_from_domain": "numNodes",
    "repeated_channel_template": "@ResourceClaimTemplate",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
