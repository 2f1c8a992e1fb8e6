"""The back end that runs pods as containers of docker or podman."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.rehearsal.course import Joined
from ptcompile.rehearsal.settings import PROGRAMS, RehearsalError

_INFO_FORMATS = {
    "docker": "{{.ServerVersion}} {{.SecurityOptions}}",
    "podman": "{{.Version.Version}} rootless={{.Host.Security.Rootless}}",
}
"""Format strings that make each engine print its version and whether it runs rootless."""
_ISOLATION_OPTIONS = {
    "docker": ("--opt", "com.docker.network.bridge.inhibit_ipv4=true"),
    "podman": ("--disable-dns",),
}
"""Options that leave the bridge of an internal network without an address, so pods cannot reach
this machine.
"""
_COMMAND_TIMEOUT_SECONDS = 120
"""Time limit of one engine command."""


class Engine(NamedTuple):
    """A container engine of this machine."""

    name: str
    """Name of its program: `docker` or `podman`."""
    version: str
    user: str
    """User and group in a container that map to those of this process."""
    is_rootless: bool = False
    """Whether it runs without root, so that it may not be allowed to limit memory."""

    @property
    def isolation_options(self) -> tuple[str, ...]:
        """Options of an internal network that cut it off from this machine too."""
        return _ISOLATION_OPTIONS[self.name]

    def run(self, *arguments: str) -> str:
        """Run one engine command and return its output.

        Raises:
            RehearsalError: the command failed.
        """
        command, *_ = arguments
        try:
            result = subprocess.run(  # noqa: S603 - the user's engine
                (self.name, *arguments),
                capture_output=True,
                text=True,
                timeout=_COMMAND_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RehearsalError(f"{self.name} {command} does not answer: {error}") from error

        if result.returncode:
            raise RehearsalError(f"{self.name} {command} failed: {result.stderr.strip()[-500:]}")

        return result.stdout.strip()


def find_engine() -> Engine | None:
    """Return the first engine that answers, or None."""
    return next((engine for name in _INFO_FORMATS if (engine := _engine(name)) is not None), None)


def _engine(name: str) -> Engine | None:
    if shutil.which(name) is None:
        return None

    try:
        version, _, about = (
            Engine(name, "", "").run("info", "--format", _INFO_FORMATS[name]).partition(" ")
        )
    except RehearsalError:
        return None

    rootless = "rootless=true" in about or "name=rootless" in about
    user = "0:0" if rootless else f"{os.getuid()}:{os.getgid()}"

    return Engine(name, version, user, rootless) if version else None


def missing_images(engine: Engine, images: Iterable[str]) -> list[str]:
    """Return the images that an engine does not have; nothing is pulled."""
    missing = []
    for image in images:
        try:
            engine.run("image", "inspect", image)
        except RehearsalError:
            missing.append(image)
    return missing


_SWEEP_PROGRAM = os.path.join(PROGRAMS, "sweep.py")
_CLEANUP_TIMEOUT_SECONDS = 60
"""Time limit of the sweeper for removing all containers."""
_NETWORK_NUMBERS = range(77, 109)
"""Candidates for N in 10.N.0.0/16: the first network that is not in use is taken."""
_HOST_SHM_BYTES = 8 << 30
"""Size of /dev/shm in a pod that shares this machine's."""
_NOT_STARTED = 125
"""Exit status of `docker run` and `podman run` if no container started."""
_RUN_OPTIONS = (
    "--rm", "--pull=never", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=label=disable",
    "--read-only", "--tmpfs=/tmp", "--tmpfs=/run", "--sysctl=net.ipv6.conf.all.disable_ipv6=1",
)  # fmt: skip
"""Options that match the namespaces: only the pod's folder is writable, no capabilities, no
IPv6. `label`: SELinux.
"""


