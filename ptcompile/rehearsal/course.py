"""The course of a rehearsal: pods are started, faults injected, and everything is observed."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.places import Places, RehearsalSettings
from ptcompile.simulator.faults import Fault

_LINE = re.compile(r"^[ \t]*(([\w.]{1,200}|torchrun: error): .+)$", re.MULTILINE)
_NAMES = ("Error", "Exception", "Timeout", "torchrun: error")
_SHOWN = 200
"""Characters of an error that are kept."""


class Round(NamedTuple):
    """What a process saw of one meeting; `time` in seconds since the start."""

    time: float
    rank: int
    world: int
    nodes: int
    group: int
    """The node's rank."""
    right: bool
    """Whether the sum over all ranks was right."""


class Seen(NamedTuple):
    """What was seen of one pod."""

    rounds: tuple[Round, ...]
    starts: int
    exit: int | None
    """The exit status of its last start; None where it was still running when all was over."""
    lost: bool
    """Whether a fault took it away for good."""
    error: str | None
    """The first line of its log that is an error."""


def rounds_of(folder: str, begun: float) -> list[Round]:
    """The meetings that the processes of a pod wrote down in its folder; `begun` is the clock's time at the start."""
    try:
        with open(os.path.join(folder, "seen.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    except FileNotFoundError:
        return []
    return [
        Round(
            time=one["time"] - begun,
            rank=one["rank"],
            world=one["world"],
            nodes=one["hosts"],
            group=int(one["GROUP_RANK"] or one["rank"]),
            right=one["sum"] == one["world"] * (one["world"] - 1) // 2,
        )
        for one in lines
    ]


def first_error(folder: str) -> str | None:
    """The first line of a pod's log that is an error."""
    try:
        with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as file:
            lines = _LINE.finditer(file.read())
            found = next((one for one in lines if any(name in one[2] for name in _NAMES)), None)
    except FileNotFoundError:
        return None
    return found[1].strip()[:_SHOWN] if found else None


GRACE = 30.0
"""Seconds from SIGTERM to SIGKILL: a pod's terminationGracePeriodSeconds (Kubernetes 1.36)."""
QUIET = 90.0
"""Seconds without news after which nothing more is expected of pods that train."""
LINGER = 20.0
"""Seconds without news that the others have to end, once a pod has failed that no fault took."""
_TICK = 0.1

Progress = Callable[[str], None]


class Backend(Protocol):
    """Who runs the pods."""

    def start(self, pod: int, config: dict[str, Any]) -> None:
        """Start a pod."""

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to its first process."""

    def exits(self) -> Iterable[tuple[int, int]]:
        """The pods that have ended since, each with its exit status."""


class Course:
    """One rehearsal, from the first start to the last exit."""

    def __init__(
        self,
        actors: Sequence[Actor],
        faults: Sequence[Fault],
        places: Places,
        backend: Backend,
        settings: RehearsalSettings,
        recreated: Sequence[range] = (),
    ) -> None:
        """`recreated` has for each pod the numbers of the pods that the operator recreates when it loses it."""
        self._faults, self._places, self._backend, self._settings = faults, places, backend, settings
        self._recreated = recreated
        self._pods = range(len(actors))
        self._starts = dict.fromkeys(self._pods, 0)
        self._exits: dict[int, int] = {}
        self._expected_to_go: set[int] = set()
        self._since = dict.fromkeys(self._pods, 0.0)
        """When each pod's last start was."""
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._draining: dict[int, float] = {}
        """Pods that were told to end, and when they are made to."""
        self._begun = time.monotonic()
        self._wall = time.time()
        self._last_fault = 0.0
        self._news = 0.0
        self.limited = False
        """Whether the time limit ended it."""

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begun

    def play(self, progress: Progress) -> tuple[Seen, ...]:
        """Play all of it, at most for the limit's seconds."""
        for pod in self._pods:
            self._start(pod)
        self._places.write_hosts()
        trained, finishing, shown = self._settings.blind, False, ""
        if trained:  # when is unknown: faults count from the start
            self._plan_faults()
        while not self._over():
            if self.now > self._settings.limit:
                self.limited = True
                break
            time.sleep(_TICK)
            self._happen()
            if not trained and self._all_train():
                trained = True
                self._plan_faults()
            if not finishing and trained and not self._due and (self._all_train() or self._quiet()):
                finishing = True
                self._finish()
            if (line := self._line()) != shown:
                progress(f"{self.now:6.1f} s  {line}")
                shown, self._news = line, self.now
        return tuple(self._seen(pod) for pod in self._pods)

    def _start(self, pod: int) -> None:
        first = self._starts[pod] == 0
        late = next((one for one in self._faults if first and one.kind == "late" and one.pod == pod), None)
        lag = next((one for one in self._faults if first and one.kind == "dns-lag" and one.pod == pod), None)
        self._starts[pod] += 1
        self._exits.pop(pod, None)
        self._places.made(pod)
        if lag is None:
            self._name(pod)
        else:
            self._due.append((self.now + self._scaled(lag.at), lambda: self._name(pod)))
        self._places.write_hosts()
        self._since[pod] = self.now
        self._backend.start(pod, self._places.config(pod, self._scaled(late.at) if late else 0.0))

    def _name(self, pod: int) -> None:
        self._places.named.add(pod)
        self._places.write_hosts()

    def _scaled(self, seconds: float) -> float:
        return seconds / self._settings.scale

    def _happen(self) -> None:
        """What has ended, and what is due."""
        for pod, code in self._backend.exits():
            self._exits[pod] = code
            if pod in self._expected_to_go:
                self._places.gone(pod)
                self._places.write_hosts()
        for pod, until in list(self._draining.items()):
            if pod in self._exits or self.now > until:
                del self._draining[pod]
            if pod not in self._exits and self.now > until:
                self._backend.signal(pod, signal.SIGKILL)
        for when, what in sorted(self._due, key=lambda one: one[0]):
            if when <= self.now:
                self._due = [one for one in self._due if one[1] is not what]
                what()

    def _plan_faults(self) -> None:
        for one in self._faults:
            if one.kind in ("kill", "drain", "fail-process"):
                self._due.append((self.now + self._scaled(one.at), lambda one=one: self._strike(one)))  # type: ignore[misc]

    def _strike(self, fault: Fault) -> None:
        self._last_fault = self._news = self.now
        if fault.kind == "fail-process":
            self._touch(fault.pod, "fail")
            return
        others = [pod for pod in self._recreated[fault.pod] if pod != fault.pod] if self._recreated else []
        self._expected_to_go.update((fault.pod, *others))
        terminated = others
        if fault.kind == "drain":
            terminated = [fault.pod, *others]
        else:
            self._backend.signal(fault.pod, signal.SIGKILL)
        for pod in (pod for pod in terminated if pod not in self._exits):
            self._backend.signal(pod, signal.SIGTERM)
            self._draining[pod] = self.now + GRACE
        again = [fault.pod, *others] if fault.back is not None else others
        if again:
            self._due.append((self.now + self._scaled(fault.back or 0), lambda: self._make_again(again)))

    def _make_again(self, pods: Sequence[int]) -> None:
        if any(pod not in self._exits for pod in pods):  # the operator waits until the old pods are gone
            self._due.append((self.now + 1, lambda: self._make_again(pods)))
            return
        self._expected_to_go.difference_update(pods)
        self._last_fault = self._news = self.now
        for pod in pods:
            self._start(pod)

    def _touch(self, pod: int, name: str) -> None:
        with open(os.path.join(self._places.folder(pod), name), "w", encoding="ascii"):
            pass

    def _finish(self) -> None:
        for pod in self._pods:
            self._touch(pod, "finish")

    def _living(self) -> list[int]:
        return [pod for pod in self._pods if pod not in self._exits]

    def _over(self) -> bool:
        if self._due:
            return False
        failed = any(code for pod, code in self._exits.items() if pod not in self._expected_to_go)
        return len(self._exits) == len(self._pods) or (failed and self.now - self._news > LINGER)

    def _all_train(self) -> bool:
        """Whether all pods that live have met one another since the last fault."""
        living = self._living()
        for pod in living:
            rounds = self._rounds(pod)
            if not rounds or rounds[-1].nodes != len(living) or rounds[-1].time < self._since[pod]:
                return False
            if rounds[-1].time < self._last_fault:
                return False
        return bool(living)

    def _quiet(self) -> bool:
        return self.now - max(self._news, self._last_fault) > QUIET

    def _line(self) -> str:
        """How far it is, in a line."""
        living = self._living()
        seen = [self._rounds(pod)[-1:] for pod in living]
        training = [found[0] for found in seen if found]
        world = max((one.world for one in training), default=0)
        return f"{len(living)} of {len(self._pods)} pods run, {len(training)} have met, world {world}"

    def _rounds(self, pod: int) -> list[Round]:
        return rounds_of(self._places.folder(pod), self._wall)

    def _seen(self, pod: int) -> Seen:
        folder = self._places.folder(pod)
        return Seen(
            rounds=tuple(self._rounds(pod)),
            starts=self._starts[pod],
            exit=self._exits.get(pod),
            lost=pod in self._expected_to_go,
            error=first_error(folder),
        )
