"""Days of times in CRDs, which Go reads."""

from __future__ import annotations

import pytest

from ptcompile.apiserver.structure.scalars import check_crd_time


@pytest.mark.parametrize(
    ("day", "exists"),
    [
        ("2026-01-01", True),
        ("2026-01-31", True),
        ("2026-01-32", False),
        ("2026-01-00", False),
        ("2026-04-30", True),
        ("2026-04-31", False),
        ("2026-12-31", True),
        ("2026-02-28", True),
        ("2026-02-29", False),
        ("2024-02-29", True),
        ("2024-02-30", False),
        ("2024-03-31", True),
        ("2000-02-29", True),
        ("1900-02-29", False),
        ("2100-02-29", False),
    ],
)
def test_only_existing_days_are_valid(day: str, exists: bool) -> None:
    assert (check_crd_time(f"{day}T12:00:00Z") is None) is exists
    assert (check_crd_time(f"{day}t12:00:00z") is None) is exists