class Containers:
    """Pods as containers. All of them end with `close`, or with the process that created this
    object.
    """

    def __init__(self, folder: str, engine: Engine, images: Sequence[str]) -> None:
        if absent := missing_images(engine, images):
            raise RehearsalError(
                f"{engine.name} has no image {', '.join(absent)}: pull it, or name an image that "
                "has torch with --image"
            )

        self.limits_memory = not engine.is_rootless
        """Whether memory limits of pods are enforced: an engine without root may not be allowed
        to.
        """
        self._engine = engine
        self._folder = folder
        self._label = os.path.basename(folder)
        self._running: dict[int, tuple[str, str, subprocess.Popen[bytes]]] = {}
        """Log file, container name and waiting client process of each pod."""
        self._numbers = itertools.count()
        self._sweeper = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", _SWEEP_PROGRAM, engine.name, self._label],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            self.network = self._make_network()
        except RehearsalError:
            self.close()
            raise

    def _make_network(self) -> str:
        """Create the job's network and return the first two numbers of its addresses."""
        why = ""
        for number in _NETWORK_NUMBERS:
            options = (
                "--internal",
                *self._engine.isolation_options,
                f"--subnet=10.{number}.0.0/16",
                self._label,
            )
            try:
                self._engine.run("network", "create", *options)
            except RehearsalError as error:
                why = str(error)
            else:
                return f"10.{number}"

        raise RehearsalError(f"no network for the pods: {why}")

    def start(self, pod: int, config: JsonDict) -> None:
        """Start a pod from the configuration that namespaces use too, with its image."""
        name = f"{self._label}-{next(self._numbers)}"
        with open(config["log"], "ab") as log:
            options = (*_RUN_OPTIONS, *self._container_options(name, config))
            client = subprocess.Popen(  # noqa: S603
                [self._engine.name, "run", *options, *_image_and_command(config)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._running[pod] = (log.name, name, client)

    def _container_options(self, name: str, config: JsonDict) -> Iterator[str]:
        yield from (f"--name={name}", f"--label={self._label}", f"--network={self._label}")
        yield from (
            f"--ip={config['address'].partition('/')[0]}",
            f"--hostname={config['hostname']}",
        )
        yield f"--user={self._engine.user}"
        if config["directory"]:
            yield f"--workdir={config['directory']}"
        yield f"--volume={config['folder']}:{config['folder']}"
        yield from (f"--volume={path}:{target}:ro" for target, path in config["files"].items())
        for mount in config["mounts"]:
            source = os.path.normpath(os.path.join(mount["top"], mount["below"]))
            mode = ":ro" if mount["is_read_only"] else ""
            yield f"--volume={source}:{mount['path']}{mode}"

        yield f"--shm-size={config['shm'] or _HOST_SHM_BYTES}"
        if self.limits_memory and config["memory"]:
            yield from (f"--memory={config['memory']}", f"--memory-swap={config['memory']}")
        variables = os.path.join(self._folder, f"{name}.env")
        # command lines would reveal secrets in the process list
        with open(variables, "w", encoding="utf-8") as file:
            file.writelines(
                f"{key}={value}\n" for key, value in config["env"].items() if "\n" not in value
            )

        yield f"--env-file={variables}"
        yield from (f"--env={key}={value}" for key, value in config["env"].items() if "\n" in value)

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to a pod's first process."""
        if pod in self._running:
            _, name, _ = self._running[pod]
            # the container may have exited a moment ago
            with contextlib.suppress(RehearsalError):
                self._engine.run("kill", f"--signal={number}", name)

    def training_pods(self) -> dict[int, Joined] | None:
        """Return None: engines do not show the connections of a container."""
        return None

    def ran_out_of_memory(self, pod: int) -> bool:
        """Return False: engines forget a container that has ended."""
        return False

    def fail_process(self, pod: int) -> bool:
        """Return False: engines do not show which process trains."""
        return False

    def exits(self) -> Iterator[tuple[int, int]]:
        """Yield the pods that exited since the last call, with their exit status.

        Raises:
            RehearsalError: the engine could not start a container.
        """
        for pod, (log, _, client) in list(self._running.items()):
            code = client.poll()
            if code == _NOT_STARTED:
                with open(log, encoding="utf-8", errors="replace") as file:
                    why = file.read().strip()[-500:]
                raise RehearsalError(
                    f"{self._engine.name} could not start the container of pod {pod}: {why}"
                )

            if code is not None:
                del self._running[pod]
                yield pod, code

    def close(self) -> None:
        """Remove all containers and the network, through the sweeper, which also does so if this
        process dies.
        """
        with contextlib.suppress(OSError):
            if self._sweeper.stdin is not None:
                self._sweeper.stdin.close()
        try:
            self._sweeper.wait(_CLEANUP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._sweeper.kill()
            self._sweeper.wait()

        for _, _, client in self._running.values():
            client.kill()
            client.wait()


def _image_and_command(config: JsonDict) -> Iterator[str]:
    """Yield the image and its command. A late pod starts a shell that sleeps first, so its
    container exists already.
    """
    program, *arguments = config["argv"]
    if config["hold"]:
        yield from (
            "--entrypoint=sh",
            config["image"],
            "-c",
            'sleep "$0" && exec "$@"',
            str(config["hold"]),
            program,
        )
    else:
        yield from (f"--entrypoint={program}", config["image"])

    yield from arguments
