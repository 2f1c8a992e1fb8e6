"""Timing on a machine that others use too: contestants take turns, and ratios are those of pairs side by side."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median


def interleaved(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each contestant in each round, all of them once a round, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    forwards = list(contestants.items())
    backwards = forwards[::-1]
    for number in range(rounds + 1):
        # Every other round runs backwards, so that no contestant always follows the same neighbour.
        for name, one in forwards if number % 2 else backwards:
            gc.collect()
            start = time.perf_counter()
            one()
            if number:
                times[name].append(time.perf_counter() - start)
    return times


def ratio(times: Mapping[str, list[float]], ours: str, theirs: str) -> float:
    """Median over the rounds of our time divided by theirs in the same round."""
    return median(a / b for a, b in zip(times[ours], times[theirs], strict=True))


def line(what: str, figure: str, goal: str = "") -> None:
    """One result."""
    print(f"  {what:<58} {figure:>14}{f'   (goal {goal})' if goal else ''}")
