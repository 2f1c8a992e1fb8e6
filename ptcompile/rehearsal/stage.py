"""The stage of a rehearsal: the first process of a PID namespace, with a bridge that connects the
pods' namespaces.

A standalone program. It reads commands as JSON lines from standard input and writes events as JSON
lines. It exits when its input ends; the kernel then kills everything that still runs in its
namespace.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from typing import Any

_BRIDGE = "br0"
_UNSHARE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child")
_ESTABLISHED = "01"
"""State of a connection in /proc/net/tcp."""
_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")


class RunningPods:
    """The running pods by number."""

    def __init__(self) -> None:
        self.running: dict[int, subprocess.Popen[str]] = {}
        self.killed: set[int] = set()
        """Pods that got SIGKILL: some versions of unshare do not report it in their own exit
        status.
        """
        self.links = 0

    def start(self, pod: int, config: str, log: str) -> None:
        """Start a pod from its configuration file; errors before its program runs are written to
        `log`.
        """
        ready, ready_inside = os.pipe()
        go_inside, go = os.pipe()
        command = [
            *_UNSHARE,
            sys.executable,
            "-I",
            _INSIDE,
            config,
            str(ready_inside),
            str(go_inside),
        ]
        with open(log, "a", encoding="utf-8") as errors:
            process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, text=True,
                pass_fds=(ready_inside, go_inside),
            )  # fmt: skip

        os.close(ready_inside)
        os.close(go_inside)
        self.running[pod] = process
        if os.read(ready, 1):
            self.links += 1
            name = f"veth{self.links}"
            _ip(
                "link",
                "add",
                name,
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                str(process.pid),
            )
            _ip("link", "set", name, "master", _BRIDGE, "up")
            os.write(go, b"x")

        os.close(ready)
        os.close(go)

    def kill(self, pod: int, signal_number: int) -> None:
        """Send a signal to the first process of a pod."""
        process = self.running.get(pod)
        if process is None:
            return

        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if signal_number == signal.SIGKILL:
            self.killed.add(pod)
        for pid in children[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal_number)

    def collect_exits(self) -> list[tuple[int, int]]:
        """Return the pods that exited since the last call, with their exit status, which is 128
        plus the number of a signal.
        """
        exited = [
            (pod, process.returncode)
            for pod, process in self.running.items()
            if process.poll() is not None
        ]
        for pod, _ in exited:
            del self.running[pod]
        ended = [(pod, status if status >= 0 else 128 - status) for pod, status in exited]
        killed, self.killed = self.killed, self.killed - {pod for pod, _ in ended}

        return [(pod, 128 + signal.SIGKILL if pod in killed else status) for pod, status in ended]

    def training(self) -> "dict[int, tuple[int, int]]":
        """Return the node rank and the size of the world of each pod with a process that has
        joined a process group.
        """
        joined = {
            pod: next(filter(None, map(joined_world, descendants(process.pid))), None)
            for pod, process in self.running.items()
        }
        return {pod: world for pod, world in joined.items() if world is not None}

    def fail_process(self, pod: int) -> None:
        """Kill the first process of a pod that has joined a process group."""
        process = self.running.get(pod)
        joined = [pid for pid in descendants(process.pid) if joined_world(pid)] if process else []
        for pid in sorted(joined)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(child) for child in file.read().split()]
    except OSError:
        return []
    return [below for child in children for below in (child, *descendants(child))]


def joined_world(pid: int) -> "tuple[int, int] | None":
    """Return the node rank and the size of the world that a process has joined, or None: a process
    that has joined is connected with each other process of its world.

    gloo connects all processes when the group is initialized. Connections to the store do not
    count.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            env = dict(entry.partition(b"=")[::2] for entry in file.read().split(b"\0"))
        world = int(env[b"WORLD_SIZE"])
        store = int(env[b"MASTER_PORT"])
        sockets = {
            os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")
        }
        if b"RANK" not in env or (world == 1 and b"LOCAL_RANK" not in env):
            return None

        is_connected = (
            sum(f"socket:[{inode}]" in sockets for inode in connections(pid, store)) >= world - 1
        )
        if is_connected:
            return (int(env.get(b"GROUP_RANK", env[b"RANK"])), world)

        return None
    except (OSError, KeyError, ValueError):
        # the process has just exited, or does not train
        return None


def connections(pid: int, store: int) -> list[str]:
    """Return the inodes of the established TCP connections in a process's network, except with
    the store's port.
    """
    inodes = []
    for family in ("tcp", "tcp6"):
        with (
            contextlib.suppress(OSError),
            open(f"/proc/{pid}/net/{family}", encoding="ascii") as file,
        ):
            for row in file.read().splitlines()[1:]:
                _, local, remote, state, *rest = row.split()
                ports = {int(address.rpartition(":")[2], 16) for address in (local, remote)}
                if state == _ESTABLISHED and store not in ports:
                    inodes.append(rest[5])

    return inodes


def _ip(*arguments: str) -> None:
    subprocess.run(("ip", *arguments), check=True, capture_output=True, text=True)  # noqa: S603, S607


def _emit_event(**event: Any) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def _obey(command: "dict[str, Any]", stage: RunningPods) -> None:
    if command["do"] == "start":
        stage.start(command["pod"], command["config"], command["log"])
    elif command["do"] == "kill":
        stage.kill(command["pod"], command["signal"])
    elif command["do"] == "look":
        _emit_event(event="training", pods=stage.training())
    else:
        stage.fail_process(command["pod"])


def main() -> int:
    """Serve commands until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # the parent process decides when this one ends
        signal.signal(number, signal.SIG_IGN)
    try:
        _ip("link", "set", "lo", "up")
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("link", "set", _BRIDGE, "up")
    except (OSError, subprocess.CalledProcessError) as error:
        _emit_event(event="impossible", why=str(getattr(error, "stderr", "") or error).strip())
        return 1

    _emit_event(event="ready")
    stage = RunningPods()
    pending = b""
    while True:
        if select.select([0], [], [], 0.05)[0]:
            read = os.read(0, 65536)
            if not read:
                return 0
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                _obey(json.loads(line), stage)
        for pod, status in stage.collect_exits():
            _emit_event(event="exit", pod=pod, code=status)


if __name__ == "__main__":
    sys.exit(main())
