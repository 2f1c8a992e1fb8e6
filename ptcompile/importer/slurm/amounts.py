"""Times, sizes, counts and lists of Slurm's options. Each function returns None for what sbatch rejects.

Source: SchedMD/slurm 284c3b95, src/common: parse_time.c, slurm_opt.c, proc_args.c; docs/facts/slurm.md#units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from ptcompile._internal.namedtuple import NamedTuple

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

_time = re.compile(r"(?a)(?:(?P<days>\d{1,9})-)?(?P<parts>\d{1,9}(?::\d{1,9}){0,2})").fullmatch
_UNLIMITED = frozenset({"-1", "INFINITE", "UNLIMITED"})


def seconds_of(text: str) -> int | None:
    """Return a time limit in seconds, in whole minutes; 0 for none.

    `60` are minutes, `30:00` minutes and seconds, `1-12` a day and hours.
    """
    if text.upper() in _UNLIMITED:
        return 0
    match = _time(text)
    if match is None:
        return None

    numbers = [int(number) for number in match["parts"].split(":")]
    if match["days"] is not None:
        units: tuple[int, ...] = (_HOUR, _MINUTE, 1)
    else:
        units = (_HOUR, _MINUTE, 1) if len(numbers) > 2 else (_MINUTE, 1)
    total = int(match["days"] or 0) * _DAY
    total += sum(number * unit for number, unit in zip(numbers, units, strict=False))

    return -(-total // _MINUTE) * _MINUTE


_size = re.compile(r"(?a)(\d{1,15})([KMGT]?)B?", re.IGNORECASE).fullmatch
_KIBIBYTES = {"K": 1, "": 1 << 10, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}


def mebibytes_of(text: str) -> int | None:
    """Return an amount of memory in MiB: units are binary, and a number without one is in MiB."""
    match = _size(text)
    if match is None:
        return None
    number, unit = match.groups()
    return -(-int(number) * _KIBIBYTES[unit.upper()] // (1 << 10))


def quantity_of(mebibytes: int) -> str:
    """Return an amount of memory as Kubernetes writes it."""
    gibibytes, rest = divmod(mebibytes, 1 << 10)
    return f"{mebibytes}Mi" if rest else f"{gibibytes}Gi"


_count = re.compile(r"(?a)(\d{1,9})([km]?)", re.IGNORECASE).fullmatch
_THOUSANDS = {"": 1, "k": 1 << 10, "m": 1 << 20}


def count_of(text: str) -> int | None:
    """Return a number; `k` is 1,024."""
    match = _count(text)
    return None if match is None else int(match[1]) * _THOUSANDS[match[2].lower()]


class CountRange(NamedTuple):
    """A minimum and a maximum."""

    least: int
    most: int


def nodes_of(text: str) -> CountRange | None:
    """Return the number of nodes of `4`, `2-4`, `1,3,5` or `1-15:4`."""
    counts = [count_of(part) for item in text.split(",") for part in item.partition(":")[0].split("-")]
    known = [count for count in counts if count]
    return CountRange(min(known), max(known)) if known and len(known) == len(counts) else None


class Gres(NamedTuple):
    """A generic resource of each node: `gpu:a100:4`."""

    name: str
    type: str
    amount: int


def gres_of(text: str) -> list[Gres] | None:
    """Return the resources of `gpu:a100:2,nvme:1`; a count that is absent is 1."""
    resources = [_resource(item) for item in re.split(r",(?![^()]*\))", text) if item and item.lower() != "none"]
    known = [resource for resource in resources if resource is not None]
    return known if len(known) == len(resources) else None


def _resource(text: str) -> Gres | None:
    name, _, rest = re.sub(r"\(.*\)", "", text).removeprefix("gres/").removeprefix("gres:").partition(":")
    name, equals, amount = name.partition("=")
    kind, _, count = rest.rpartition(":")
    if equals:
        kind, count = rest, amount
    elif rest and count_of(rest) is None and not kind:
        kind, count = rest, "1"
    number = count_of(count or "1")
    return None if number is None or not name else Gres(name, kind, number)


def gpus_of(text: str) -> Gres | None:
    """Return the GPUs of `--gpus` and its like: `4`, `a100:2`, `a100:1,v100:1`."""
    resources = [_resource(f"gpu:{item}") for item in text.split(",")]
    known = [resource for resource in resources if resource is not None]
    if not known or len(known) < len(resources):
        return None
    kinds = "/".join(dict.fromkeys(resource.type for resource in known))
    return Gres("gpu", kinds, sum(resource.amount for resource in known))


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


_indexes = re.compile(r"(?a)(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?").fullmatch
_MAX_PARTS = 1024


def array_of(text: str) -> ArrayIndexes | None:
    """Return the indexes of `0-15:4%2` or `1,3,7`."""
    listed, percent, at_once = text.partition("%")
    matches = [_indexes(part) for part in listed.split(",", _MAX_PARTS)]
    known = [match for match in matches if match is not None]
    limit = count_of(at_once)
    if len(known) < len(matches) or (percent and limit is None):
        return None

    ranges = [range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1) or 1) for match in known]
    return ArrayIndexes(tuple(ranges), limit if percent else None)


class SignalOption(NamedTuple):
    """`--signal`: what is sent, to whom, and how long before the limit."""

    name: str
    seconds: int
    to_shell: bool


_signal = re.compile(r"(?a)(?:([RB]+):)?(\w+)(?:@(\d{1,6}))?", re.IGNORECASE).fullmatch


def signal_of(text: str) -> SignalOption | None:
    """Return the signal of `B:USR1@120`."""
    match = _signal(text)
    if match is None:
        return None
    receivers = (match[1] or "").upper()
    return SignalOption(match[2].upper().removeprefix("SIG"), int(match[3] or _MINUTE), "B" in receivers)
