"""Where a rehearsal is played: in namespaces on this machine, else in containers, and which PyTorch is there."""

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

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_VERSIONS = """
import importlib.metadata as m
print(m.version("torch"), *(name for name in ("accelerate", "deepspeed") if any(m.distributions(name=name))))
"""
"""Prints the version of PyTorch, and the launchers that are there beside torchrun."""


class Ground(NamedTuple):
    """A back end, and what its pods find."""

    backend: Backend
    python: str
    """The interpreter that trains, as a pod calls it."""
    torch: str
    """The version of its PyTorch."""
    launchers: tuple[str, ...]
    """Those that it has beside torchrun."""
    network: str
    """The first two numbers of its addresses."""
    env: Mapping[str, str]
    """What a process needs to find its programs: PATH, which an image has by itself."""
    engine: str
    """The container engine and its version; empty where pods are no containers."""


Opening = Callable[[str, RehearsalSettings, Sequence[str]], AbstractContextManager[Ground]]
"""Makes a ground whose files are in a folder, for pods of these images."""


@contextmanager
def ground(folder: str, settings: RehearsalSettings, images: Sequence[str]) -> Iterator[Ground]:
    """Namespaces where this machine lets us, else containers; those alone where an image is named.

    Raises:
        RehearsalError: there is neither, or no torch.
    """
    why = None
    if settings.image is None:
        try:
            made = Namespaces(folder)
        except RehearsalError as error:
            why = error
        else:
            with closing(made):
                yield _on_this_machine(made, settings)
            return
    engine = find_engine()
    if engine is None:
        lacking = "an image needs docker or podman, and neither answers"
        raise RehearsalError(f"{why}; neither docker nor podman answers in its place" if why else lacking)
    with _in_containers(folder, settings, images, engine) as found:
        yield found


def _on_this_machine(made: Namespaces, settings: RehearsalSettings) -> Ground:
    python = interpreter(settings.python)
    env = {"PATH": f"{os.path.dirname(os.path.abspath(python))}:{_SYSTEM}"}
    torch, *launchers = torch_and_launchers(python)
    return Ground(made, python, torch, tuple(launchers), made.network, env, "")


@contextmanager
def _in_containers(folder: str, settings: RehearsalSettings, images: Sequence[str], engine: Engine) -> Iterator[Ground]:
    used = [settings.image] if settings.image else list(dict.fromkeys(images))
    python = settings.python or "python"
    with closing(Containers(folder, engine, used)) as made:
        try:
            alone = ("run", "--rm", "--pull=never", "--network=none", f"--entrypoint={python}")
            torch, *launchers = engine.run(*alone, used[0], "-c", _VERSIONS).split()
        except RehearsalError as error:
            raise RehearsalError(
                f"{python} in the image {used[0]} has no torch ({error}): name another image with --image, or an "
                "interpreter in it with --python"
            ) from error
        yield Ground(made, python, torch, tuple(launchers), made.network, {}, f"{engine.name} {engine.version}")


def torch_and_launchers(python: str) -> list[str]:
    """The version of the PyTorch that an interpreter has, and the launchers beside torchrun.

    Raises:
        RehearsalError: the interpreter does not exist, or has no torch.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the user's interpreter
            [python, "-c", _VERSIONS], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RehearsalError(f"{python} does not run: {error}") from error
    if done.returncode:
        raise RehearsalError(
            f"{python} has no torch: name one that has it with --python, such as that of an environment where "
            "`pip install torch --index-url https://download.pytorch.org/whl/cpu` was run"
        )
    return done.stdout.split()


def interpreter(given: str | None) -> str:
    """The interpreter that trains: the one given, else the `python` of the environment that is active.

    Raises:
        RehearsalError: there is none.
    """
    found = shutil.which(given or "python") or shutil.which("python3" if given is None else given)
    if found is None:
        raise RehearsalError(f"there is no program {given or 'python'}: name one that has torch with --python")
    return os.path.abspath(found)
