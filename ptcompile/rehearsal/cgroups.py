"""Memory limits of pods in namespaces, by cgroups if this process may create them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator

from ptcompile.rehearsal.folders import PREFIX

_ROOT = "/sys/fs/cgroup"


class MemoryLimits:
    """The cgroups of a rehearsal's pods."""

    def __init__(self, name: str, root: str = _ROOT) -> None:
        """Find a cgroup below which this process may create others; `name` begins their names."""
        self._name = name
        self._parent = next(
            (parent for parent in _parents(root) if self._works_below(parent)), None
        )
        self._groups: dict[int, str] = {}
        if self._parent is not None:
            _remove_leftovers(self._parent)

    @property
    def works(self) -> bool:
        """Whether memory can be limited."""
        return self._parent is not None

    def _works_below(self, parent: str) -> bool:
        """Return whether a process can be limited below a cgroup: tries it with one that ends at
        once.
        """
        group = os.path.join(parent, f"{self._name}-probe")
        try:
            os.mkdir(group)
        except OSError:
            return False

        try:
            _limit(group, 1 << 30)
            join = ("sh", "-c", 'echo 0 > "$0/cgroup.procs"', group)
            return subprocess.run(join, capture_output=True, check=False).returncode == 0  # noqa: S603
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(group)

    def group(self, pod: int, limit: int | None) -> str | None:
        """Return the cgroup of a pod with a memory limit in bytes, or None if its memory is not
        limited.
        """
        if self._parent is None or limit is None:
            return None
        group = os.path.join(self._parent, f"{self._name}-pod{pod}")
        os.makedirs(group, exist_ok=True)
        _limit(group, limit)
        self._groups[pod] = group
        return group

    def ran_out(self, pod: int) -> bool:
        """Return whether the kernel killed a process of a pod that used more memory than its
        limit.
        """
        return pod in self._groups and _oom_kills(self._groups[pod]) > 0

    def close(self) -> None:
        """Remove the cgroups, whose processes have ended."""
        for group in self._groups.values():
            with contextlib.suppress(OSError):
                os.rmdir(group)


def _parents(root: str) -> Iterator[str]:
    """Yield cgroups with the memory controller: this process's own (version 1), else it and
    those above (version 2).
    """
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return

    for _, controllers, path in rows:
        if "memory" in controllers.split(","):
            yield os.path.normpath(f"{root}/memory{path}")
        elif not controllers and os.path.exists(os.path.join(root, "cgroup.controllers")):
            group = os.path.normpath(f"{root}{path}")
            while group.startswith(root):
                if "memory" in _read(os.path.join(group, "cgroup.subtree_control")).split():
                    yield group
                group = os.path.dirname(group)


def _remove_leftovers(parent: str) -> None:
    """Remove the cgroups of killed rehearsals, whose folders are gone. The kernel keeps those
    with processes.
    """
    for name in os.listdir(parent):
        folder, _, _ = name.rpartition("-")
        if name.startswith(PREFIX) and not os.path.exists(
            os.path.join(tempfile.gettempdir(), folder)
        ):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(parent, name))


def _limit(group: str, limit: int) -> None:
    """Limit the memory of a cgroup. With version 2 all its processes are killed together, as the
    kubelet has it.
    """
    first_version = os.path.join(group, "memory.limit_in_bytes")
    if os.path.exists(first_version):
        _write(first_version, str(limit))
        return
    _write(os.path.join(group, "memory.max"), str(limit))
    for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
        with contextlib.suppress(OSError):
            _write(os.path.join(group, name), value)


def _oom_kills(group: str) -> int:
    for name in ("memory.events", "memory.oom_control"):
        for line in _read(os.path.join(group, name)).splitlines():
            key, _, count = line.partition(" ")
            if key == "oom_kill" and count.isdigit():
                return int(count)
    return 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
