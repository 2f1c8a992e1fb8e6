"""Whether two values are the same data. `==` is not enough: to it True is 1, and 1 is 1.0."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def same(one: Any, other: Any) -> bool:
    """Whether two decoded values are equal in every type too, and their keys stand in the same order.

    False also where that cannot be told: data of other types than JSON's, or without end.
    """
    if one is other:
        return True
    try:
        return bool(one == other) and marshal.dumps(one, 2) == marshal.dumps(other, 2)  # 2: no references
    except (ValueError, RecursionError):
        return False
