"""The back end that runs pods in Linux namespaces: as root, or as any user if the kernel allows
user namespaces.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.rehearsal.cgroups import MemoryLimits
from ptcompile.rehearsal.course import Joined
from ptcompile.rehearsal.settings import PROGRAMS, RehearsalError

_STAGE_PROGRAM = os.path.join(PROGRAMS, "stage.py")
_TOOLS = {"unshare": "util-linux", "mount": "util-linux", "ip": "iproute2"}
"""Required programs, with the package that contains them on most distributions."""
_EXIT_TIMEOUT_SECONDS = 10
"""Time limit for the stage to exit by itself."""
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


class Namespaces:
    """Pods as processes in namespaces. All of them end with `close`, or with the process that
    created this object.
    """

    network = "10.77"
    """First two numbers of the addresses; the network is invisible outside."""

    def __init__(self, folder: str) -> None:
        path = f"{os.environ.get('PATH', os.defpath)}:{_SBIN}"
        if not sys.platform.startswith("linux"):
            raise RehearsalError("a rehearsal needs Linux: each pod runs in kernel namespaces")

        for tool, package in _TOOLS.items():
            if shutil.which(tool, path=path) is None:
                raise RehearsalError(
                    f"a rehearsal needs the program {tool}: install the package {package}"
                )

        self._folder = folder
        user_options = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        unshare = [
            "unshare",
            *user_options,
            "--net",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]
        self._process = subprocess.Popen(  # noqa: S603
            [*unshare, sys.executable, "-I", _STAGE_PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PATH": path}, start_new_session=True,
        )  # fmt: skip
        stdout = _require_pipe(self._process.stdout)
        first = json.loads(stdout.readline() or "{}")
        if first.get("event") != "ready":
            why = first.get("why") or _require_pipe(self._process.stderr).read().strip()
            self.close()
            raise RehearsalError(
                "this machine does not allow the namespaces that a rehearsal needs: "
                f"{why}{_permission_hint()}"
            )

        self._events = stdout.fileno()
        os.set_blocking(self._events, False)
        self._pending = b""
        self._limits = MemoryLimits(os.path.basename(folder))
        self.limits_memory = self._limits.works
        """Whether memory limits of pods are enforced."""
        self._training: dict[int, Joined] = {}
        """What the processes of pods had joined at the last look."""
        self._is_looking = False

    def start(self, pod: int, config: JsonDict) -> None:
        """Start a pod from a configuration: argv, env, address, host name, folder, and files to
        mount over the machine's.
        """
        config = {**config, "cgroup": self._limits.group(pod, config["memory"])}
        path = os.path.join(self._folder, f"pod{pod}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self._send_command(do="start", pod=pod, config=path, log=config["log"])

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to a pod's first process."""
        self._send_command(do="kill", pod=pod, signal=number)

    def exits(self) -> Iterator[tuple[int, int]]:
        """Yield the pods that exited since the last call, with their exit status.

        Raises:
            RehearsalError: the stage itself has exited.
        """
        read = b""
        with contextlib.suppress(BlockingIOError):
            read = os.read(self._events, 1 << 16)
        if self._process.poll() is not None:
            raise RehearsalError(
                f"the rehearsal failed: {_require_pipe(self._process.stderr).read().strip()[-500:]}"
            )

        *lines, self._pending = (self._pending + read).split(b"\n")
        for line in lines:
            event = json.loads(line)
            if event["event"] == "training":
                self._training = {
                    int(pod): Joined(*joined) for pod, joined in event["pods"].items()
                }
                self._is_looking = False
            else:
                yield event["pod"], event["code"]

    def training_pods(self) -> dict[int, Joined]:
        """Return what the processes of pods have joined, as far as known, and look again."""
        if not self._is_looking:
            self._is_looking = True
            self._send_command(do="look")
        return self._training

    def ran_out_of_memory(self, pod: int) -> bool:
        """Return whether a process of the pod was killed for using more memory than the pod's
        limit.
        """
        return self._limits.ran_out(pod)

    def fail_process(self, pod: int) -> bool:
        """Kill one training process of a pod, and return whether the pod has one."""
        self._send_command(do="fail", pod=pod)
        return pod in self._training

    def _send_command(self, **command: Any) -> None:
        stdin = _require_pipe(self._process.stdin)
        stdin.write(json.dumps(command) + "\n")
        stdin.flush()

    def close(self) -> None:
        """End all pods: when the first process of a PID namespace exits, the kernel kills all
        the others first.
        """
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                _require_pipe(pipe).close()
        try:
            # the stage exits when its input ends
            self._process.wait(_EXIT_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

        if hasattr(self, "_limits"):
            self._limits.close()


def _require_pipe(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise RehearsalError("the stage has no pipes")
    return stream


def _permission_hint() -> str:
    if os.geteuid() == 0:
        return " (in a container: it needs the capabilities SYS_ADMIN and NET_ADMIN)"
    return (
        " (run it as root, or check sysctl kernel.unprivileged_userns_clone and AppArmor's "
        "restriction of user "
        "namespaces)"
    )
