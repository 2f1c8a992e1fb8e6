"""One rehearsal: a job's pods as real processes, the faults that are asked for, and the verdict."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptcompile.kubernetes.versions import parse_version
from ptcompile.rehearsal.backends import Ground, Opening, ground
from ptcompile.rehearsal.cast import MODULES, Actor, cast
from ptcompile.rehearsal.course import Course, Progress, Seen
from ptcompile.rehearsal.places import Places, RehearsalSettings
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.rehearsal.verdict import RehearsalVerdict, judge
from ptcompile.simulator.faults import Fault, recreated_with
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.torchrun import has_same_torchrun, torch_of
from ptcompile.source.secrets.masking import masker_of


class Rehearsal(NamedTuple):
    """What was played and how it ended. Times are seconds."""

    job: SimulatedJob
    actors: tuple[Actor, ...]
    faults: tuple[Fault, ...]
    settings: RehearsalSettings
    torch: str
    """The version of PyTorch."""
    seen: tuple[Seen, ...]
    verdict: RehearsalVerdict
    stand_ins: tuple[str, ...]
    seconds: float
    limited: bool
    """Whether the time limit ended it."""


def rehearse(
    job: SimulatedJob,
    faults: Sequence[Fault] = (),
    *,
    settings: RehearsalSettings,
    most: int = 2,
    progress: Progress = lambda line: None,
    opening: Opening = ground,
) -> Rehearsal:
    """Play a job. `most` is how many processes a pod has at most.

    Raises:
        RehearsalError: the job or a fault cannot be rehearsed, here or at all.
    """
    played = cast(job, max_processes=most, own_command=settings.own_command, script=settings.script)
    for one in faults:
        if one.pod >= len(played.actors):
            raise RehearsalError(f"no pod {one.pod} to {one.kind}: {len(played.actors)} train, counted from 0")
    begun = time.monotonic()
    images = [actor.image for actor in played.actors]
    with (
        tempfile.TemporaryDirectory(prefix="ptcompile-rehearsal-") as folder,
        opening(folder, settings, images) as on,
    ):
        if lacking := {actor.argv[0] for actor in played.actors} & set(MODULES) - {"torchrun", *on.launchers}:
            raise RehearsalError(f"{on.python} has no {lacking.pop()}, which starts the processes: install it there")
        places = Places(folder, played.actors, settings, python=on.python, network=on.network, env=on.env)
        recreated = tuple(recreated_with(job, actor.number) for actor in played.actors)
        course = Course(played.actors, faults, places, on.backend, settings, recreated)
        seen = course.play(progress)
    if hide := masker_of([job.manifest]):
        seen = tuple(one._replace(error=hide(one.error) if one.error else None) for one in seen)
    verdict = judge(job, played.actors, faults, seen, blind=settings.blind, torch=parse_version(on.torch))
    return Rehearsal(
        job, played.actors, tuple(faults), settings, on.torch, seen, verdict,
        (
            *_surroundings(images[0], on, settings),
            *played.stand_ins,
            *_others(job, images[0], on, settings),
            *_recreations(job, faults),
        ),
        time.monotonic() - begun, course.limited,
    )  # fmt: skip


def _surroundings(image: str, on: Ground, settings: RehearsalSettings) -> Iterator[str]:
    """What stands for the cluster's image and nodes, one sentence each."""
    if not on.engine:
        yield "torch on CPU with gloo replaces the image" + (f" {image}" if image else "")
        return
    if settings.image not in (None, image):
        yield f"the image {settings.image} replaces {image or 'the image'}"
    yield f"gloo on CPU, in containers of {on.engine}, replaces GPUs and nodes"


def _others(job: SimulatedJob, image: str, on: Ground, settings: RehearsalSettings) -> Iterator[str]:
    meant, found = torch_of(image, job.versions), parse_version(on.torch)
    if not has_same_torchrun(meant, found):
        yield (
            f"PyTorch {found[0]}.{found[1]} replaces {meant[0]}.{meant[1]} (the image's tag, else the profile's "
            "versions.torch, else the newest known)"
        )
    if settings.scale != 1:
        yield f"torchrun's waits and the times of the faults are {settings.scale:g} times shorter"


def _recreations(job: SimulatedJob, faults: Sequence[Fault]) -> Iterator[str]:
    """Yield a sentence if a fault recreates a pod that the operator does not."""
    if any(fault.back is not None and not recreated_with(job, fault.pod) for fault in faults):
        yield "the faults recreate a lost pod, which the operator does not"


def enough(faults: Sequence[Fault], scale: float) -> float:
    """Seconds after which a rehearsal with these faults is over for good: ten minutes, and what the faults take."""
    return 600.0 + sum(one.at + (one.back or 0) for one in faults) / scale
