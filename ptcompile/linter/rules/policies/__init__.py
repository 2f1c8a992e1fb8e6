"""Rules that compare network policies and autoscalers with the pods that they are about."""

from __future__ import annotations

RULES: dict[str, str] = {
    "closed_network": "NetworkPolicy",
    "scaled_world": "HorizontalPodAutoscaler",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
