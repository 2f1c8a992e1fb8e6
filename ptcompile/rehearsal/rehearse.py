"""One rehearsal: a job's pods as real processes, the faults that are asked for, and the verdict."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from typing import NamedTuple

from ptcompile.rehearsal.actors import Actor, cast
from ptcompile.rehearsal.course import Backend, Course, Progress
from ptcompile.rehearsal.errors import RehearsalError
from ptcompile.rehearsal.judge import Verdict, judge
from ptcompile.rehearsal.namespaces import Namespaces
from ptcompile.rehearsal.places import Places, Settings
from ptcompile.rehearsal.seen import Seen
from ptcompile.secrets.masking import hide_of
from ptcompile.simulation.faults import Fault
from ptcompile.simulation.pod import Job

Opening = Callable[[str], AbstractContextManager[Backend]]
"""Makes a back end whose files are in a folder."""


class Rehearsal(NamedTuple):
    """What was played and how it ended. Times are seconds."""

    job: Job
    actors: tuple[Actor, ...]
    faults: tuple[Fault, ...]
    settings: Settings
    torch: str
    """The version of PyTorch."""
    seen: tuple[Seen, ...]
    verdict: Verdict
    stand_ins: tuple[str, ...]
    seconds: float
    limited: bool
    """Whether the time limit ended it."""


def torch_version(python: str) -> str:
    """The version of the PyTorch that an interpreter has.

    Raises:
        RehearsalError: there is no such interpreter, or it has none.
    """
    code = "import importlib.metadata as m; print(m.version('torch'))"
    try:
        done = subprocess.run(  # noqa: S603 - the user's interpreter
            [python, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RehearsalError(f"{python} does not run: {error}") from error
    if done.returncode:
        raise RehearsalError(
            f"{python} has no torch: name an interpreter that has it with --python, such as that of an environment "
            "where "
            "`pip install torch --index-url https://download.pytorch.org/whl/cpu` was run"
        )
    return done.stdout.strip()


def namespaces(folder: str) -> AbstractContextManager[Backend]:
    """The back end of Linux namespaces."""
    return closing(Namespaces(folder))


def rehearse(
    job: Job,
    faults: Sequence[Fault] = (),
    *,
    settings: Settings,
    most: int = 2,
    progress: Progress = lambda line: None,
    opening: Opening = namespaces,
) -> Rehearsal:
    """Play a job. `most` is how many processes a pod has at most.

    Raises:
        RehearsalError: nobody can play the job or a fault, or this machine cannot.
    """
    played = cast(job, most=most, own_command=settings.own_command, script=settings.script)
    for one in faults:
        if one.pod >= len(played.actors):
            raise RehearsalError(f"no pod {one.pod} to {one.kind}: {len(played.actors)} train, counted from 0")
    torch = torch_version(settings.python)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ptcompile-rehearsal-") as folder:
        places = Places(folder, played.actors, settings)
        with opening(folder) as backend:
            course = Course(played.actors, faults, places, backend, settings)
            seen = course.play(progress)
    if hide := hide_of([job.manifest]):
        seen = tuple(one._replace(error=hide(one.error) if one.error else None) for one in seen)
    verdict = judge(job, played.actors, faults, seen, blind=settings.blind)
    stand_ins = played.stand_ins
    if settings.scale != 1:
        stand_ins = (*stand_ins, f"torchrun's waits and the times of the faults are {settings.scale:g} times shorter")
    return Rehearsal(
        job, played.actors, tuple(faults), settings, torch, seen, verdict, stand_ins,
        time.monotonic() - begun, course.limited,
    )  # fmt: skip


def enough(faults: Sequence[Fault], scale: float) -> float:
    """Seconds after which a rehearsal with these faults is over for good: ten minutes, and what the faults take."""
    return 600.0 + sum(one.at + (one.back or 0) for one in faults) / scale


def interpreter(given: str | None) -> str:
    """The interpreter that trains: the one given, else the `python` of the environment that is active.

    Raises:
        RehearsalError: there is none.
    """
    import shutil

    found = shutil.which(given or "python") or shutil.which("python3" if given is None else given)
    if found is None:
        raise RehearsalError(f"there is no program {given or 'python'}: name one that has torch with --python")
    return os.path.abspath(found)
