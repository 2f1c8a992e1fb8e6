"""The stage of a rehearsal: the first process of a PID namespace with a bridge, on which each pod has its own place.

A program of its own. It takes commands as JSON lines on standard input and says as JSON lines what happened. When its
input ends it ends, and the kernel ends whatever still runs in its namespace.
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
_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")


class RunningPods:
    """The pods that run, by their numbers."""

    def __init__(self) -> None:
        self.running: dict[int, subprocess.Popen[str]] = {}
        self.killed: set[int] = set()
        """Those that SIGKILL was sent to: some versions of unshare do not pass that on as their own end."""
        self.links = 0

    def start(self, pod: int, config: str, log: str) -> None:
        """Start a pod from its configuration file; what fails before it runs stands in `log`."""
        ready, ready_inside = os.pipe()
        go_inside, go = os.pipe()
        words = [*_UNSHARE, sys.executable, "-I", _INSIDE, config, str(ready_inside), str(go_inside)]
        with open(log, "a", encoding="utf-8") as errors:
            process = subprocess.Popen(  # noqa: S603
                words, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, text=True,
                pass_fds=(ready_inside, go_inside),
            )  # fmt: skip
        os.close(ready_inside)
        os.close(go_inside)
        self.running[pod] = process
        if os.read(ready, 1):
            self.links += 1
            name = f"veth{self.links}"
            _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
            _ip("link", "set", name, "master", _BRIDGE, "up")
            os.write(go, b"x")
        os.close(ready)
        os.close(go)

    def kill(self, pod: int, number: int) -> None:
        """Send a signal to the first process of a pod."""
        process = self.running.get(pod)
        if process is None:
            return
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            inner = file.read().split()
        if number == signal.SIGKILL:
            self.killed.add(pod)
        for pid in inner[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), number)

    def ended(self) -> list[tuple[int, int]]:
        """The pods that have ended since, with their exit status; that of a signal is 128 and its number."""
        found = [(pod, process.returncode) for pod, process in self.running.items() if process.poll() is not None]
        for pod, _ in found:
            del self.running[pod]
        ended = [(pod, code if code >= 0 else 128 - code) for pod, code in found]
        killed, self.killed = self.killed, self.killed - {pod for pod, _ in ended}
        return [(pod, 128 + signal.SIGKILL if pod in killed else code) for pod, code in ended]


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True, text=True)  # noqa: S603, S607


def _say(**event: Any) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Serve until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # who started it decides when it ends
    try:
        _ip("link", "set", "lo", "up")
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("link", "set", _BRIDGE, "up")
    except (OSError, subprocess.CalledProcessError) as error:
        _say(event="impossible", why=str(getattr(error, "stderr", "") or error).strip())
        return 1
    _say(event="ready")
    stage, pending = RunningPods(), b""
    while True:
        if select.select([0], [], [], 0.05)[0]:
            read = os.read(0, 65536)
            if not read:
                return 0
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                command = json.loads(line)
                if command["do"] == "start":
                    stage.start(command["pod"], command["config"], command["log"])
                else:
                    stage.kill(command["pod"], command["signal"])
        for pod, code in stage.ended():
            _say(event="exit", pod=pod, code=code)


if __name__ == "__main__":
    sys.exit(main())
