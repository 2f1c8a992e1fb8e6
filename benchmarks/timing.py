"""Timing on a machine that others use too: contestants take turns, and ratios are those of pairs
side by side.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PTCOMPILE = ("-c", "from ptcompile.cli import run; run()")
"""What the console script does, for any Python."""


def interleaved(
    contestants: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each contestant in each round, all of them once a round, after one round that
    does not count.
    """
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


class Spent(NamedTuple):
    """Seconds of each command in each round: of the clock, and of all processors that it kept
    busy.
    """

    wall: dict[str, list[float]]
    cpu: dict[str, list[float]]


def processes(commands: Mapping[str, Sequence[str]], folder: str, rounds: int) -> Spent:
    """The same for whole processes. Byte code is kept, as in every installation: in `folder`, by
    the first round.
    """
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = f"{folder}/pycache"
    cpu: dict[str, list[float]] = {name: [] for name in commands}

    def one(name: str) -> None:
        before = _cpu_of_children()
        output(commands[name], env)
        cpu[name].append(_cpu_of_children() - before)

    wall = interleaved({name: partial(one, name) for name in commands}, rounds)

    return Spent(wall, {name: seconds[1:] for name, seconds in cpu.items()})


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def output(words: Sequence[str], env: Mapping[str, str] | None = None) -> bytes:
    """What a command prints. Raises `CalledProcessError` where it fails; findings (status 1) are
    no failure.
    """
    ended = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
    if ended.returncode > 1:
        ended.check_returncode()
    return ended.stdout


def ratio(times: Mapping[str, list[float]], ours: str, theirs: str) -> float:
    """Median over the rounds of our time divided by theirs in the same round."""
    return median(a / b for a, b in zip(times[ours], times[theirs], strict=True))


def line(what: str, figure: str, goal: str = "") -> None:
    """One result."""
    print(f"  {what:<66} {figure:>14}{f'   (goal {goal})' if goal else ''}", flush=True)
