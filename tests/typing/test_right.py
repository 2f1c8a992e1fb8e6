"""The program that type checkers accept also runs. The checkers run in .ci/run (`python -m tests.typing`)."""

from __future__ import annotations

from tests.typing import right


def test_it_runs() -> None:
    right.main()
