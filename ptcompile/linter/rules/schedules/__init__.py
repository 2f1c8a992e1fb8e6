"""Rules for the schedules of CronJobs."""

from __future__ import annotations

RULES: dict[str, str] = {
    "unfit_schedule": "schedule",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
