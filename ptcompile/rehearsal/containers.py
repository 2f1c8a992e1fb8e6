"""Rehearsals in containers of docker or podman."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ptcompile.rehearsal.settings import RehearsalError

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


_SWEEP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sweep.py")
_ENDING = 60
"""Seconds that the sweeper has to remove all containers."""
_NETWORKS = range(77, 109)
"""The second number of 10.N.0.0/16: the first network that nothing on this machine uses is taken."""
_NOT_STARTED = 125
"""What `docker run` and `podman run` exit with where no container started."""
_AROUND = (
    "--rm", "--pull=never", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=label=disable",
    "--read-only", "--tmpfs=/tmp", "--tmpfs=/run", "--shm-size=1g", "--sysctl=net.ipv6.conf.all.disable_ipv6=1",
)  # fmt: skip
"""As the namespaces: nothing but the pod's folder is writable, no capabilities, no IPv6. label: SELinux."""


class Containers:
    """Pods as containers. Everything of it ends with `close`, or with the process that made it."""

    def __init__(self, folder: str, engine: Engine, images: Sequence[str]) -> None:
        if absent := missing(engine, images):
            raise RehearsalError(
                f"{engine.name} has no image {', '.join(absent)}: pull it, or name an image that has torch with --image"
            )
        self._engine, self._folder, self._label = engine, folder, os.path.basename(folder)
        self._running: dict[int, tuple[str, str, subprocess.Popen[bytes]]] = {}
        """Each pod's log, the name of its container, and the program that waits for that."""
        self._numbers = itertools.count()
        self._sweeper = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", _SWEEP, engine.name, self._label],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            self.network = self._make_network()
        except RehearsalError:
            self.close()
            raise

    def _make_network(self) -> str:
        """Create the network of the job; the first two numbers of its addresses."""
        why = ""
        for number in _NETWORKS:
            words = ("--internal", *self._engine.isolated, f"--subnet=10.{number}.0.0/16", self._label)
            try:
                self._engine.run("network", "create", *words)
            except RehearsalError as error:
                why = str(error)
            else:
                return f"10.{number}"
        raise RehearsalError(f"no network for the pods: {why}")

    def start(self, pod: int, config: dict[str, Any]) -> None:
        """Start a pod: what a pod in namespaces is told, and its image."""
        name = f"{self._label}-{next(self._numbers)}"
        with open(os.path.join(config["folder"], "log"), "ab") as log:
            client = subprocess.Popen(  # noqa: S603
                [self._engine.name, "run", *_AROUND, *self._options(name, config), *_command(config)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._running[pod] = (log.name, name, client)

    def _options(self, name: str, config: dict[str, Any]) -> Iterator[str]:
        yield from (f"--name={name}", f"--label={self._label}", f"--network={self._label}")
        yield from (f"--ip={config['address'].partition('/')[0]}", f"--hostname={config['hostname']}")
        yield f"--user={self._engine.user}"
        if config["directory"]:
            yield f"--workdir={config['directory']}"
        yield f"--volume={config['folder']}:{config['folder']}"
        yield from (f"--volume={path}:{target}:ro" for target, path in config["files"].items())
        variables = os.path.join(self._folder, f"{name}.env")
        with open(variables, "w", encoding="utf-8") as file:  # where no list of processes shows a secret
            file.writelines(f"{key}={value}\n" for key, value in config["env"].items() if "\n" not in value)
        yield f"--env-file={variables}"
        yield from (f"--env={key}={value}" for key, value in config["env"].items() if "\n" in value)

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to a pod's first process."""
        if pod in self._running:
            with contextlib.suppress(RehearsalError):  # it has just ended
                self._engine.run("kill", f"--signal={number}", self._running[pod][1])

    def exits(self) -> Iterator[tuple[int, int]]:
        """The pods that have ended since the last call, each with its exit status.

        Raises:
            RehearsalError: the engine could not start one.
        """
        for pod, (log, _, client) in list(self._running.items()):
            code = client.poll()
            if code == _NOT_STARTED:
                with open(log, encoding="utf-8", errors="replace") as file:
                    why = file.read().strip()[-500:]
                raise RehearsalError(f"{self._engine.name} could not start the container of pod {pod}: {why}")
            if code is not None:
                del self._running[pod]
                yield pod, code

    def close(self) -> None:
        """Remove all containers and the network: the sweeper does when its input ends, as it would without us."""
        with contextlib.suppress(OSError):
            if self._sweeper.stdin is not None:
                self._sweeper.stdin.close()
        try:
            self._sweeper.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._sweeper.kill()
            self._sweeper.wait()
        for _, _, client in self._running.values():
            client.kill()
            client.wait()


def _command(config: dict[str, Any]) -> Iterator[str]:
    """The image and what runs in it; of a pod that is late a shell sleeps first, in the pod's own place."""
    first, *others = config["argv"]
    if config["hold"]:
        yield from ("--entrypoint=sh", config["image"], "-c", 'sleep "$0" && exec "$@"', str(config["hold"]), first)
    else:
        yield from (f"--entrypoint={first}", config["image"])
    yield from others
