"""Where each pod of a rehearsal lives: its folder, its address, and the names that it and the others know it by."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ptcompile.rehearsal.cast import HOSTFILE, MODULES, SCRIPT, Actor, scaled_conf, with_fields

_HERE = os.path.dirname(os.path.abspath(__file__))
_STAND_IN = os.path.join(_HERE, "stand_in.py")
_LOCAL = ("127.0.0.1 localhost", "::1 localhost ip6-localhost")


class RehearsalSettings(NamedTuple):
    """How a rehearsal is played."""

    python: str | None = None
    """The interpreter that has torch, in the image where pods are containers; None for `python`."""
    script: str | None = None
    """A file that trains instead of ours."""
    own_command: bool = False
    """Whether pods run the manifest's own command."""
    scale: float = 1.0
    """By how much waits are shorter."""
    limit: float = 600.0
    """Seconds after which it is over."""
    image: str | None = None
    """An image that stands for the manifest's: pods are containers of it."""

    @property
    def blind(self) -> bool:
        """Whether what trains does not say what it sees, so that exits alone count."""
        return self.own_command or self.script is not None


class Places:
    """The folders of a rehearsal under one of its own."""

    def __init__(
        self, root: str, actors: Iterable[Actor], settings: RehearsalSettings, *, python: str, network: str,
        env: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._root, self._settings = root, settings
        self._python, self._network, self._around = python, network, env
        self._addresses: dict[int, str] = {}
        self._given = 0
        self.named: set[int] = set()
        """The pods whose names DNS has."""
        self._actors = tuple(actors)
        for actor in self._actors:
            os.makedirs(os.path.join(self.folder(actor.number), "tmp"))
            shutil.copyfile(settings.script or _STAND_IN, os.path.join(self.folder(actor.number), SCRIPT))
            hosts = "".join(f"{one.hostname} slots={one.processes}\n" for one in self._actors)
            _write(os.path.join(self.folder(actor.number), HOSTFILE), hosts)
        _write(os.path.join(root, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        _write(os.path.join(root, "nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files\n")

    def folder(self, pod: int) -> str:
        """A pod's own folder, the only one it can write to."""
        return os.path.join(self._root, f"pod{pod}")

    def made(self, pod: int) -> None:
        """Give a pod a new address, as a recreated pod gets one."""
        self._given += 1
        self._addresses[pod] = f"{self._network}.{self._given // 250}.{self._given % 250 + 2}"

    def gone(self, pod: int) -> None:
        """Take a pod's address and names away."""
        self._addresses.pop(pod, None)
        self.named.discard(pod)

    def config(self, pod: int, hold: float) -> dict[str, Any]:
        """What `inside` needs to know of a pod, which starts its process after `hold` seconds."""
        actor, address = self._actors[pod], self._addresses[pod]
        files = {
            "/etc/hosts": os.path.join(self._root, f"hosts{pod}"),
            "/etc/resolv.conf": os.path.join(self._root, "resolv.conf"),
            "/etc/nsswitch.conf": os.path.join(self._root, "nsswitch.conf"),
        }
        return {
            "address": f"{address}/16",
            "hostname": actor.hostname,
            "image": self._settings.image or actor.image,
            "folder": self.folder(pod),
            "directory": actor.directory if self._settings.own_command else self.folder(pod),
            "files": files,
            "argv": [with_fields(word, actor, address) for word in self._argv(actor)],
            "env": {name: with_fields(value, actor, address) for name, value in self._env(actor).items()},
            "hold": hold,
        }

    def _argv(self, actor: Actor) -> list[str]:
        first, *others = actor.argv
        if self._settings.own_command:
            return list(actor.argv)
        if first not in MODULES:
            return [self._python, *others]
        conf = [word for word in others if word.startswith(("--rdzv-conf", "--rdzv_conf"))]
        if self._settings.scale != 1 and not conf and "PET_RDZV_CONF" not in actor.env and first == "torchrun":
            others = ["--rdzv-conf=", *others]
        return [self._python, "-m", MODULES[first], *map(self._scaled, others)]

    def _scaled(self, word: str) -> str:
        name, _, conf = word.partition("=")
        if self._settings.scale == 1 or name not in ("--rdzv-conf", "--rdzv_conf"):
            return word
        return f"{name}={scaled_conf(conf, self._settings.scale)}"

    def _env(self, actor: Actor) -> Mapping[str, str]:
        """The simulated environment; around it only what a process needs to find its programs and its folder."""
        folder = self.folder(actor.number)
        env = {**self._around, "HOME": folder, "TMPDIR": os.path.join(folder, "tmp"), **actor.env}
        if self._settings.scale != 1 and "PET_RDZV_CONF" in env:
            env["PET_RDZV_CONF"] = scaled_conf(env["PET_RDZV_CONF"], self._settings.scale)
        return env

    def write_hosts(self) -> None:
        """Write every pod's /etc/hosts: its own line as the kubelet writes it, then what DNS has.

        In place and never shorter, since processes read it meanwhile.
        """
        known = [
            f"{self._addresses[actor.number]} {' '.join(actor.names)}"
            for actor in self._actors
            if actor.number in self.named and actor.names
        ]
        for actor in self._actors:
            own = (
                [f"{self._addresses[actor.number]} {' '.join(actor.own_names)}"]
                if actor.number in self._addresses
                else []
            )
            _overwrite(os.path.join(self._root, f"hosts{actor.number}"), "\n".join([*_LOCAL, *own, *known]) + "\n")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _overwrite(path: str, text: str) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    before, data = os.fstat(handle).st_size, text.encode()
    os.pwrite(handle, data + b"#" * max(0, before - len(data)), 0)
    os.close(handle)
