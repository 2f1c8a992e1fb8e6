"""The course of a rehearsal: starts pods, injects faults, plays the operator and records what
happens.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.logs import PodLog
from ptcompile.rehearsal.places import TRAINING_FILE, Places, RehearsalSettings
from ptcompile.rehearsal.progress import ProgressLine
from ptcompile.rehearsal.restarts import Answer, FailureCounter, Repetition, Restarts
from ptcompile.simulator.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    Sign = Literal["rounds", "file", "connections", "start", "time"]
    """How it was seen that all pods train: by the stand-in's rounds, by the file that the script
    creates, or by its connections; else faults count from the start, or from the moment when
    waiting for training ended.
    """


class Round(NamedTuple):
    """The report of a process about one round of the rendezvous; `time` is in seconds since the
    start.
    """

    time: float
    rank: int
    world: int
    nodes: int
    group: int
    """Node rank."""
    right: bool
    """Whether the sum over all ranks was correct."""


class Joined(NamedTuple):
    """The round of a training process by its environment, for scripts that report nothing."""

    group: int
    """Node rank."""
    world: int


class Observation(NamedTuple):
    """The observations of one pod."""

    rounds: tuple[Round, ...]
    starts: int
    exit: int | None
    """Exit status of its last start, or None if it was still running at the end."""
    lost: bool
    """Whether a fault removed it for good."""
    error: str | None
    """First line of its log that is an error, without what it wrote after SIGTERM."""
    joined: Joined | None = None
    """What its processes joined last, if its script reports no rounds."""


def read_rounds(folder: str, start_time: float) -> list[Round]:
    """Return the rounds recorded in a pod's folder. `start_time` is the wall-clock time of the
    rehearsal's start.
    """
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


QUIET_SECONDS = 90.0
"""Seconds without changes after which the course stops waiting for pods to join."""
LINGER_SECONDS = 20.0
"""Seconds without changes that the other pods have to end after a pod failed without a fault."""
TRAINING_SECONDS = 300.0
"""Seconds that a script has until its processes train; then the times of the faults count."""
TIMED_KINDS = ("kill", "drain", "fail-process")
"""Faults whose times count from the moment when all pods train."""
_TICK_SECONDS = 0.1
_LOOK_SECONDS = 0.5
"""Seconds between looks at logs and connections."""

Progress = Callable[[str], None]


class Backend(Protocol):
    """The protocol of back ends, which run pods."""

    def start(self, pod: int, config: JsonDict) -> None:
        """Start a pod."""

    def signal(self, pod: int, number: int) -> None:
        """Send a signal to the pod's first process."""

    def exits(self) -> Iterable[tuple[int, int]]:
        """Yield the pods that exited since the last call, with their exit status."""

    def training_pods(self) -> Mapping[int, Joined] | None:
        """Return what the processes of pods have joined, or None if the back end cannot see it."""

    def fail_process(self, pod: int) -> bool:
        """Kill one training process of a pod, and return whether that is possible."""

    def ran_out_of_memory(self, pod: int) -> bool:
        """Return whether a process of the pod was killed for using more memory than the pod's
        limit.
        """


class _Sight:
    """The back end's view of pods whose script reports nothing."""

    def __init__(self) -> None:
        self.training: Mapping[int, Joined] | None = {}
        """What pods train in at the moment; None if that is not seen."""
        self.last: dict[int, Joined] = {}
        """What each pod joined last."""

    def update(self, backend: Backend) -> None:
        """Update the view."""
        self.training = backend.training_pods()
        self.last |= self.training or {}


class Training(NamedTuple):
    """When all pods trained, from which the times of faults count."""

    seconds: float
    """Seconds since the start."""
    sign: Sign


class _Due(NamedTuple):
    time: float
    action: Callable[[], None]


