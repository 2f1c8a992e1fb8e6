"""Times, sizes, counts and lists of Slurm's options. Each function returns None for what sbatch
rejects.

Source: SchedMD/slurm 284c3b95, src/common: parse_time.c, slurm_opt.c, proc_args.c;
docs/facts/slurm.md#units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from math import ceil

from ptcompile._internal.namedtuple import Any, NamedTuple

_UNLIMITED = frozenset({"-1", "INFINITE", "UNLIMITED"})
_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

_time = re.compile(r"(?a)(?:(?P<days>\d{1,9})-)?(?P<clock>\d{1,9}(?::\d{1,9}){0,2})").fullmatch


def seconds_of(text: str) -> int | None:
    """Return a time limit in seconds, in whole minutes; 0 for none.

    `60` are minutes, `30:00` minutes and seconds, `1-12` a day and hours.
    """
    if text.upper() in _UNLIMITED:
        return 0

    match = _time(text)
    if match is None:
        return None

    days = match["days"]
    numbers = [int(number) for number in match["clock"].split(":")]
    has_hours = days is not None or len(numbers) > 2
    units = (_HOUR, _MINUTE, 1) if has_hours else (_MINUTE, 1)
    seconds = sum(number * unit for number, unit in zip(numbers, units, strict=False))

    return ceil(seconds / _MINUTE) * _MINUTE + int(days or 0) * _DAY


_size = re.compile(r"(?a)(\d{1,15})([KMGT]?)B?", re.IGNORECASE).fullmatch
_MEBIBYTES = {"K": 1 / 1024, "": 1, "M": 1, "G": 1 << 10, "T": 1 << 20}


def mebibytes_of(text: str) -> int | None:
    """Return an amount of memory in MiB: units are binary, and a number without one is in MiB."""
    match = _size(text)
    if match is None:
        return None
    number, unit = match.groups()
    return ceil(int(number) * _MEBIBYTES[unit.upper()])


def quantity_of(mebibytes: int) -> str:
    """Return an amount of memory as Kubernetes writes it."""
    gibibytes, rest = divmod(mebibytes, 1 << 10)
    return f"{mebibytes}Mi" if rest else f"{gibibytes}Gi"


_count = re.compile(r"(?a)(\d{1,9})([km]?)", re.IGNORECASE).fullmatch
_THOUSANDS = {"": 1, "k": 1 << 10, "m": 1 << 20}


def count_of(text: str) -> int | None:
    """Return a number; `k` is 1,024."""
    match = _count(text)
    if match is None:
        return None
    number, unit = match.groups()
    return int(number) * _THOUSANDS[unit.lower()]


def nodes_of(text: str) -> int | None:
    """Return the largest number of nodes of `4`, `2-4`, `1,3,5` or `1-15:4`."""
    counts = [count_of(part) for part in re.split("[,-]", re.sub(r":\d+", "", text))]
    known = [count for count in counts if count]
    return max(known) if len(known) == len(counts) else None


class Gres(NamedTuple):
    """A generic resource of each node: `gpu:a100:4`."""

    name: str
    type: str
    amount: int


_resource = re.compile(
    r"(?i)(?:gres[/:])?(?P<name>[^:=]+)(?::(?P<type>(?!\d+[km]?$)[^:=]+))?(?:[:=](?P<count>\d{1,9}[km]?))?"
).fullmatch


def gres_of(text: str) -> list[Gres] | None:
    """Return the resources of `gpu:a100:2,nvme:1`; a count that is absent is 1."""
    items = re.sub(r"\([^)]*\)", "", text).split(",")
    matches = [_resource(item) for item in items if item.lower() not in ("", "none")]
    known = [
        Gres(match["name"], match["type"] or "", count_of(match["count"] or "1") or 0)
        for match in matches
        if match is not None
    ]
    return known if len(known) == len(matches) else None


def gpus_of(text: str) -> Gres | None:
    """Return the GPUs of `--gpus` and its like: `4`, `a100:2`, `a100:1,v100:1`."""
    resources = gres_of(f"gpu:{text.replace(',', ',gpu:')}")
    if resources is None:
        return None

    types = "/".join(dict.fromkeys(resource.type for resource in resources))
    return Gres("gpu", types, sum(resource.amount for resource in resources))


class ArrayIndexes(NamedTuple):
    """The indexes of an array, and how many of its jobs may run at once."""

    ranges: tuple[range, ...]
    at_once: int | None

    @property
    def size(self) -> int:
        """The number of jobs."""
        return sum(map(len, self.ranges))

    def each(self) -> Iterator[int]:
        """Yield the index of each job."""
        return chain.from_iterable(self.ranges)


_indexes = re.compile(
    r"(?a)(?P<first>\d{1,9})(?:-(?P<last>\d{1,9})(?::(?P<step>\d{1,9}))?)?"
).fullmatch
_MAX_PARTS = 1024


def array_of(text: str) -> ArrayIndexes | None:
    """Return the indexes of `0-15:4%2` or `1,3,7`."""
    listed, percent, at_once = text.partition("%")
    limit = count_of(at_once)
    matches = [_indexes(part) for part in listed.split(",", _MAX_PARTS)]
    ranges = [
        range(
            int(match["first"]),
            int(match["last"] or match["first"]) + 1,
            int(match["step"] or 1) or 1,
        )
        for match in matches
        if match is not None
    ]
    is_wrong = len(ranges) < len(matches) or (percent and limit is None)

    return None if is_wrong else ArrayIndexes(tuple(ranges), limit)


_signal = re.compile(r"(?ai)(?:[RB]+:)?\w+(?:@(?P<seconds>\d{1,6}))?").fullmatch


def notice_of(text: str) -> int | None:
    """Return how many seconds before the limit the signal of `B:USR1@120` comes."""
    match = _signal(text)
    return None if match is None else int(match["seconds"] or _MINUTE)


READERS: Mapping[str, Callable[[str], Any]] = {
    "time": seconds_of,
    "memory": mebibytes_of,
    "gpus": gpus_of,
    "gres": gres_of,
    "count": count_of,
    "nodes": nodes_of,
    "array": array_of,
    "signal": notice_of,
    "text": str,
}
"""The functions of this module by the kind (`is`) that the table of options gives to an option."""
