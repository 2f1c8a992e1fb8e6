"""The surroundings of each rehearsed pod: its folder, its address, and the names under which
pods know one another.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.rehearsal.cast import HOSTFILE, MODULES, SCRIPT, Actor, scale_conf, with_fields
from ptcompile.rehearsal.folders import copy_files, find_files, make_beneath
from ptcompile.rehearsal.settings import PROGRAMS

_STAND_IN_SCRIPT = os.path.join(PROGRAMS, "stand_in.py")
TRAINING_VARIABLE = "PTCOMPILE_TRAINING_FILE"
TRAINING_FILE = "training"
"""Variable with the path of a file that the user's script may create when it trains, and the
file's name.
"""
_SERVICE_NUMBERS = 128
"""From here on the third number of an address is that of a Service."""
_MAX_SCRIPT_BYTES = 1 << 20
_LOOPBACK_HOSTS = ("127.0.0.1 localhost", "::1 localhost ip6-localhost")


class RehearsalSettings(NamedTuple):
    """Options of a rehearsal."""

    python: str | None = None
    """Interpreter that has torch, inside the image if pods are containers; None for `python`."""
    script: str | None = None
    """File that trains instead of the stand-in script."""
    own_command: bool = False
    """Whether pods run the manifest's command."""
    scale: float = 1.0
    """Factor by which timeouts and waits are shortened."""
    limit: float = 600.0
    """Time limit in seconds."""
    image: str | None = None
    """Image that replaces the manifest's; pods then run as containers."""
    keep_logs: str | None = None
    """Folder for the pods' logs, or None to remove them at the end."""

    mounts: Mapping[str, str] = {}  # shared by all settings: never changed
    """Folders of this machine by the claim that they replace."""
    restarts: bool = True
    """Whether the operator and the kubelet start failed pods again."""

    @property
    def is_blind(self) -> bool:
        """Whether the training script reports nothing, so only exit statuses can be compared."""
        return self.own_command or self.script is not None


