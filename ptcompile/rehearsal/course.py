"""The course of a rehearsal: starts pods, injects faults and records what happens."""

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

_ERROR_LINE = re.compile(r"^[ \t]*(([\w.]{1,200}|torchrun: error): .+)$", re.MULTILINE)
_ERROR_MARKS = ("Error", "Exception", "Timeout", "torchrun: error")
_MAX_ERROR_LENGTH = 200
"""Maximum number of characters of an error."""


class Round(NamedTuple):
    """What a process reported about one round of the rendezvous; `time` is in seconds since the start."""

    time: float
    rank: int
    world: int
    nodes: int
    group: int
    """Node rank."""
    right: bool
    """Whether the sum over all ranks was correct."""


class Observation(NamedTuple):
    """The observations of one pod."""

    rounds: tuple[Round, ...]
    starts: int
    exit: int | None
    """Exit status of its last start, or None if it was still running at the end."""
    lost: bool
    """Whether a fault removed it for good."""
    error: str | None
    """First line of its log that is an error."""


def read_rounds(folder: str, start_time: float) -> list[Round]:
    """Return the rounds recorded in a pod's folder. `start_time` is the wall-clock time of the rehearsal's start."""
    try:
        with open(os.path.join(folder, "seen.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
    except FileNotFoundError:
        return []
    return [
        Round(
            time=record["time"] - start_time,
            rank=record["rank"],
            world=record["world"],
            nodes=record["hosts"],
            group=int(record["GROUP_RANK"] or record["rank"]),
            right=record["sum"] == record["world"] * (record["world"] - 1) // 2,
        )
        for record in records
    ]


def find_error(folder: str) -> str | None:
    """Return the first line of a pod's log that is an error, or None."""
    try:
        with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as file:
            matches = _ERROR_LINE.finditer(file.read())
            error = next((match for match in matches if any(name in match[2] for name in _ERROR_MARKS)), None)
    except FileNotFoundError:
        return None
    return error[1].strip()[:_MAX_ERROR_LENGTH] if error else None


GRACE_SECONDS = 30.0
"""Seconds from SIGTERM to SIGKILL: a pod's terminationGracePeriodSeconds (Kubernetes 1.36)."""
QUIET_SECONDS = 90.0
"""Seconds without changes after which the course stops waiting for pods to join."""
LINGER_SECONDS = 20.0
"""Seconds without changes that the other pods have to end after a pod failed without a fault."""
_TICK_SECONDS = 0.1

Progress = Callable[[str], None]


class Backend(Protocol):
    """The protocol of back ends, which run pods."""

    def start(self, pod: int, config: dict[str, Any]) -> None:
        """Start a pod."""

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to the pod's first process."""

    def exits(self) -> Iterable[tuple[int, int]]:
        """Yield the pods that exited since the last call, with their exit status."""


class Course:
    """A rehearsal from the first start to the last exit."""

    def __init__(
        self,
        actors: Sequence[Actor],
        faults: Sequence[Fault],
        places: Places,
        backend: Backend,
        settings: RehearsalSettings,
        recreated: Sequence[range] = (),
    ) -> None:
        """Prepare the course. `recreated[pod]` are the pods that the operator recreates if it loses `pod`."""
        self._faults, self._places, self._backend, self._settings = faults, places, backend, settings
        self._recreated = recreated
        self._pods = range(len(actors))
        self._starts = dict.fromkeys(self._pods, 0)
        self._exits: dict[int, int] = {}
        self._lost_pods: set[int] = set()
        self._last_starts = dict.fromkeys(self._pods, 0.0)
        """Time of each pod's last start."""
        self._schedule: list[tuple[float, Callable[[], None]]] = []
        self._kill_times: dict[int, float] = {}
        """Pods that got SIGTERM, and when they get SIGKILL."""
        self._start_time = time.monotonic()
        self._wall_clock_start = time.time()
        self._last_fault = 0.0
        self._last_change = 0.0
        self.limited = False
        """Whether the time limit ended the rehearsal."""

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start_time

    def play(self, progress: Progress) -> tuple[Observation, ...]:
        """Run the rehearsal, up to the time limit, and return one observation per pod."""
        for pod in self._pods:
            self._start(pod)
        self._places.write_hosts()
        has_trained, is_finishing, last_line = self._settings.blind, False, ""
        if has_trained:  # the script does not report when it trains, so fault times count from the start
            self._plan_faults()
        while not self._is_over():
            if self.now > self._settings.limit:
                self.limited = True
                break
            time.sleep(_TICK_SECONDS)
            self._process_events()
            if not has_trained and self._are_all_training():
                has_trained = True
                self._plan_faults()
            if (
                not is_finishing
                and has_trained
                and not self._schedule
                and (self._are_all_training() or self._is_quiet())
            ):
                is_finishing = True
                self._finish()
            if (line := self._progress_line()) != last_line:
                progress(f"{self.now:6.1f} s  {line}")
                last_line, self._last_change = line, self.now
        return tuple(self._observe(pod) for pod in self._pods)

    def _start(self, pod: int) -> None:
        is_first_start = self._starts[pod] == 0
        late = next(
            (fault for fault in self._faults if is_first_start and fault.kind == "late" and fault.pod == pod), None
        )
        dns_lag = next(
            (fault for fault in self._faults if is_first_start and fault.kind == "dns-lag" and fault.pod == pod), None
        )
        self._starts[pod] += 1
        self._exits.pop(pod, None)
        self._places.assign_address(pod)
        if dns_lag is None:
            self._publish_names(pod)
        else:
            self._schedule.append((self.now + self._scale(dns_lag.at), lambda: self._publish_names(pod)))
        self._places.write_hosts()
        self._last_starts[pod] = self.now
        self._backend.start(pod, self._places.config(pod, self._scale(late.at) if late else 0.0))

    def _publish_names(self, pod: int) -> None:
        self._places.resolvable.add(pod)
        self._places.write_hosts()

    def _scale(self, seconds: float) -> float:
        return seconds / self._settings.scale

    def _process_events(self) -> None:
        """Record exited pods, kill pods whose grace period is over, and run the actions that are due."""
        for pod, status in self._backend.exits():
            self._exits[pod] = status
            if pod in self._lost_pods:
                self._places.release_address(pod)
                self._places.write_hosts()
        for pod, deadline in list(self._kill_times.items()):
            if pod in self._exits or self.now > deadline:
                del self._kill_times[pod]
            if pod not in self._exits and self.now > deadline:
                self._backend.signal(pod, signal.SIGKILL)
        for time_due, action in sorted(self._schedule, key=lambda entry: entry[0]):
            if time_due <= self.now:
                self._schedule = [entry for entry in self._schedule if entry[1] is not action]
                action()

    def _plan_faults(self) -> None:
        for fault in self._faults:
            if fault.kind in ("kill", "drain", "fail-process"):
                self._schedule.append((self.now + self._scale(fault.at), lambda fault=fault: self._inject(fault)))  # type: ignore[misc]

    def _inject(self, fault: Fault) -> None:
        self._last_fault = self._last_change = self.now
        if fault.kind == "fail-process":
            self._touch(fault.pod, "fail")
            return
        peers = [pod for pod in self._recreated[fault.pod] if pod != fault.pod] if self._recreated else []
        self._lost_pods.update((fault.pod, *peers))
        terminated = peers
        if fault.kind == "drain":
            terminated = [fault.pod, *peers]
        else:
            self._backend.signal(fault.pod, signal.SIGKILL)
        for pod in (pod for pod in terminated if pod not in self._exits):
            self._backend.signal(pod, signal.SIGTERM)
            self._kill_times[pod] = self.now + GRACE_SECONDS
        recreated = [fault.pod, *peers] if fault.back is not None else peers
        if recreated:
            self._schedule.append((self.now + self._scale(fault.back or 0), lambda: self._recreate(recreated)))

    def _recreate(self, pods: Sequence[int]) -> None:
        if any(pod not in self._exits for pod in pods):  # the operator waits until the old pods have exited
            self._schedule.append((self.now + 1, lambda: self._recreate(pods)))
            return
        self._lost_pods.difference_update(pods)
        self._last_fault = self._last_change = self.now
        for pod in pods:
            self._start(pod)

    def _touch(self, pod: int, name: str) -> None:
        with open(os.path.join(self._places.folder(pod), name), "w", encoding="ascii"):
            pass

    def _finish(self) -> None:
        for pod in self._pods:
            self._touch(pod, "finish")

    def _running_pods(self) -> list[int]:
        return [pod for pod in self._pods if pod not in self._exits]

    def _is_over(self) -> bool:
        if self._schedule:
            return False
        has_failed = any(status for pod, status in self._exits.items() if pod not in self._lost_pods)
        return len(self._exits) == len(self._pods) or (has_failed and self.now - self._last_change > LINGER_SECONDS)

    def _are_all_training(self) -> bool:
        """Return whether all running pods have joined one rendezvous since the last fault."""
        running = self._running_pods()
        for pod in running:
            rounds = self._rounds(pod)
            if not rounds or rounds[-1].nodes != len(running) or rounds[-1].time < self._last_starts[pod]:
                return False
            if rounds[-1].time < self._last_fault:
                return False
        return bool(running)

    def _is_quiet(self) -> bool:
        return self.now - max(self._last_change, self._last_fault) > QUIET_SECONDS

    def _progress_line(self) -> str:
        """Return the progress in one line."""
        running = self._running_pods()
        last_rounds = [self._rounds(pod)[-1:] for pod in running]
        training = [rounds[0] for rounds in last_rounds if rounds]
        world = max((last_round.world for last_round in training), default=0)
        return f"{len(running)} of {len(self._pods)} pods run, {len(training)} have met, world {world}"

    def _rounds(self, pod: int) -> list[Round]:
        return read_rounds(self._places.folder(pod), self._wall_clock_start)

    def _observe(self, pod: int) -> Observation:
        folder = self._places.folder(pod)
        return Observation(
            rounds=tuple(self._rounds(pod)),
            starts=self._starts[pod],
            exit=self._exits.get(pod),
            lost=pod in self._lost_pods,
            error=find_error(folder),
        )
