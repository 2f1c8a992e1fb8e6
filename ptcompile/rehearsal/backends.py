"""Selection of a back end: namespaces on this machine if possible, else containers; and the
PyTorch that pods use.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import NamedTuple

from ptcompile._internal import files
from ptcompile.rehearsal.cast import MODULES, Actor
from ptcompile.rehearsal.containers import Containers, Engine, find_engine
from ptcompile.rehearsal.course import Backend
from ptcompile.rehearsal.namespaces import Namespaces
from ptcompile.rehearsal.places import RehearsalSettings
from ptcompile.rehearsal.settings import PROGRAMS, RehearsalError

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PREFLIGHT_PROGRAM = os.path.join(PROGRAMS, "preflight.py")
_PREFLIGHT_SECONDS = 60
_NO_TORCH = (
    "{} has no torch: use --python to name one that has it, such as that of an environment where "
    "`pip install torch --index-url https://download.pytorch.org/whl/cpu` was run"
)


class Ground(NamedTuple):
    """A back end with the programs and settings that its pods use."""

    backend: Backend
    python: str
    """Python interpreter that trains, as pods call it."""
    torch: str
    """Version of its PyTorch."""
    network: str
    """First two numbers of its IPv4 addresses."""
    env: Mapping[str, str]
    """Variables that processes need to find programs: PATH, unless an image sets it."""
    engine: str
    """Container engine and its version, or empty if pods are not containers."""
    limits_memory: bool = True
    """Whether memory limits of pods are enforced."""


Opening = Callable[[str, RehearsalSettings, Sequence[Actor]], AbstractContextManager[Ground]]
"""Opens a ground with files in a folder, for these pods."""


@contextmanager
def open_ground(
    folder: str, settings: RehearsalSettings, actors: Sequence[Actor]
) -> Iterator[Ground]:
    """Open namespaces if this machine allows them, else containers; only containers if an image is
    set.

    Raises:
        RehearsalError: neither is available, or torch, a launcher, a program or a module of the
        script is missing.
    """
    namespaces_error = None
    if settings.image is None:
        try:
            namespaces = Namespaces(folder)
        except RehearsalError as error:
            namespaces_error = error
        else:
            with closing(namespaces):
                yield _local_ground(namespaces, settings, actors)
            return

    engine = find_engine()
    if engine is None:
        message = "an image needs docker or podman, and neither answers"
        if namespaces_error:
            message = f"{namespaces_error}; neither docker nor podman answers in its place"
        raise RehearsalError(message)

    with _container_ground(folder, settings, actors, engine) as container_ground:
        yield container_ground


def _local_ground(
    namespaces: Namespaces, settings: RehearsalSettings, actors: Sequence[Actor]
) -> Ground:
    python = find_interpreter(settings.python)
    path = f"{os.path.dirname(os.path.abspath(python))}:{_SYSTEM_PATH}"
    torch = find_torch(
        python, settings.script, actors, own_path=path if settings.own_command else None
    )
    return Ground(
        namespaces, python, torch, namespaces.network, {"PATH": path}, "", namespaces.limits_memory
    )


@contextmanager
def _container_ground(
    folder: str, settings: RehearsalSettings, actors: Sequence[Actor], engine: Engine
) -> Iterator[Ground]:
    images = list(dict.fromkeys(settings.image or actor.image for actor in actors))
    python = settings.python or "python"
    image, *_ = images
    name = f"{python} in the image {image}"
    way_out = "use --image to name another image, or --python to name another interpreter in it"
    with closing(Containers(folder, engine, images)) as containers:
        options = (
            "run",
            "--rm",
            "--pull=never",
            "--network=none",
            f"--entrypoint={python}",
            image,
        )
        try:
            answer = engine.run(
                *options, "-I", "-c", _preflight_program(), "", *_launchers_of(actors)
            )
        except RehearsalError as error:
            raise RehearsalError(f"{name} has no torch ({error}): {way_out}") from error

        yield Ground(
            backend=containers,
            python=python,
            torch=_checked_torch(answer, name, f"{name} has no torch: {way_out}"),
            network=containers.network,
            env={},
            engine=f"{engine.name} {engine.version}",
            limits_memory=containers.limits_memory,
        )


def find_torch(
    python: str, script: str | None, actors: Sequence[Actor], *, own_path: str | None = None
) -> str:
    """Return the version of an interpreter's PyTorch. `own_path` is where the pods' own commands
    are searched.

    Raises:
        RehearsalError: the interpreter does not run, or torch, a launcher, a program or a module of
        the script is
            missing. It names everything that is missing.
    """
    command = [python, "-I", "-c", _preflight_program(), script or "", *_launchers_of(actors)]
    try:
        result = subprocess.run(  # noqa: S603 - the user's interpreter
            command, capture_output=True, text=True, timeout=_PREFLIGHT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RehearsalError(f"{python} does not run: {error}") from error

    programs = sorted({actor.argv[0] for actor in actors if own_path is not None})
    absent = [program for program in programs if shutil.which(program, path=own_path) is None]
    missing = [
        f"this machine has no program {program}, with which the manifest's command begins"
        for program in absent
    ]

    return _checked_torch(result.stdout, python, _NO_TORCH.format(python), missing)


def _preflight_program() -> str:
    return files.read(_PREFLIGHT_PROGRAM).decode()


def _launchers_of(actors: Sequence[Actor]) -> list[str]:
    """Return the launchers that the interpreter needs; torchrun is a part of torch."""
    return sorted({actor.argv[0] for actor in actors} & {*MODULES} - {"torchrun"})


def _checked_torch(answer: str, python: str, no_torch: str, missing: Sequence[str] = ()) -> str:
    """Return the version of PyTorch in the answer of the preflight program.

    Raises:
        RehearsalError: something is missing.
    """
    torch, *absent = answer.splitlines() or [""]
    problems = [*(f"{python} {clause}" for clause in absent), *missing]
    if not torch:
        problems.insert(0, no_torch)
    if not problems:
        return torch
    if len(problems) == 1:
        raise RehearsalError(problems[0])

    raise RehearsalError("\n  ".join(["no pod was started, for several reasons:", *problems]))


def find_interpreter(python: str | None) -> str:
    """Return the path of the interpreter that trains: `python`, or that of the active environment.

    Raises:
        RehearsalError: no interpreter was found.
    """
    path = shutil.which(python or "python") or shutil.which("python3" if python is None else python)
    if path is None:
        raise RehearsalError(
            f"program {python or 'python'} not found: use --python to name a Python that has torch"
        )
    return os.path.abspath(path)