class Places:
    """The folders, addresses and host files of all pods, under one root folder."""

    def __init__(
        self, root: str, actors: Iterable[Actor], settings: RehearsalSettings, *, python: str, network: str,
        env: Mapping[str, str], in_containers: bool,
    ) -> None:  # fmt: skip
        self._root = root
        self._settings = settings
        self._python = python
        self._network = network
        self._base_env = env
        self._in_containers = in_containers
        self._addresses: dict[int, str] = {}
        self._address_count = 0
        self.resolvable: set[int] = set()
        """Pods whose names DNS resolves."""
        self._actors = tuple(actors)
        self.files = find_files(settings.script) if settings.script else None
        """The user's script and the files next to it."""
        _write(
            os.path.join(root, "resolv.conf"),
            "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        )
        _write(os.path.join(root, "nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files\n")

    def folder(self, pod: int) -> str:
        """Return a pod's folder, the only one it can write to."""
        return os.path.join(self._root, f"pod{pod}")

    def renew(self, pod: int, *, keep_volumes: bool) -> None:
        """Create a pod's folder and volumes, without anything that an earlier life of the pod wrote
        there.

        `keep_volumes`: only the container starts again, so the volumes of its pod remain.
        """
        folder = self.folder(pod)
        script_folder = self._script_folder(pod)
        if not keep_volumes:
            shutil.rmtree(self._volumes(pod), ignore_errors=True)
        os.makedirs(os.path.join(self._volumes(pod), "root"), exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "tmp"))
        os.makedirs(script_folder, exist_ok=True)
        if self.files is None:
            shutil.copyfile(_STAND_IN_SCRIPT, os.path.join(folder, SCRIPT))
        else:
            copy_files(self.files, script_folder)

        hosts = "".join(f"{peer.hostname} slots={peer.processes}\n" for peer in self._actors)
        _write(os.path.join(script_folder, HOSTFILE), hosts)

    def _volumes(self, pod: int) -> str:
        """Return the folder of a pod's volumes, and of the mount point of its root."""
        return os.path.join(self._root, f"volumes{pod}")

    def _mounts(self, actor: Actor) -> list[JsonDict]:
        """Return what is mounted where in a pod: the folder of this machine, as a top and a path
        below it.
        """
        mounts = []
        for volume in actor.surroundings.volumes:
            if volume.claim is None:
                folder = os.path.join(self._volumes(actor.number), "empty", volume.name)
                os.makedirs(folder, exist_ok=True)
            else:
                folder = self._settings.mounts[volume.claim]
            top = os.path.realpath(folder)
            mounts.append({
                "path": volume.path,
                "top": top,
                "below": make_beneath(top, volume.sub_path),
                "is_read_only": volume.is_read_only,
            })  # fmt: skip

        return mounts

    def _script_folder(self, pod: int) -> str:
        """Return the folder in which a pod's script runs."""
        if self.files is None:
            return self.folder(pod)
        return os.path.join(self.folder(pod), "files")

    def script_marks_training(self) -> bool:
        """Return whether the user's script mentions the variable with which it can say that it
        trains.
        """
        if self.files is None:
            return False
        with open(os.path.join(self.files.folder, self.files.script), "rb") as file:
            return TRAINING_VARIABLE.encode() in file.read(_MAX_SCRIPT_BYTES)

    def assign_address(self, pod: int) -> None:
        """Assign a new address to a pod, as when it is recreated."""
        self._address_count += 1
        self._addresses[pod] = (
            f"{self._network}.{self._address_count // 250}.{self._address_count % 250 + 2}"
        )

    def _service_address(self, pod: int) -> str:
        """Return the address of the Services with a cluster IP that select a pod: a second one of
        the pod's interface, which its host name does not lead to. A pod in a container has one
        address.
        """
        address = self._addresses[pod]
        if self._in_containers:
            return address

        *network, high, low = address.split(".")
        return ".".join([*network, str(int(high) + _SERVICE_NUMBERS), low])

    def release_address(self, pod: int) -> None:
        """Release a pod's address and names."""
        self._addresses.pop(pod, None)
        self.resolvable.discard(pod)

    def config(self, pod: int, hold: float, log: str) -> JsonDict:
        """Return the configuration with which `inside` sets up a pod and starts its process after
        `hold` seconds.

        The process writes to the file `log`.
        """
        actor = self._actors[pod]
        address = self._addresses[pod]
        files = {
            "/etc/hosts": os.path.join(self._root, f"hosts{pod}"),
            "/etc/resolv.conf": os.path.join(self._root, "resolv.conf"),
            "/etc/nsswitch.conf": os.path.join(self._root, "nsswitch.conf"),
        }

        return {
            "address": f"{address}/16",
            "service_address": f"{self._service_address(pod)}/16" if actor.service_names else None,
            "hostname": actor.hostname,
            "image": self._settings.image or actor.image,
            "folder": self.folder(pod),
            "directory": actor.directory
            if self._settings.own_command
            else self._script_folder(pod),
            "log": log,
            "mounts": self._mounts(actor),
            "root": os.path.join(self._volumes(pod), "root"),
            "shm": actor.surroundings.shm,
            "memory": actor.surroundings.memory,
            "files": files,
            "argv": [with_fields(argument, actor, address) for argument in self._argv(actor)],
            "env": {
                name: with_fields(value, actor, address) for name, value in self._env(actor).items()
            },
            "hold": hold,
        }

    def _argv(self, actor: Actor) -> list[str]:
        """Return the command line that plays a pod's command on this machine."""
        name = self.files.script if self.files else SCRIPT
        program, *arguments = (name if argument == SCRIPT else argument for argument in actor.argv)
        if self._settings.own_command:
            return list(actor.argv)
        if program not in MODULES:
            return [self._python, *arguments]

        has_conf = "PET_RDZV_CONF" in actor.env or any(
            argument.startswith(("--rdzv-conf", "--rdzv_conf")) for argument in arguments
        )
        # torchrun's default timeouts are scaled too
        if self._settings.scale != 1 and not has_conf and program == "torchrun":
            arguments = ["--rdzv-conf=", *arguments]

        return [self._python, "-m", MODULES[program], *map(self._scale_argument, arguments)]

    def _scale_argument(self, argument: str) -> str:
        name, _, conf = argument.partition("=")
        if self._settings.scale == 1 or name not in ("--rdzv-conf", "--rdzv_conf"):
            return argument
        return f"{name}={scale_conf(conf, self._settings.scale)}"

    def _env(self, actor: Actor) -> Mapping[str, str]:
        """Return the simulated environment, plus the variables that processes need to find programs
        and their folder.
        """
        folder = self.folder(actor.number)
        env = {**self._base_env, "HOME": folder, "TMPDIR": os.path.join(folder, "tmp"), **actor.env}
        if self._settings.is_blind:
            env[TRAINING_VARIABLE] = os.path.join(folder, TRAINING_FILE)
        if self._settings.scale != 1 and "PET_RDZV_CONF" in env:
            env["PET_RDZV_CONF"] = scale_conf(env["PET_RDZV_CONF"], self._settings.scale)
        return env

    def write_hosts(self) -> None:
        """Write every pod's /etc/hosts: its own line as the kubelet writes it, then the names in
        DNS.

        Files are overwritten in place and never get shorter, because processes read them meanwhile.
        """
        dns_lines = []
        for actor in self._actors:
            if actor.number not in self.resolvable:
                continue
            if actor.names:
                dns_lines.append(
                    f"{self._addresses[actor.number]} {' '.join(names_in_dns(actor.names))}"
                )
            if actor.service_names:
                names = " ".join(names_in_dns(actor.service_names))
                dns_lines.append(f"{self._service_address(actor.number)} {names}")

        for actor in self._actors:
            lines = [*_LOOPBACK_HOSTS]
            if actor.number in self._addresses:
                lines.append(f"{self._addresses[actor.number]} {' '.join(actor.own_names)}")
            path = os.path.join(self._root, f"hosts{actor.number}")
            _overwrite(path, "\n".join([*lines, *dns_lines, ""]))


def names_in_dns(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of a pod in DNS; a full one may end in a dot, which a hosts file takes for
    another name.
    """
    for name in names:
        yield name
        if ".svc." in name:
            yield f"{name}."


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _overwrite(path: str, text: str) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    old_size = os.fstat(handle).st_size
    data = text.encode()
    os.pwrite(handle, data + b"#" * max(0, old_size - len(data)), 0)
    os.close(handle)
