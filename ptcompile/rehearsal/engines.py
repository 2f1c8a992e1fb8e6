"""The container engines that a rehearsal can use, and what differs between them (docker 20.10, podman 4.3)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from ptcompile.rehearsal.errors import RehearsalError

_INFO = {
    "docker": "{{.ServerVersion}} {{.SecurityOptions}}",
    "podman": "{{.Version.Version}} rootless={{.Host.Security.Rootless}}",
}
"""What each is asked for: its version, and whether it runs as a user."""
_ISOLATED = {
    "docker": ("--opt", "com.docker.network.bridge.inhibit_ipv4=true"),
    "podman": ("--disable-dns",),
}
"""What leaves an internal network's bridge without an address, through which pods would reach this machine."""
_PATIENCE = 120
"""Seconds that an engine has for one command."""


class Engine(NamedTuple):
    """A container engine that answers."""

    name: str
    """`docker` or `podman`: its program."""
    version: str
    user: str
    """The user and group in a container that are those of this process outside."""

    @property
    def isolated(self) -> tuple[str, ...]:
        """Options of an internal network that keep this machine out of it too."""
        return _ISOLATED[self.name]

    def run(self, *words: str) -> str:
        """The output of one command.

        Raises:
            RehearsalError: it failed.
        """
        try:
            done = subprocess.run(  # noqa: S603 - the user's engine
                (self.name, *words), capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RehearsalError(f"{self.name} {words[0]} does not answer: {error}") from error
        if done.returncode:
            raise RehearsalError(f"{self.name} {words[0]} failed: {done.stderr.strip()[-500:]}")
        return done.stdout.strip()


def find_engine() -> Engine | None:
    """The first engine that answers."""
    return next((found for name in _INFO if (found := _engine(name)) is not None), None)


def _engine(name: str) -> Engine | None:
    if shutil.which(name) is None:
        return None
    try:
        version, _, about = Engine(name, "", "").run("info", "--format", _INFO[name]).partition(" ")
    except RehearsalError:
        return None
    rootless = "rootless=true" in about or "name=rootless" in about
    return Engine(name, version, "0:0" if rootless else f"{os.getuid()}:{os.getgid()}") if version else None


def missing(engine: Engine, images: Iterable[str]) -> list[str]:
    """The images that an engine does not have; it is never told to pull one."""
    absent = []
    for image in images:
        try:
            engine.run("image", "inspect", image)
        except RehearsalError:
            absent.append(image)
    return absent
