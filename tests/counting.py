"""How much work something is, counted: a loaded machine says the same as a quiet one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Work = Callable[[], object]


def steps(work: Work) -> int:
    """How many lines are run, each turn of a comprehension too, and how many functions are called, Python's and C's.

    What one call of a C function does, such as `in` of a list, is not seen.
    """
    count = 0

    def traced(_frame: FrameType, _event: str, _arg: Any) -> Any:
        nonlocal count
        count += 1
        return traced

    def profiled(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        count += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    sys.setprofile(profiled)
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return count
