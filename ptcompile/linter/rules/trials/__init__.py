"""Rules for the trials of Katib's Experiments."""

from __future__ import annotations

RULES: dict[str, str] = {
    "refused_trial": "trialTemplate",
    "unknown_primary_container": "trialSpec primaryContainerName",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
