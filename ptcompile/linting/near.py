"""Slips of the pen: the known name that another one misses by a letter or two."""

from __future__ import annotations

from collections.abc import Collection

_LONG = 14
"""From this length on two slips are one name; in a shorter name one is."""


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that this one misses by one or two slips; None where it is known, or near to none."""
    if name in known:
        return None
    most = 2 if len(name) >= _LONG else 1
    near = [one for one in known if abs(len(one) - len(name)) <= most and distance(one, name, most) <= most]
    return min(near, key=lambda one: (distance(one, name, most), one), default=None)


def distance(one: str, other: str, most: int) -> int:
    """How many letters to add, drop, change or swap with the next one; any number above `most` where it is more."""
    before, row = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        previous, row, oldest = row, [i], before
        for j, wanted in enumerate(other, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, oldest[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = previous
    return row[-1]
