"""Rules for what Kueue's objects refer to by name."""

from __future__ import annotations

RULES: dict[str, str] = {
    "dangling_queue_reference": ("kueue @ClusterQueue/@ResourceFlavor/@AdmissionCheck/@Topology"),
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