class Course:
    """A rehearsal from the first start to the last exit."""

    def __init__(
        self,
        actors: Sequence[Actor],
        faults: Sequence[Fault],
        places: Places,
        backend: Backend,
        settings: RehearsalSettings,
        logs: Sequence[PodLog],
        recreated: Sequence[range],
        operator: Restarts | None,
    ) -> None:
        """Prepare the course. `recreated[pod]` are the pods that the operator recreates if it
        loses `pod`.
        """
        self._actors = actors
        self._faults = faults
        self._places = places
        self._backend = backend
        self._settings = settings
        self._logs = logs
        self._recreated = recreated
        self._operator = operator
        self._pods = range(len(actors))
        self._starts = dict.fromkeys(self._pods, 0)
        self._exits: dict[int, int] = {}
        self._lost_pods: set[int] = set()
        """Pods that a fault or the operator ended and that have not been started again."""
        self._past_rounds: dict[int, list[Round]] = {pod: [] for pod in self._pods}
        """Rounds of earlier lives of each pod, whose folders are gone."""
        self._last_starts = dict.fromkeys(self._pods, 0.0)
        self._schedule: list[_Due] = []
        self._waiting: dict[FailureCounter | None, tuple[set[int], float]] = {}
        """Pods that the operator recreates together, and when."""
        self._timed_faults = [fault for fault in faults if fault.kind in TIMED_KINDS]
        self._planned: list[tuple[float, Fault]] = []
        """Faults that are not injected yet, and when they are due."""
        self._repetition = Repetition(is_disturbed=len(self._timed_faults) < len(faults))
        self._line = ProgressLine()
        self._sight = _Sight()
        self._kill_times: dict[int, float] = {}
        """Pods that got SIGTERM, and when they get SIGKILL."""
        self._start_time = time.monotonic()
        self._wall_clock_start = time.time()
        self._last_fault = self._last_change = self._last_look = 0.0
        self._is_finishing = False
        """Whether the pods were told to finish, and none has started since."""
        self.limited = False
        """Whether the time limit ended the rehearsal."""
        self._marks_training = places.script_marks_training()
        self.training: Training | None = None
        self.skipped: list[tuple[Fault, str]] = []
        """Faults that were not injected, and why."""
        self.events: list[tuple[float, str]] = []
        """What the operator did, with the time in seconds."""

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start_time

    def play(self, progress: Progress) -> tuple[Observation, ...]:
        """Run the rehearsal, up to the time limit, and return one observation per pod."""
        for pod in self._pods:
            self._start(pod)
        self._places.write_hosts()
        last_line = ""
        while not self._is_over():
            if self.now > self._settings.limit:
                self.limited = True
                break

            time.sleep(_TICK_SECONDS)
            self._process_events()
            if self.training is None and (sign := self._sign_of_training()):
                self.training = Training(self.now, sign)
                for fault in self._timed_faults:
                    self._planned.append((self.now + self._scale(fault.at), fault))
            if not self._is_finishing and self._may_finish():
                self._finish()
            if (line := self._progress_line()) != last_line:
                progress(f"{self.now:6.1f} s  {line}")
                last_line = line
                self._last_change = self.now
            if self._training_now() == {*self._running_pods()}:
                self._line.settle(
                    [log.error for log in self._logs if self._repetition.is_disturbed]
                )

        self._skip_planned()
        return tuple(self._observe(pod) for pod in self._pods)

    def _start(self, pod: int, *, in_place: bool = False) -> None:
        """Start a pod, or start it again, with the delays that faults give its first start."""
        is_first_start = self._starts[pod] == 0
        delays = {
            fault.kind: fault.at for fault in self._faults if is_first_start and fault.pod == pod
        }
        self._starts[pod] += 1
        self._is_finishing = False
        self._exits.pop(pod, None)
        self._lost_pods.discard(pod)
        if not is_first_start:
            self._past_rounds[pod] = self._rounds(pod)
        self._places.renew(pod, keep_volumes=in_place)
        if not in_place:
            self._places.assign_address(pod)
        self._logs[pod].begin()
        if "dns-lag" in delays:
            # unscaled: it races against the start of a program, which takes as long as ever
            self._schedule.append(
                _Due(self.now + delays["dns-lag"], lambda: self._publish_names(pod))
            )
        else:
            self._publish_names(pod)

        self._places.write_hosts()
        self._last_starts[pod] = self.now
        config = self._places.config(
            pod, self._scale(delays.get("late", 0.0)), self._logs[pod].path
        )
        self._backend.start(pod, config)

    def _publish_names(self, pod: int) -> None:
        self._places.resolvable.add(pod)
        self._places.write_hosts()

    def _scale(self, seconds: float) -> float:
        return seconds / self._settings.scale

    def _process_events(self) -> None:
        """Record exited pods, kill pods whose grace period is over, and run what is due."""
        for pod, status in self._backend.exits():
            self._exits[pod] = status
            if pod in self._lost_pods:
                self._places.release_address(pod)
                self._places.write_hosts()
            elif status:
                self._ask_operator(pod, status)

        for pod, deadline in list(self._kill_times.items()):
            if pod in self._exits or self.now > deadline:
                del self._kill_times[pod]
            if pod not in self._exits and self.now > deadline:
                self._backend.signal(pod, signal.SIGKILL)

        if self.now - self._last_look > _LOOK_SECONDS:
            self._last_look = self.now
            for log in self._logs:
                log.shorten()
            if self._settings.is_blind:
                self._sight.update(self._backend)

        self._run_due()

    def _run_due(self) -> None:
        """Do what is due: faults, scheduled actions, and pods to recreate."""
        for due, fault in sorted(self._planned, key=lambda entry: entry[0]):
            if due <= self.now:
                self._planned.remove((due, fault))
                self._inject(fault)

        for entry in sorted(self._schedule, key=lambda entry: entry.time):
            if entry.time <= self.now:
                self._schedule.remove(entry)
                entry.action()

        for key, (pods, due) in list(self._waiting.items()):
            if due <= self.now:
                del self._waiting[key]
                self._recreate(sorted(pods))

    def _inject(self, fault: Fault) -> None:
        """Inject a fault, unless its pod has ended already, and plan what the operator does about
        it.
        """
        pod = fault.pod
        if pod in self._exits or pod in self._lost_pods:
            self.skipped.append((fault, self._state_text(pod)))
            return

        self._last_fault = self._last_change = self.now
        self._repetition.begin_again()
        self._line.add_fault(fault.kind, pod)
        if fault.kind == "fail-process":
            self._fail_process(fault)
            return

        group = self._recreated[pod] if self._recreated else ()
        peers = [peer for peer in group if peer != pod]
        answer = self._operator.answer(pod, None) if self._operator is not None else None
        if group and answer is not None and not answer.pods:
            self._note(f"pod {pod} is lost for good: {answer.text}")
            fault = fault._replace(back=None)
            peers = []

        self._lost_pods.update((pod, *peers))
        if fault.kind == "kill":
            self._backend.signal(pod, signal.SIGKILL)
        self._terminate(peers if fault.kind == "kill" else [pod, *peers])
        if recreated := [pod, *peers] if fault.back is not None else peers:
            due = self.now + self._scale(fault.back or 0)
            self._schedule.append(_Due(due, lambda: self._recreate(recreated)))

    def _fail_process(self, fault: Fault) -> None:
        if not self._settings.is_blind:
            self._touch(fault.pod, "fail")
        elif not self._backend.fail_process(fault.pod):
            self.skipped.append(
                (fault, f"the training processes of pod {fault.pod} were not found")
            )

    def _terminate(self, pods: Iterable[int]) -> None:
        """Send SIGTERM to running pods, and SIGKILL after their grace periods."""
        for pod in (pod for pod in pods if pod not in self._exits):
            self._logs[pod].end()
            self._backend.signal(pod, signal.SIGTERM)
            self._kill_times[pod] = self.now + self._actors[pod].surroundings.grace

    def _ask_operator(self, pod: int, status: int) -> None:
        """Let the operator or the kubelet answer a pod that failed without a fault."""
        answer = self._operator.answer(pod, status) if self._operator is not None else None
        is_out_of_memory = self._backend.ran_out_of_memory(pod)
        event = f"pod {pod} failed with status {status}"
        if is_out_of_memory:
            event += ", out of memory (OOMKilled)"
        if answer is None:
            if is_out_of_memory:
                self._note(event)
            return

        self._logs[pod].search(is_whole=True)
        has_volumes = bool(self._actors[pod].surroundings.volumes)
        repeats = self._repetition.clause(pod, self._logs[pod].error, has_volumes=has_volumes)
        if not answer.pods:
            self._note(f"{event}: {answer.text}")
        elif repeats:
            self._note(
                f"{event}, {repeats}: the rehearsal ends, the cluster would go on: {answer.text}"
            )
        elif not self._repetition.gave_up:
            delay = self._scale(answer.delay)
            self._note(f"{event}: {answer.text}" + (f", after {delay:g} s" if delay else ""))
            self._last_change = self.now
            self._plan_restart(pod, answer, self.now + delay)

    def _plan_restart(self, pod: int, answer: Answer, due: float) -> None:
        if answer.in_place:
            self._schedule.append(_Due(due, lambda: self._start(pod, in_place=True)))
            return
        pods, _ = self._waiting.get(answer.together, (set(), 0.0))
        self._waiting[answer.together] = (pods | set(answer.pods), due)
        self._lost_pods.update(answer.pods)
        self._terminate(other for other in answer.pods if other != pod)

    def _recreate(self, pods: Sequence[int]) -> None:
        # the operator waits until the old pods have exited
        if any(pod not in self._exits for pod in pods):
            self._schedule.append(_Due(self.now + 1, lambda: self._recreate(pods)))
            return
        self._last_fault = self._last_change = self.now
        for pod in pods:
            self._start(pod)

    def _note(self, text: str) -> None:
        self.events.append((self.now, text))
        self._line.add_event(text)

    def _state_text(self, pod: int) -> str:
        if pod in self._lost_pods:
            return f"pod {pod} was gone already"
        status = self._exits[pod]
        end = f"failed with status {status}" if status else "succeeded"
        return f"pod {pod} had already {end}"

    def _skip_planned(self) -> None:
        """Record the faults that were never injected."""
        faults = [fault for _, fault in self._planned]
        if self.training is None:
            faults = self._timed_faults
        for fault in faults:
            running = fault.pod not in self._exits and fault.pod not in self._lost_pods
            self.skipped.append(
                (fault, "the rehearsal ended before" if running else self._state_text(fault.pod))
            )

    def _touch(self, pod: int, name: str) -> None:
        with open(os.path.join(self._places.folder(pod), name), "w", encoding="ascii"):
            pass

    def _may_finish(self) -> bool:
        """Return whether the training may end: no fault or restart is due, and all pods train or
        will not.
        """
        if self._schedule or self._waiting or self._planned:
            return False
        if self._settings.is_blind:
            return self.training is not None or not self._timed_faults
        return self.training is not None and (self._are_all_training() or self._is_quiet())

    def _finish(self) -> None:
        self._is_finishing = True
        for pod in self._pods:
            self._touch(pod, "finish")

    def _running_pods(self) -> list[int]:
        return [pod for pod in self._pods if pod not in self._exits]

    def _is_over(self) -> bool:
        if self._schedule or self._waiting:
            return False
        if len(self._exits) == len(self._pods):
            return True
        if self._planned:
            return False
        if self._is_finishing and not self._settings.is_blind and self._is_quiet(2 * QUIET_SECONDS):
            self._note(
                "the pods still wait for one another: the rehearsal ends, the cluster would go on"
            )
            return True

        has_failed = any(
            status for pod, status in self._exits.items() if pod not in self._lost_pods
        )

        return has_failed and self.now - self._last_change > LINGER_SECONDS

    def _sign_of_training(self) -> Sign | None:
        """Return what shows that all running pods train, or None if they do not train yet."""
        if not self._settings.is_blind:
            return "rounds" if self._are_all_training() else None

        running = set(self._running_pods())
        marked = {
            pod
            for pod in running
            if os.path.exists(os.path.join(self._places.folder(pod), TRAINING_FILE))
        }
        if running and running == marked:
            return "file"
        if self._marks_training:
            return None

        training = self._sight.training
        if training is None:
            return "start"
        if running and running <= training.keys() | marked:
            return "connections"
        if self.now > min(TRAINING_SECONDS, self._settings.limit / 2):
            return "time"

        return None

    def _are_all_training(self) -> bool:
        """Return whether all running pods have joined one rendezvous since the last fault."""
        running = self._running_pods()
        for pod in running:
            rounds = self._rounds(pod)
            if not rounds:
                return False
            last = rounds[-1]
            began = max(self._last_starts[pod], self._last_fault)
            if last.nodes != len(running) or last.time < began:
                return False

        return bool(running)

    def _progress_line(self) -> str:
        """Return the progress in one line."""
        settled = {
            *self._training_now(),
            *(pod for pod, status in self._exits.items() if status == 0),
        }
        errors = [None if pod in settled else self._logs[pod].error for pod in self._pods]
        return self._line.text(len(self._running_pods()), self._worlds(), errors)

    def _worlds(self) -> dict[int, int] | None:
        """Return the size of the world that each running pod has met, or None if that is not
        seen.
        """
        if not self._settings.is_blind:
            rounds = {pod: self._rounds(pod) for pod in self._running_pods()}
            return {pod: joins[-1].world for pod, joins in rounds.items() if joins}
        if self._sight.training is None:
            return None
        return {
            pod: joined.world
            for pod, joined in self._sight.training.items()
            if pod not in self._exits
        }

    def _training_now(self) -> set[int]:
        """Return the running pods that train; if the script reports its rounds, all of them or
        none.
        """
        if self._settings.is_blind:
            return {*(self._worlds() or ())}
        if self._are_all_training():
            return {*self._running_pods()}
        return set()

    def _is_quiet(self, seconds: float = QUIET_SECONDS) -> bool:
        return self.now - max(self._last_change, self._last_fault) > seconds

    def _rounds(self, pod: int) -> list[Round]:
        return [
            *self._past_rounds[pod],
            *read_rounds(self._places.folder(pod), self._wall_clock_start),
        ]

    def _observe(self, pod: int) -> Observation:
        return Observation(
            rounds=tuple(self._rounds(pod)),
            starts=self._starts[pod],
            exit=self._exits.get(pod),
            lost=pod in self._lost_pods,
            error=self._logs[pod].first_error(),
            joined=self._sight.last.get(pod),
        )
