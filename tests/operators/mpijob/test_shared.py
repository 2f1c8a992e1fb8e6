"""The checks that all operators share, for this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.operators.checks import checks


@pytest.mark.parametrize("check", checks(Path(__file__).parent.name))
def test_the_shared_checks_pass(check: Callable[[], None]) -> None:
    check()
