"""One rehearsal: runs a job's pods as real processes, injects the requested faults, and returns the verdict."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptcompile.kubernetes.versions import parse_version
from ptcompile.rehearsal.backends import Ground, Opening, open_ground
from ptcompile.rehearsal.cast import MODULES, Actor, cast
from ptcompile.rehearsal.course import Course, Observation, Progress
from ptcompile.rehearsal.places import Places, RehearsalSettings
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.rehearsal.verdict import RehearsalVerdict, judge
from ptcompile.simulator.faults import Fault, recreated_with
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.torchrun import has_same_torchrun, torch_of
from ptcompile.source.secrets.masking import masker_of


class Rehearsal(NamedTuple):
    """The result of a rehearsal. Times are in seconds."""

    job: SimulatedJob
    actors: tuple[Actor, ...]
    faults: tuple[Fault, ...]
    settings: RehearsalSettings
    torch: str
    """Version of PyTorch."""
    seen: tuple[Observation, ...]
    verdict: RehearsalVerdict
    stand_ins: tuple[str, ...]
    seconds: float
    limited: bool
    """Whether the time limit ended the rehearsal."""


def rehearse(
    job: SimulatedJob,
    faults: Sequence[Fault] = (),
    *,
    settings: RehearsalSettings,
    max_processes: int = 2,
    progress: Progress = lambda line: None,
    opening: Opening = open_ground,
) -> Rehearsal:
    """Run a job with at most `max_processes` processes per pod.

    Raises:
        RehearsalError: the job or a fault cannot be rehearsed, on this machine or at all.
    """
    rehearsed = cast(job, max_processes=max_processes, own_command=settings.own_command, script=settings.script)
    for fault in faults:
        if fault.pod >= len(rehearsed.actors):
            raise RehearsalError(
                f"no pod {fault.pod} to {fault.kind}: {len(rehearsed.actors)} pods train, counted from 0"
            )
    start = time.monotonic()
    images = [actor.image for actor in rehearsed.actors]
    with (
        tempfile.TemporaryDirectory(prefix="ptcompile-rehearsal-") as folder,
        opening(folder, settings, images) as ground,
    ):
        if missing := {actor.argv[0] for actor in rehearsed.actors} & set(MODULES) - {"torchrun", *ground.launchers}:
            raise RehearsalError(
                f"{ground.python} has no {missing.pop()}, which starts the processes: install it there"
            )
        places = Places(
            folder, rehearsed.actors, settings, python=ground.python, network=ground.network, env=ground.env
        )
        recreated = tuple(recreated_with(job, actor.number) for actor in rehearsed.actors)
        course = Course(rehearsed.actors, faults, places, ground.backend, settings, recreated)
        observations = course.play(progress)
    if masker := masker_of([job.manifest]):
        observations = tuple(
            fault._replace(error=masker(fault.error) if fault.error else None) for fault in observations
        )
    verdict = judge(
        job, rehearsed.actors, faults, observations, blind=settings.blind, torch=parse_version(ground.torch)
    )
    return Rehearsal(
        job, rehearsed.actors, tuple(faults), settings, ground.torch, observations, verdict,
        (
            *_environment_stand_ins(images[0], ground, settings),
            *rehearsed.stand_ins,
            *_version_stand_ins(job, images[0], ground, settings),
            *_recreation_stand_ins(job, faults),
        ),
        time.monotonic() - start, course.limited,
    )  # fmt: skip


def _environment_stand_ins(image: str, ground: Ground, settings: RehearsalSettings) -> Iterator[str]:
    """Yield one sentence for each replacement of the cluster's image and nodes."""
    if not ground.engine:
        yield "torch on CPU with gloo replaces the image" + (f" {image}" if image else "")
        return
    if settings.image not in (None, image):
        yield f"the image {settings.image} replaces {image or 'the image'}"
    yield f"gloo on CPU, in containers of {ground.engine}, replaces GPUs and nodes"


def _version_stand_ins(job: SimulatedJob, image: str, ground: Ground, settings: RehearsalSettings) -> Iterator[str]:
    intended, actual = torch_of(image, job.versions), parse_version(ground.torch)
    if not has_same_torchrun(intended, actual):
        yield (
            f"PyTorch {actual[0]}.{actual[1]} replaces {intended[0]}.{intended[1]} (from the image's tag, else the "
            "profile's versions.torch, else the newest known)"
        )
    if settings.scale != 1:
        yield f"torchrun's timeouts and the times of the faults are {settings.scale:g} times shorter"


def _recreation_stand_ins(job: SimulatedJob, faults: Sequence[Fault]) -> Iterator[str]:
    """Yield a sentence if a fault recreates a pod that the operator does not recreate."""
    if any(fault.back is not None and not recreated_with(job, fault.pod) for fault in faults):
        yield "the faults recreate a lost pod, which the operator does not"


def default_limit(faults: Sequence[Fault], scale: float) -> float:
    """Return the default time limit in seconds: ten minutes plus the duration of the faults."""
    return 600.0 + sum(fault.at + (fault.back or 0) for fault in faults) / scale
