"""Whether two values are the same data. `==` is not enough: to it True is 1, and 1 is 1.0."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def same(one: Any, other: Any, *, exact: bool = False) -> bool:
    """Whether two decoded values are equal in every type too, and their keys stand in the same order.

    False also where that cannot be told: data of other types than JSON's, or without end. Of parts of an object that is
    `exact`, which `structure.complete` tells, equality is enough, whatever the order: a tenth of the time.
    """
    if one is other:
        return True
    if exact:
        return bool(one == other)
    try:
        return bool(one == other) and marshal.dumps(one, 2) == marshal.dumps(other, 2)  # 2: no references
    except (ValueError, RecursionError):
        return False
