"""Back ends and interpreters that work without torch."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ptcompile.rehearsal import RehearsalSettings, course
from ptcompile.rehearsal.backends import Ground, Opening
from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.course import Joined

FAKE = '''\
#!{python}
"""A python that answers: it has a torch of version 2.13.0, and torchrun is what follows."""
import json, os, re, socket, sys, time
if "-c" in sys.argv[1:3]:
    print("2.13.0+fake")
    sys.exit(0)
here = os.environ.get("HOME", os.getcwd())
words = sys.argv[1:]
option = lambda name: next(w.partition("=")[2] for w in words if w.startswith("--" + name + "="))
endpoint = option("rdzv-endpoint").rpartition(":")[0]
deadline = time.time() + 10
while True:
    try:
        address = socket.gethostbyname(endpoint)
        break
    except OSError as error:
        if time.time() > deadline:
            sys.exit(f"socket.gaierror: {{error}}")
        time.sleep(0.1)
nodes = int(option("nnodes").rpartition(":")[2])
processes = int(option("nproc-per-node"))
index = int(os.environ["JOB_COMPLETION_INDEX"])
with open(os.path.join(here, "address"), "w") as file:
    file.write(address)
for local in range(processes):
    rank, world = index * processes + local, nodes * processes
    line = {{"rank": rank, "world": world, "hosts": nodes, "sum": world * (world - 1) // 2, "GROUP_RANK": str(index)}}
    with open(os.path.join(here, "seen.jsonl"), "a") as file:
        file.write(json.dumps({{**line, "time": time.time()}}) + "\\n")
while not os.path.exists(os.path.join(here, "finish")):
    time.sleep(0.05)
print("ValueError: not the first, but an error all the same")
sys.exit({status})
'''


def fake_python(folder: Path, status: int = 0) -> str:
    """Write a fake interpreter that replaces torchrun: it resolves the endpoint and reports that all pods joined."""
    path = folder / "python"
    path.write_text(FAKE.format(python=sys.executable, status=status), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return str(path)


class Clock:
    """Replacement for the module `time` in a course: sleeping advances its time without waiting."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Scripted:
    """A back end whose running pods join at once and exit when a `finish` file appears.

    `fails` maps a pod to the pods that exit with status 1 when it is lost. `clock` is the clock of the course.
    """

    def __init__(
        self, fails: dict[int, Iterable[int]] | None = None, *, rejoin: bool = True
    ) -> None:
        self.clock = Clock()
        self.torch, self.engine = "2.13.0+fake", ""
        self.fails, self.rejoin = fails or {}, rejoin
        self.folders: dict[int, Path] = {}
        self.running: set[int] = set()
        self.ended: list[tuple[int, int]] = []
        self.events: list[tuple[Any, ...]] = []
        self.training: dict[int, Joined] | None = {}
        self.out_of_memory: set[int] = set()

    def opening(self) -> Opening:
        @contextmanager
        def open_(
            folder: str, settings: RehearsalSettings, actors: Sequence[Actor]
        ) -> Iterator[Ground]:
            python, env = settings.python or "python", {"PATH": "/usr/bin"}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(course, "time", self.clock)
                yield Ground(self, python, self.torch, "10.77", env, self.engine)

        return open_

    def start(self, pod: int, config: dict[str, Any]) -> None:
        self.events.append(("start", pod, config["hold"], config["address"]))
        self.folders[pod] = Path(config["folder"])
        again = any(event[:2] == ("signal", pod) for event in self.events)
        self.running.add(pod)
        if not again or self.rejoin:
            self._meet()

    def signal(self, pod: int, number: int) -> None:
        self.events.append(("signal", pod, number))
        if pod not in self.running:
            return
        self.running.discard(pod)
        self.ended.append((pod, 128 + number))
        for other in self.fails.get(pod, ()):
            if other in self.running:
                self.running.discard(other)
                self.ended.append((other, 1))
        self._meet()

    def _meet(self) -> None:
        for rank, pod in enumerate(sorted(self.running)):
            world = len(self.running)
            total = world * (world - 1) // 2
            line = {
                "rank": rank,
                "world": world,
                "hosts": world,
                "sum": total,
                "GROUP_RANK": str(rank),
            }
            with (self.folders[pod] / "seen.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "time": self.clock.time() + 0.05}) + "\n")

    def training_pods(self) -> dict[int, Joined] | None:
        return self.training

    def ran_out_of_memory(self, pod: int) -> bool:
        return pod in self.out_of_memory

    def fail_process(self, pod: int) -> bool:
        self.events.append(("fail-process", pod))
        return True

    def exits(self) -> Iterable[tuple[int, int]]:
        for pod in sorted(self.running):
            folder = self.folders[pod]
            if (folder / "fail").exists():
                (folder / "fail").unlink()
                self.events.append(("fail", pod))
                self._meet()
            if (folder / "finish").exists():
                self.running.discard(pod)
                self.ended.append((pod, 0))
        ended, self.ended = self.ended, []
        return ended
