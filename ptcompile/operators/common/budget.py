"""The names that an operator derives from a job's, its target's `derived`: how long the job's may be.

An operator names pods, host names, Services, PodGroups and label values after the job. What is too long is not always
refused: a PyTorchJob with a long name is accepted, and its Services never come to be. So the tightest of all derived
names is found before anything is written, and the longest name that leaves room for each is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Derived, Group, Job, Target
from ptcompile.typed import NamedTuple


class Room(NamedTuple):
    """How long a job's name may be, and the derived name that decides it, with `<name>` for the job's."""

    longest: int
    what: str
    pattern: str
    limit: int


def room(job: Job, target: Target) -> Room:
    """The longest name of a job with these pods that leaves room for every derived name."""
    return _least(target.derived, tuple(target.groups(job)))


@lru_cache(256)
def _least(names: tuple[Derived, ...], groups: tuple[Group, ...]) -> Room:
    found = (_room(derived, group) for derived in names for group in groups)
    return min(found, key=lambda one: one.longest)


def _room(derived: Derived, group: Group) -> Room:
    last = {"last": max(0, group.pods - 1), "last_job": max(0, group.jobs - 1)}
    pattern = derived.pattern.format(job="<name>", group=group.name, **last)
    longest = derived.limit - (len(pattern) - len("<name>"))
    return Room(max(0, longest), derived.what, pattern, derived.limit)


def too_long(job: Job, target: Target) -> Iterator[Problem]:
    """A refusal where the job's name leaves no room for a name that is derived from it."""
    least = room(job, target)
    if len(job.name) > least.longest:
        safe = job.name[: least.longest].rstrip("-.")
        yield Problem(
            "name-too-long",
            ("metadata", "name"),
            f"metadata.name: {job.name!r} has {len(job.name)} characters and leaves no room for {least.what} "
            f"{least.pattern}, which has a limit of {least.limit}",
            f"at most {least.longest} characters, such as {safe!r}",
        )
