"""Limit ranges and quotas of a namespace, sorted so that each pod looks up only the bounds it breaks."""

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
    """Sort key: the index of the object in the stream, of the side and of the resource."""
    side: LimitSide
    resource: str
    allowed: Quantity
    default: Quantity | None = None
    """The amount of a container that sets none."""

    def breaks(self, amount: Quantity) -> bool:
        """Return whether the bound rejects the amount."""
        return amount > self.allowed if self.side == "max" else amount < self.allowed


class Allowances:
    """All bounds of a namespace."""

    def __init__(self, bounds: Iterable[Bound]) -> None:
        self._by_resource: dict[tuple[LimitSide, str], list[Bound]] = {}
        self._broken_defaults: dict[tuple[LimitSide, str], list[Bound]] = {}
        self.resources: set[str] = set()
        """All bounded resources."""
        for bound in sorted(bounds, key=_allowed_nano):
            self.resources.add(bound.resource)
            self._by_resource.setdefault((bound.side, bound.resource), []).append(bound)
            if bound.default is not None and bound.breaks(bound.default):
                self._broken_defaults.setdefault((bound.side, bound.resource), []).append(bound)

    def broken_by(self, side: LimitSide, resource: str, amount: Quantity) -> Sequence[Bound]:
        """Return the bounds that the amount breaks."""
        bounds = self._by_resource.get((side, resource), ())
        if side == "max":
            return bounds[: bisect_left(bounds, amount.nano, key=_allowed_nano)]
        return bounds[bisect_right(bounds, amount.nano, key=_allowed_nano) :]

    def broken_defaults(self, set_amounts: Iterable[tuple[LimitSide, str]]) -> Iterable[Bound]:
        """Return the bounds that the defaults of a container break: those above a maximum or below a minimum."""
        set_keys = frozenset(set_amounts)
        return [bound for key, bounds in self._broken_defaults.items() if key not in set_keys for bound in bounds]


def _allowed_nano(bound: Bound) -> int:
    return bound.allowed.nano


def parse_amount(value: Any) -> Quantity | None:
    """Return the value as a quantity, or None if it is not one. Booleans are not quantities."""
    return quantity.parse(None if isinstance(value, bool) else value)
