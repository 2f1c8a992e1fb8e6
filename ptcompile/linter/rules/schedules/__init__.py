"""Rules for the schedules of CronJobs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "unfit_schedule": "schedule",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
