"""Counted work, which does not depend on the load of the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Work = Callable[[], object]


def steps(work: Work) -> int:
    """Return the number of executed lines, iterations of comprehensions, and calls of Python and C functions.

    Work inside a call of a C function, such as `in` on a list, is not counted.
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
