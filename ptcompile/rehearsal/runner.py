"""One rehearsal: runs a job's pods as real processes, injects the requested faults, and returns
the verdict.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptcompile._internal import files
from ptcompile.diagnosis.first import FirstCause, find_origin, masked
from ptcompile.diagnosis.lines import Logs
from ptcompile.kubernetes.versions import parse_version, version_text
from ptcompile.rehearsal.backends import Ground, Opening, open_ground
from ptcompile.rehearsal.cast import Actor, Cast, cast
from ptcompile.rehearsal.course import Course, Observation, Progress, Training
from ptcompile.rehearsal.folders import describe_files, open_folder, remove_leftovers
from ptcompile.rehearsal.logs import KEPT_BYTES, MAX_BYTES, PodLog, open_logs
from ptcompile.rehearsal.places import Places, RehearsalSettings
from ptcompile.rehearsal.restarts import Restarts
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.rehearsal.verdict import RehearsalVerdict, judge, predict_end
from ptcompile.simulator.agents import agents_of
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
    training: Training | None
    """When all pods trained, from which the times of faults count; None if that was never seen."""
    skipped: tuple[tuple[Fault, str], ...]
    """Faults that were not injected, each with the reason."""
    events: tuple[tuple[float, str], ...]
    """What the operator did, each with the time."""
    hints: tuple[str, ...]
    """Options that would make the rehearsal faster or more telling."""
    cause: FirstCause | None = None
    """Where a failure began, by the messages in the logs; None if no pod failed or no message is
    known.
    """

    @property
    def pods(self) -> list[tuple[Actor, Observation]]:
        """The pods, each with what was seen of it."""
        return [*zip(self.actors, self.seen, strict=True)]


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
    rehearsed = _cast(job, faults, settings, max_processes)
    start = time.monotonic()
    masker = masker_of([job.manifest])
    masked_text = masker or str

    def tell(line: str) -> None:
        progress(masked_text(line))

    if leftovers := remove_leftovers():
        progress(
            f"removed {len(leftovers)} folders of rehearsals that were killed: "
            f"{', '.join(leftovers)}"
        )
    if hint := _long_wait_hint(job, faults, settings):
        progress(f"hint: {hint}")
    course, observations, ground, stand_ins, cause = _play(
        job, rehearsed, faults, settings, tell, opening
    )
    if masker is not None:
        observations = tuple(
            pod._replace(error=masker(pod.error) if pod.error else None) for pod in observations
        )

    injected = [
        fault for fault in faults if fault not in [skipped for skipped, _ in course.skipped]
    ]
    verdict = judge(
        job,
        rehearsed.actors,
        injected,
        observations,
        blind=settings.is_blind,
        met=course.training is not None,
        restarts=settings.restarts,
        torch=parse_version(ground.torch),
    )

    return Rehearsal(
        job, rehearsed.actors, tuple(faults), settings, ground.torch, observations, verdict, stand_ins,
        time.monotonic() - start, course.limited, course.training, tuple(course.skipped),
        tuple((seconds, masked_text(event)) for seconds, event in course.events),
        (hint,) if hint and course.limited else (), cause and masked(cause, [job.manifest]),
    )  # fmt: skip


def _cast(
    job: SimulatedJob, faults: Sequence[Fault], settings: RehearsalSettings, max_processes: int
) -> Cast:
    """Return the pods of a rehearsal, the pods of all faults among them. Raises
    `RehearsalError`.
    """
    rehearsed = cast(
        job,
        max_processes=max_processes,
        own_command=settings.own_command,
        script=settings.script,
        mounts=settings.mounts,
    )
    for fault in faults:
        if fault.pod >= len(rehearsed.actors):
            raise RehearsalError(
                f"no pod {fault.pod} to {fault.kind}: {len(rehearsed.actors)} pods train, counted "
                "from 0"
            )

    return rehearsed


def _play(
    job: SimulatedJob, rehearsed: Cast, faults: Sequence[Fault], settings: RehearsalSettings, progress: Progress,
    opening: Opening,
) -> tuple[Course, tuple[Observation, ...], Ground, tuple[str, ...], FirstCause | None]:  # fmt: skip
    """Run the pods. Return the course, what it observed, the back end, what differs from the
    cluster, and where a failure began.
    """
    actors = rehearsed.actors
    image = actors[0].image
    with open_folder() as folder, opening(folder, settings, actors) as ground:
        places = Places(
            folder, actors, settings, python=ground.python, network=ground.network, env=ground.env,
            in_containers=bool(ground.engine),
        )  # fmt: skip
        logs = open_logs(settings.keep_logs or os.path.join(folder, "logs"), len(actors))
        operator = Restarts(job) if settings.restarts else None
        recreated = tuple(recreated_with(job, actor.number) for actor in actors)
        course = Course(actors, faults, places, ground.backend, settings, logs, recreated, operator)
        observations = course.play(progress)
        stand_ins = (
            *_environment_stand_ins(image, ground, settings),
            *rehearsed.stand_ins,
            *_version_stand_ins(job, image, ground, settings),
            *_course_stand_ins(job, faults, rehearsed, ground, places, logs),
        )
        cause = None
        if any(observation.exit for observation in observations):
            read = Logs()
            for log in logs:
                read.read(os.path.basename(log.path), files.read(log.path, KEPT_BYTES // len(logs)))
            cause = find_origin(read, tolerates=False)

    return course, observations, ground, stand_ins, cause


def _environment_stand_ins(
    image: str, ground: Ground, settings: RehearsalSettings
) -> Iterator[str]:
    """Yield one sentence for each replacement of the cluster's image and nodes."""
    if not ground.engine:
        yield "torch on CPU with gloo replaces the image" + (f" {image}" if image else "")
        return
    if settings.image not in (None, image):
        yield f"the image {settings.image} replaces {image or 'the image'}"
    yield f"gloo on CPU, in containers of {ground.engine}, replaces GPUs and nodes"


