"""Limit ranges and quotas of a namespace, sorted: each pod looks up the bounds it breaks, not every object."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    LimitSide = Literal["max", "min"]


class Bound(NamedTuple):
    """One amount that an object allows."""

    order: tuple[int, int, int]
    """The object, the side and the resource, in the order of the stream."""
    side: LimitSide
    resource: str
    allowed: Quantity
    default: Quantity | None = None
    """The amount of a container that does not say any."""

    def breaks(self, asked: Quantity) -> bool:
        """Whether an amount is not allowed."""
        return asked > self.allowed if self.side == "max" else asked < self.allowed


class Allowances:
    """All bounds of a namespace."""

    def __init__(self, bounds: Iterable[Bound]) -> None:
        self._by_resource: dict[tuple[LimitSide, str], list[Bound]] = {}
        self._broken_defaults: dict[tuple[LimitSide, str], list[Bound]] = {}
        self.resources: set[str] = set()
        """All that are bounded."""
        for one in sorted(bounds, key=_allowed_nano):
            self.resources.add(one.resource)
            self._by_resource.setdefault((one.side, one.resource), []).append(one)
            if one.default is not None and one.breaks(one.default):
                self._broken_defaults.setdefault((one.side, one.resource), []).append(one)

    def broken_by(self, side: LimitSide, resource: str, asked: Quantity) -> Sequence[Bound]:
        """Return the bounds that an amount breaks."""
        bounds = self._by_resource.get((side, resource), ())
        if side == "max":
            return bounds[: bisect_left(bounds, asked.nano, key=_allowed_nano)]
        return bounds[bisect_right(bounds, asked.nano, key=_allowed_nano) :]

    def broken_defaults(self, said: Iterable[tuple[LimitSide, str]]) -> Iterable[Bound]:
        """Return the bounds that a container breaks by what it does not say: a default above the maximum."""
        known = frozenset(said)
        return [one for key, bounds in self._broken_defaults.items() if key not in known for one in bounds]


def _allowed_nano(one: Bound) -> int:
    return one.allowed.nano


def parse_amount(value: Any) -> Quantity | None:
    """Return an amount, or None for what is none: a boolean too."""
    return quantity.parse(None if isinstance(value, bool) else value)
