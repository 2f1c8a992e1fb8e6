"""What is seen of a pod: the meetings that its processes were in, and the first error of its log."""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

_LINE = re.compile(r"^[ \t]*(([\w.]{1,200}|torchrun: error): .+)$", re.MULTILINE)
_NAMES = ("Error", "Exception", "Timeout", "torchrun: error")
_SHOWN = 200
"""Characters of an error that are kept."""


class Round(NamedTuple):
    """What a process saw of one meeting; `time` in seconds since the start."""

    time: float
    rank: int
    world: int
    nodes: int
    group: int
    """The node's rank."""
    right: bool
    """Whether the sum over all ranks was right."""


class Seen(NamedTuple):
    """What was seen of one pod."""

    rounds: tuple[Round, ...]
    starts: int
    exit: int | None
    """The exit status of its last start; None where it was still running when all was over."""
    lost: bool
    """Whether a fault took it away for good."""
    error: str | None
    """The first line of its log that is an error."""


def rounds_of(folder: str, begun: float) -> list[Round]:
    """The meetings that the processes of a pod wrote down in its folder; `begun` is the clock's time at the start."""
    try:
        with open(os.path.join(folder, "seen.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    except FileNotFoundError:
        return []
    return [
        Round(
            time=one["time"] - begun,
            rank=one["rank"],
            world=one["world"],
            nodes=one["hosts"],
            group=int(one["GROUP_RANK"] or one["rank"]),
            right=one["sum"] == one["world"] * (one["world"] - 1) // 2,
        )
        for one in lines
    ]


def first_error(folder: str) -> str | None:
    """The first line of a pod's log that is an error."""
    try:
        with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as file:
            lines = _LINE.finditer(file.read())
            found = next((one for one in lines if any(name in one[2] for name in _NAMES)), None)
    except FileNotFoundError:
        return None
    return found[1].strip()[:_SHOWN] if found else None