def _version_stand_ins(
    job: SimulatedJob, image: str, ground: Ground, settings: RehearsalSettings
) -> Iterator[str]:
    intended = torch_of(image, job.versions)
    actual = parse_version(ground.torch)
    if not has_same_torchrun(intended, actual):
        yield (
            f"PyTorch {version_text(actual)} replaces {version_text(intended)} (from the "
            "image's tag, else the "
            "profile's versions.torch, else the newest known)"
        )
    if settings.scale != 1:
        yield (
            "torchrun's timeouts and the times of the faults, except --dns-lag, are "
            f"{settings.scale:g} times shorter"
        )


def _course_stand_ins(
    job: SimulatedJob,
    faults: Sequence[Fault],
    rehearsed: Cast,
    ground: Ground,
    places: Places,
    logs: Sequence[PodLog],
) -> Iterator[str]:
    """Yield sentences about pods that only faults recreate, the files next to the script, logs that
    were too long, and limits that are not enforced.
    """
    if any(fault.back is not None and not recreated_with(job, fault.pod) for fault in faults):
        yield "the faults recreate a lost pod, which the operator does not"
    if places.files is not None and (text := describe_files(places.files)):
        yield text
    if shortened := [os.path.basename(log.path) for log in logs if log.is_shortened]:
        yield (
            f"logs longer than {MAX_BYTES >> 20} MiB keep the first and the last "
            f"{KEPT_BYTES >> 20} MiB: "
            f"{', '.join(shortened)}"
        )

    if not ground.limits_memory and any(actor.surroundings.memory for actor in rehearsed.actors):
        yield (
            "memory limits are not enforced: this machine does not let the rehearsal create cgroups"
        )


_LONG_WAIT_SECONDS = 120
"""Wait for missing pods from which shorter waits are suggested."""


def _long_wait_hint(
    job: SimulatedJob, faults: Sequence[Fault], settings: RehearsalSettings
) -> str | None:
    """Return the sentence that suggests --scale if torchrun will wait long for pods that do not
    come, or None.
    """
    agents = agents_of(job)
    if agents is None or settings.scale != 1 or settings.own_command:
        return None

    wait = max(agents.wait_for_first, agents.wait_for_others)
    may_miss_pods = not faults or any(
        fault.kind in ("late", "dns-lag") or fault.back is None for fault in faults
    )
    if wait < _LONG_WAIT_SECONDS or not may_miss_pods:
        return None
    # all pods, or enough of them, meet and train: nothing waits to the end
    if predict_end(job, faults).end in ("all", "fewer"):
        return None

    return (
        f"torchrun may wait {wait} s for missing pods: --scale 20 makes all waits 20 times shorter"
    )


def default_limit(faults: Sequence[Fault], scale: float) -> float:
    """Return the default time limit in seconds: ten minutes plus the duration of the faults."""
    return 600.0 + sum(fault.at + (fault.back or 0) for fault in faults) / scale
