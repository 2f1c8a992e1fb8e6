"""The rounds of a rendezvous while pods come and go: agents, store host and restarts left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.simulator.agents import Agents
from ptcompile.simulator.launchers.rendezvous import IntRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Protocol

    End = Literal["all", "fewer", "fail"]
    """How a job ends: all pods train to completion, or fewer of them, or torchrun fails on the
    other pods.
    """

    class PodRestart(Protocol):
        """The reaction of the operator to a failed pod."""

        @property
        def pods(self) -> Collection[int]:
            """Pods that start again."""

        @property
        def text(self) -> str:
            """What happens and why, as a clause."""

        @property
        def delay(self) -> float:
            """Seconds until then."""

    class RestartingOperator(Protocol):
        """The operator of a job, with the failures that it has counted."""

        def answer(self, pod: int, exit_code: int | None) -> PodRestart | None:
            """Count the failure of a pod and return what happens, or None if that is unknown."""


SHRINK_SECONDS = IntRange(39, 49)
"""Range of seconds until the others train without a lost node: three missed heartbeats, then the
last call.
"""
GROW_SECONDS = IntRange(5, 15)
"""Range of seconds until a recreated node trains with the others."""
STALE_SECONDS = 60
"""Seconds after which all agents give up if one of them waits for a key of a round that it did
not join.
"""
STALE_ADDRESSES = (
    "the agents of PyTorch 2.4 and 2.5 share the store of the rendezvous, which keeps stale "
    "addresses: each attempt may fail and use up a restart"
)
CLOSED_BY_SIGTERM = (
    "torchrun of PyTorch 2.3 to 2.7 closes the rendezvous when it receives SIGTERM, so the others "
    "exit with status 1 when they meet again"
)


ALL_RECREATED = "the operator recreates all pods, which meet at a new rendezvous"
_NEW_STORE = "the recreated pod 0 hosts a new store, where all pods that are recreated meet"
_STORE_LOST = (
    "node 0 hosts the store, and torchrun on the other pods exits with status 1 without it"
)
_STALE_RESTART = (
    "the agents keep the store of the first rendezvous, whose addresses are stale: each attempt "
    "may fail"
)
_NO_RESTARTS = "maxRestarts is 0, so"
_NOT_RESTARTED = "and are not restarted"


class Step(NamedTuple):
    """Something that happens in the course of a job, in seconds after all pods train."""

    at: float
    text: str


class Pace(NamedTuple):
    """One of the courses that events of varying duration can take. Times are in seconds."""

    expiry: float
    """Time until the others begin a new round without a lost node."""
    ghost: float
    """Time for which a round that has begun counts a lost node."""
    start: float
    """Time from the start of a pod until its torchrun joins."""
    spends: bool
    """Whether processes that stop for a joining node fail on the other nodes first, which uses
    up a restart there.
    """


MAX_CRASHES = 4
"""Failures of one pod after which its operator is not asked any more: the cluster would go on
for hours.
"""
NEVER = float("inf")


def stop_why(agents: Agents) -> str:
    """Return why torchrun may exit when its members stop for a node that joins."""
    restarts = "a pod has used up maxRestarts" if agents.restarts else "maxRestarts is 0"
    return (
        f"{restarts}: when a node stops its processes for a new one, those of other nodes may "
        "fail first"
    )


def _predict_join(agents: Agents) -> tuple[End | None, str]:
    """Return the outcome of a new torchrun that joins a later round, and the reason."""
    if agents.has_own_store:
        return "all", "each rendezvous has its own store, so a new agent can join"
    if not agents.shares_first_store:
        return None, STALE_ADDRESSES
    return (
        "fail",
        f"the agents keep the store of the first rendezvous and give up after {STALE_SECONDS} "
        "seconds",
    )


def _split_pods(pods: int, named: Iterable[int], ranges: Iterable[range]) -> dict[int, int]:
    """Return runs of pods that neither a fault nor a range tells apart: the number of pods by the
    first one.
    """
    cuts = {0, 1, pods}.union(
        *((pod, pod + 1) for pod in named), *((span.start, span.stop) for span in ranges)
    )
    firsts = sorted(cut for cut in cuts if 0 <= cut <= pods)
    return {first: stop - first for first, stop in pairwise(firsts)}


def _time_of(count: int, times: Iterable[tuple[float, int]]) -> float:
    """Return the time at which so many nodes have joined, from times with the number that joins
    then.
    """
    joined = 0
    for time, size in sorted(times):
        joined += size
        if joined >= count:
            return time
    return NEVER


class Rounds:
    """The rounds of a rendezvous while pods come and go: agents, store host, restarts left."""

    def __init__(
        self,
        agents: Agents,
        named: set[int],
        recreated: Sequence[range],
        operator: RestartingOperator | None,
        pace: Pace,
    ) -> None:
        self.agents = agents
        self.operator = operator
        self.pace = pace
        self.now = 0.0
        self.why = "nothing in the manifest prevents the pods from meeting"
        self.fatal = ""
        """Why torchrun exited on the pods that have failed."""
        self.steps: list[Step] = []
        self.recreated = {pod: recreated[pod] for pod in named} if recreated else {}
        self.sizes = _split_pods(agents.pods, named, self.recreated.values())
        """Numbers of pods that the faults do not tell apart, by the first of these pods."""
        self.left = dict.fromkeys(self.sizes, agents.restarts)
        """Restarts that each agent has left."""
        self.members: set[int] = set(self.left)
        """Pods of the round that trains, or none while the pods meet."""
        self.waiting: dict[int, float] = {}
        """Pods that meet, and since when they wait."""
        self.opening = 0.0
        """When the round of the waiting pods begins: the lost nodes of the previous one have
        expired.
        """
        self.ghosts: dict[int, tuple[float, float]] = {}
        """Pods lost while they met: when they joined, and when the others drop them."""
        self.away: dict[int, float] = {}
        """Lost pods, and when they start again."""
        self.waiting_for_store: dict[int, float] = {}
        """Pods without a store to join, and since when they wait for node 0."""
        self.crashes = dict.fromkeys(self.sizes, 0)
        """How often the operator was asked about each pod."""
        self.failed: set[int] = set()
        """Pods whose torchrun has exited with status 1."""
        self.failing: set[int] = set()
        """Pods one of whose processes fails as soon as it trains."""
        self.interrupted_at = -1.0
        """When processes failed last."""
        self.interrupted: set[int] = set()
        """Pods whose processes failed then."""
        self.has_store = True
        self.is_closed = False
        self.is_first = True
        self.is_uncertain = False
        """Whether there is a store, which is closed, has had no round since it began, or made
        the end uncertain.
        """
        self.newcomers: set[int] = set()
        """Pods whose agents have joined no round of the store yet."""
        self.stale = False
        """Whether the next round follows a failed process, so that shared addresses are stale."""

    def start(self, delays: Mapping[int, float]) -> None:
        """Start all pods, the late ones after their delay, and play until they train. The time is 0
        again then, because faults count from the first training.
        """
        if not delays:
            self.is_first = False
            return

        self.members = set()
        self.away = dict(delays)
        punctual = dict.fromkeys([pod for pod in self.left if pod not in delays], 0.0)
        self.has_store = 0 not in delays
        if self.has_store:
            self.waiting = punctual
        else:
            self.waiting_for_store = punctual

        missing = self.agents.pods - len(delays) < self.agents.low or not self.agents.is_elastic
        if missing:
            self.why = f"the others wait {self.agents.wait_for_others} seconds for enough nodes"
        else:
            self.why = f"the last call for further nodes takes {self.agents.last_call} seconds"

        self.play_until(NEVER)
        self.now = 0.0

    def play_until(self, time: float) -> None:
        """Let pods start, meet, give up and train until a time."""
        while True:
            due, action = min(self._events(), key=lambda event: event[0], default=(NEVER, None))
            if due > time or action is None or due == NEVER:
                break
            self.now = max(self.now, due)
            action()
        if time != NEVER:
            self.now = time

    def _events(self) -> Iterator[tuple[float, Callable[[], object]]]:
        """Yield the time of each change that is due without a fault, and the function that makes
        it.
        """
        for pod, start in self.away.items():
            yield start + self.pace.start, partial(self._join, pod)
        if self.members and self.failing & self.members:
            yield self.now, self._fail_processes
        for pod, (_, expiry) in self.ghosts.items():
            yield expiry, partial(self.ghosts.pop, pod)  # the others notice that it is lost
        if self.waiting:
            yield self._completion(), self._complete
            yield min(self.waiting.values()) + self.agents.wait_for_others, self._give_up

    def _completion(self) -> float:
        """Return when the waiting pods train if no other joins."""
        times = [(max(since, self.opening), self.sizes[pod]) for pod, since in self.waiting.items()]
        times += [(since, self.sizes[pod]) for pod, (since, _) in self.ghosts.items()]
        total = sum(size for _, size in times)
        if total >= self.agents.high:
            return _time_of(self.agents.high, times)
        if total >= self.agents.low:
            return _time_of(self.agents.low, times) + self.agents.last_call
        return NEVER

    def lose(self, pod: int, back: float | None, *, drained: bool) -> None:
        """Kill or drain a pod, and with it those that the operator recreates too."""
        if pod in self.away:
            return
        peers = {
            peer for peer in self.sizes if peer in self.recreated.get(pod, ())
        } - self.away.keys()
        starts = dict.fromkeys(peers, self.now + (back or 0))
        starts[pod] = NEVER if back is None else self.now + back
        self._note(f"{self._pods_text(starts)} lost")
        self._remove(starts, drained=drained)

    def _remove(self, starts: Mapping[int, float], *, drained: bool = False) -> None:
        """Remove pods, which start again later, and let the others notice."""
        agents = self.agents
        lost = starts.keys()
        others = self._running_pods() - lost if lost & self._running_pods() else set()
        were_training = self.members & others
        for pod, start in starts.items():
            self._forget(pod)
            self.away[pod] = start
        if not others:
            if not self._running_pods():
                self._dissolve()
        elif agents.backend == "static":
            self._fail(others, "nodes of a static rendezvous cannot meet again")
        elif drained and agents.closes and self.has_store:
            self._close(others, CLOSED_BY_SIGTERM)
        elif 0 in lost:
            self.has_store = False
            self._fail(others, _STORE_LOST)
        elif were_training:
            self.opening = self.now + self.pace.expiry
            self._interrupt(were_training)

    def fail_process(self, pod: int) -> None:
        """Let one process of a pod fail: now if it trains, else as soon as it does."""
        if pod in self.failed or pod in self.away:
            return
        if self.interrupted_at == self.now and pod in self.interrupted:
            return  # all processes of that round have failed at this moment
        self.failing.add(pod)
        if self.members:
            self._fail_processes()

    def end(self) -> End | None:
        """Return how the job ended."""
        remaining = {pod for pod in self.left if self.away.get(pod) != NEVER}
        if self.waiting_for_store:
            wait = self.agents.wait_for_first
            self._fail(
                set(self.waiting_for_store),
                f"the others are recreated and wait {wait} seconds for node 0",
            )
        if self.failed or not remaining or self.members != remaining:
            return "fail"
        if self.is_uncertain:
            return None

        return "all" if len(remaining) == len(self.sizes) else "fewer"

    def _running_pods(self) -> set[int]:
        return {*self.members, *self.waiting, *self.waiting_for_store}

    def _pods_text(self, pods: Iterable[int]) -> str:
        """Return `pod 1`, or `pods 0, 1 and 5 to 9`."""
        spans = [IntRange(first, first + self.sizes[first] - 1) for first in sorted(pods)]
        texts = [span.text for span in spans]
        *others, end = texts
        text = f"{', '.join(others)} and {end}" if others else end
        return f"pod {text}" if text.isdigit() else f"pods {text}"

    def _note(self, text: str) -> None:
        self.steps.append(Step(self.now, text))

    def _forget(self, pod: int) -> None:
        """Remove a lost pod; if it has joined the round that begins, the others count it until
        it expires.
        """
        self.members.discard(pod)
        since = self.waiting.pop(pod, None)
        if since is not None and self.now >= self.opening:
            self.ghosts[pod] = max(since, self.opening), self.now + self.pace.ghost
        self.waiting_for_store.pop(pod, None)
        self.failed.discard(pod)
        self.failing.discard(pod)

    def _dissolve(self) -> None:
        """End the rendezvous: its store is lost, or no node is left."""
        self.members, self.waiting, self.ghosts, self.opening = set(), {}, {}, self.now
        self.has_store = False

    def _fail(self, pods: set[int], why: str) -> None:
        """Let the torchrun of pods exit with status 1."""
        if not pods:
            return

        self._note(f"torchrun of {self._pods_text(pods)} exits with status 1: {why}")
        if not self.failed:
            self.fatal = why
        self.failed |= pods
        for pod in pods:
            self.members.discard(pod)
            self.waiting.pop(pod, None)
            self.waiting_for_store.pop(pod, None)

        if 0 in pods:
            self._dissolve()
        for pod in sorted(pods):
            self._ask_operator(pod)

    def _ask_operator(self, pod: int) -> None:
        """Let the operator start a failed pod again, with those that it recreates too."""
        if self.operator is None or pod not in self.failed or self.crashes[pod] >= MAX_CRASHES:
            return
        self.crashes[pod] += 1
        answer = self.operator.answer(pod, 1)
        if answer is not None and answer.pods:
            again = [other for other in answer.pods if self.away.get(other) != NEVER]
            self._note(f"pod {pod}: {answer.text}")
            self._remove(dict.fromkeys(again, self.now + answer.delay))

    def _close(self, pods: set[int], why: str) -> None:
        """Close the rendezvous, so that no node can join it any more."""
        self.is_closed = True
        self._fail(pods, why)

    def _give_up(self) -> None:
        """Let those that wait for others for too long exit, which closes the rendezvous."""
        wait = self.agents.wait_for_others
        missing = set(self.away.values())
        if not self.is_first:
            awaited = "the lost pod" if missing - {NEVER} else f"{self.agents.low} nodes"
            why = f"the others wait {wait} seconds for {awaited}"
        elif NEVER in missing:
            why = f"the others are recreated and wait {wait} seconds for the lost pod"
        else:
            why = f"the others wait {wait} seconds for enough nodes"

        self._close(self._running_pods(), why)

    def _fail_processes(self) -> None:
        pods = self.failing & self.members
        self.failing -= pods
        if not pods:
            return

        agents = self.agents
        self._note(f"a process of {self._pods_text(pods)} fails")
        if agents.backend == "static":
            self._fail(
                self._running_pods(),
                "with a static rendezvous the other nodes do not notice a restart",
            )
            return
        if not agents.restarts:
            self._close(
                self._running_pods(),
                f"{_NO_RESTARTS} the processes of the other nodes fail too {_NOT_RESTARTED}",
            )
            return

        self.opening = self.now
        self.stale = not agents.has_own_store
        self._interrupt(set(self.members))
        if not self.failed:
            self.why = "torchrun starts the processes of all nodes again"

    def _interrupt(self, pods: set[int]) -> None:
        """Let the processes of pods fail, which costs each of them a restart, and let the pods
        meet again.
        """
        self.interrupted_at = self.now
        self.interrupted = set(pods)
        spent = {pod for pod in pods if not self.left[pod]}
        if spent:
            restarts = self.agents.restarts
            if restarts:
                why = (
                    f"{self._pods_text(spent)} used up maxRestarts ({restarts}), which ends the job"
                )
            else:
                why = f"{_NO_RESTARTS} the processes of the other nodes fail {_NOT_RESTARTED}"
            self._close(self._running_pods(), why)
            return

        for pod in pods:
            self.left[pod] -= 1
        self._meet(pods)

    def _meet(self, pods: set[int]) -> None:
        self.waiting |= dict.fromkeys(pods, self.now)
        self.members = set()

    def _join(self, pod: int) -> None:
        """Let the torchrun of a pod that starts again join."""
        del self.away[pod]
        self.left[pod] = self.agents.restarts
        self.newcomers.add(pod)
        if pod == 0:
            self._open_store()
        elif self.is_closed and self.has_store:
            self._fail({pod}, "the rendezvous is closed, so no pod can join it")
        elif not self.has_store:
            self.waiting_for_store[pod] = self.now
        elif self.members:
            self._interrupt_for(pod)
        else:
            self.waiting[pod] = self.now

    def _open_store(self) -> None:
        """Let pod 0 host a new store, which those that wait for it join."""
        waited = self.now - self.pace.start - min(self.waiting_for_store.values(), default=self.now)
        limit = self.agents.wait_for_first
        is_c10d = self.agents.backend == "c10d"
        # node 0 was lost, and the operator may recreate all pods with it
        is_whole = len(self.recreated.get(0, ())) >= self.agents.pods > 1
        self.why = ALL_RECREATED if is_whole else _NEW_STORE
        if waited > 0:
            option = "read_timeout" if is_c10d else "timeout"
            self.why = f"the others wait {limit} seconds for node 0 ({option})"
        self._dissolve()
        self.has_store = True
        self.is_closed = False
        self.is_first = True
        self.waiting = {**dict.fromkeys(self.waiting_for_store, self.now), 0: self.now}
        # agents of c10d try again after a random delay
        if waited >= limit * (2.5 if is_c10d else 0.8):
            self._fail(set(self.waiting_for_store), self.why)
        elif waited > limit * 0.8:
            self.is_uncertain = True

        self.waiting_for_store = {}

    def _interrupt_for(self, pod: int) -> None:
        """Let the members of a round stop their processes for a pod that joins."""
        self.opening = self.now
        stopped = set(self.members)
        if self.pace.spends:
            first = max(stopped, key=lambda member: self.left[member])
            if any(not self.left[member] for member in stopped - {first}):
                self._close({*stopped, pod}, stop_why(self.agents))
                return
            for member in stopped - {first}:
                self.left[member] -= 1

        self._meet({*stopped, pod})

    def _complete(self) -> None:
        """Let the waiting pods train."""
        joined = set(self.waiting)
        newcomers = joined & self.newcomers if not self.is_first else set()
        if self.ghosts:
            self._close(joined, "the round that began counted a pod that was lost meanwhile")
            return

        self._note(f"{sum(self.sizes[pod] for pod in joined)} of {self.agents.pods} pods train")
        if newcomers or (self.stale and not self.is_first):
            end, why = _predict_join(self.agents) if newcomers else (None, _STALE_RESTART)
            if end == "fail":
                self._fail(joined, why)
                return
            self.is_uncertain |= end is None
            self.why = why
        if len(joined) < len(self.sizes) and all(start == NEVER for start in self.away.values()):
            low = self.agents.low
            self.why = f"the others go on with at least {low}, after {SHRINK_SECONDS.text} seconds"
            if self.is_first:
                self.why = f"the others are recreated and start with at least {low} nodes"
        self.members = joined
        self.waiting = {}
        self.stale = False
        self.is_first = False
        self.newcomers -= joined
