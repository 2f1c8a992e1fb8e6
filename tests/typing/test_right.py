"""The program that type checkers find nothing in runs, too. What they say: `python -m tests.typing`, in .ci/run."""

from __future__ import annotations

from tests.typing import right


def test_it_runs() -> None:
    right.main()
