"""Selection of a back end: namespaces on this machine if possible, else containers; and the PyTorch that pods use."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import NamedTuple

from ptcompile.rehearsal.containers import Containers, Engine, find_engine
from ptcompile.rehearsal.course import Backend
from ptcompile.rehearsal.namespaces import Namespaces
from ptcompile.rehearsal.places import RehearsalSettings
from ptcompile.rehearsal.settings import RehearsalError

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_VERSIONS_SCRIPT = """
import importlib.metadata as m
print(m.version("torch"), *(name for name in ("accelerate", "deepspeed") if any(m.distributions(name=name))))
"""
"""Script that prints the version of PyTorch and the installed launchers other than torchrun."""


class Ground(NamedTuple):
    """A back end with the programs and settings that its pods use."""

    backend: Backend
    python: str
    """Python interpreter that trains, as pods call it."""
    torch: str
    """Version of its PyTorch."""
    launchers: tuple[str, ...]
    """Installed launchers other than torchrun."""
    network: str
    """First two numbers of its IPv4 addresses."""
    env: Mapping[str, str]
    """Variables that processes need to find programs: PATH, unless an image sets it."""
    engine: str
    """Container engine and its version, or empty if pods are not containers."""
    limits_memory: bool = True
    """Whether memory limits of pods are enforced."""


Opening = Callable[[str, RehearsalSettings, Sequence[str]], AbstractContextManager[Ground]]
"""Opens a ground with files in a folder, for pods of these images."""


@contextmanager
def open_ground(folder: str, settings: RehearsalSettings, images: Sequence[str]) -> Iterator[Ground]:
    """Open namespaces if this machine allows them, else containers; only containers if an image is set.

    Raises:
        RehearsalError: neither is available, or torch is missing.
    """
    namespaces_error = None
    if settings.image is None:
        try:
            namespaces = Namespaces(folder)
        except RehearsalError as error:
            namespaces_error = error
        else:
            with closing(namespaces):
                yield _local_ground(namespaces, settings)
            return
    engine = find_engine()
    if engine is None:
        message = "an image needs docker or podman, and neither answers"
        raise RehearsalError(
            f"{namespaces_error}; neither docker nor podman answers in its place" if namespaces_error else message
        )
    with _container_ground(folder, settings, images, engine) as container_ground:
        yield container_ground


def _local_ground(namespaces: Namespaces, settings: RehearsalSettings) -> Ground:
    python = find_interpreter(settings.python)
    env = {"PATH": f"{os.path.dirname(os.path.abspath(python))}:{_SYSTEM_PATH}"}
    torch, *launchers = torch_and_launchers(python)
    return Ground(namespaces, python, torch, tuple(launchers), namespaces.network, env, "", namespaces.limits_memory)


@contextmanager
def _container_ground(
    folder: str, settings: RehearsalSettings, images: Sequence[str], engine: Engine
) -> Iterator[Ground]:
    images_used = [settings.image] if settings.image else list(dict.fromkeys(images))
    python = settings.python or "python"
    with closing(Containers(folder, engine, images_used)) as containers:
        try:
            options = ("run", "--rm", "--pull=never", "--network=none", f"--entrypoint={python}")
            torch, *launchers = engine.run(*options, images_used[0], "-I", "-c", _VERSIONS_SCRIPT).split()
        except RehearsalError as error:
            raise RehearsalError(
                f"{python} in the image {images_used[0]} has no torch ({error}): use --image to name another "
                "image, or --python to name another interpreter in it"
            ) from error
        yield Ground(
            containers,
            python,
            torch,
            tuple(launchers),
            containers.network,
            {},
            f"{engine.name} {engine.version}",
            containers.limits_memory,
        )


def torch_and_launchers(python: str) -> list[str]:
    """Return the version of an interpreter's PyTorch, followed by its launchers other than torchrun.

    Raises:
        RehearsalError: the interpreter does not exist or has no torch.
    """
    try:
        result = subprocess.run(  # noqa: S603 - the user's interpreter
            [python, "-I", "-c", _VERSIONS_SCRIPT], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RehearsalError(f"{python} does not run: {error}") from error
    if result.returncode:
        raise RehearsalError(
            f"{python} has no torch: use --python to name one that has it, such as that of an environment where "
            "`pip install torch --index-url https://download.pytorch.org/whl/cpu` was run"
        )
    return result.stdout.split()


def find_interpreter(python: str | None) -> str:
    """Return the path of the interpreter that trains: `python`, or that of the active environment.

    Raises:
        RehearsalError: no interpreter was found.
    """
    path = shutil.which(python or "python") or shutil.which("python3" if python is None else python)
    if path is None:
        raise RehearsalError(f"program {python or 'python'} not found: use --python to name a Python that has torch")
    return os.path.abspath(path)
