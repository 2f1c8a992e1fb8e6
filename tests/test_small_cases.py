"""A test of many cases names each that fails."""

from __future__ import annotations

import pytest

from tests.small_cases import check_each


def check(number: int) -> None:
    assert 6 // number > 1, "too small"


def test_every_failing_case_is_named_with_its_reason() -> None:
    check_each([1, 2, 3], check)
    with pytest.raises(AssertionError) as failure:
        check_each([2, 0, 5, 3], check, name=lambda number: f"number {number}")
    first, second, *_ = str(failure.value).splitlines()
    assert first == "number 0: ZeroDivisionError: integer division or modulo by zero"
    assert second.startswith("number 5: AssertionError: too small")
