"""The operator's part in a rehearsal: which pods start again after a failure, until its limits are
used up.

What each operator does, with its limits and delays, is `Kind.restarts`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from ptcompile.kinds.model import Retry
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.meeting import training_roles


class FailureCounter(NamedTuple):
    """The pods whose failures count together: those of the job, or one pod or Job of a role."""

    scope: str
    role: str | None = None
    pod: int | None = None
    job: int | None = None
    """Index of the Job in a role of several Jobs, else 0."""


class Answer(NamedTuple):
    """The reaction of the operator or the kubelet to a failed pod."""

    pods: tuple[int, ...]
    """Numbers of the pods that start again; empty if the pod is not started again."""
    in_place: bool
    """Whether the container starts again in its pod, which keeps its address and its volumes."""
    delay: float
    """Seconds until they start."""
    together: FailureCounter | None
    """Pods that fail with the same counter start together, after the last delay; None if each
    starts alone.
    """
    text: str
    """What happens and why, as a clause."""


CRASHES = 4
"""Failures of one pod since the last fault after which it is not started again: the cluster
would go on for hours.
"""
ALIKE = 2
"""The same for failures with the same error that no fault led to, of a pod without volumes: it
starts as before.
"""
_NUMBER = re.compile(r"\d+")
"""Numbers, such as addresses and process IDs, differ between errors that are the same."""


class Repetition:
    """The failures of pods since the last fault, and whether another start would only fail
    again.
    """

    def __init__(self, *, is_disturbed: bool) -> None:
        self.is_disturbed = is_disturbed
        """Whether a fault may lead to failures."""
        self.gave_up = False
        """Whether a pod failed so often that none is started again."""
        self._counts: Counter[int] = Counter()
        self._errors: dict[int, str] = {}
        """The error with which each pod failed last."""

    def begin_again(self) -> None:
        """Forget the failures before a fault."""
        self.is_disturbed = True
        self._counts.clear()

    def clause(self, pod: int, error: str | None, *, has_volumes: bool) -> str:
        """Count a failure, and return the clause that says why another start would fail again,
        or an empty string.
        """
        text = _NUMBER.sub("0", error or "")
        is_alike = bool(text) and text == self._errors.get(pod)
        self._errors[pod] = text
        self._counts[pod] += 1

        starts_as_before = not self.is_disturbed and not has_volumes
        if is_alike and starts_as_before and self._counts[pod] >= ALIKE:
            self.gave_up = True
            return f"twice with the same error ({error})"
        if self._counts[pod] >= CRASHES:
            self.gave_up = True
            return f"for the {CRASHES}th time"

        return ""


class _RolePods(NamedTuple):
    name: str
    start: int
    size: int


class Restarts:
    """The operator of a job, with what it has counted so far."""

    def __init__(self, job: SimulatedJob) -> None:
        self._job = job
        self._roles: list[_RolePods] = []
        start = 0
        for role, _, _ in training_roles(job):
            self._roles.append(_RolePods(role.name, start, role.count))
            start += role.count
        self._pods = range(start)
        self._counts: Counter[FailureCounter] = Counter()
        self._container_failures: Counter[int] = Counter()

    def answer(self, pod: int, exit_code: int | None) -> Answer | None:
        """Count the failure of a pod and return what happens, or None if unknown.

        `exit_code` is None for a lost pod.
        """
        role = next(role for role in self._roles if pod < role.start + role.size)
        kind = self._job.record
        retries = kind.restarts(self._job.manifest, role.name, self._job.stream, exit_code)
        if retries is None:
            return None

        used_up: list[str] = []
        for retry in retries:
            counter = _counter(retry, role, pod)
            if retry.limit is not None and self._counts[counter] >= retry.limit:
                used_up.append(retry.text)
                continue
            self._counts[counter] += 1
            return self._start_again(retry, role, pod, counter)

        why = f"{' and '.join(used_up)} used up" if used_up else "nothing restarts it"
        return Answer(pods=(), in_place=False, delay=0, together=None, text=why)

    def _start_again(
        self, retry: Retry, role: _RolePods, pod: int, counter: FailureCounter
    ) -> Answer:
        count = self._counts[counter]
        limit = "" if retry.limit is None else f", {count} of {retry.limit}"
        answer = Answer(
            pods=(pod,),
            in_place=False,
            delay=_delay(retry, count),
            together=counter,
            text=f"the pod is recreated ({retry.text}{limit})",
        )
        if retry.scope == "pod":
            return answer
        if retry.scope == "container":
            self._container_failures[pod] += 1
            return answer._replace(
                in_place=True,
                delay=_delay(retry, self._container_failures[pod]),
                together=None,
                text=f"its container starts again ({retry.text}{limit})",
            )

        # pods that are recreated begin to count anew
        for inner in [*self._counts]:
            is_recreated = retry.scope == "job" or inner.role == role.name
            if is_recreated and inner.scope in ("container", "pod"):
                del self._counts[inner]

        pods = tuple(self._pods if retry.scope == "job" else _recreated_pods(retry, role, pod))
        pods_text = (
            "all pods" if len(pods) == len(self._pods) else f"pods {', '.join(map(str, pods))}"
        )
        return answer._replace(pods=pods, text=f"{pods_text} are recreated ({retry.text}{limit})")


def _counter(retry: Retry, role: _RolePods, pod: int) -> FailureCounter:
    """Return whose failures count together with those of a pod."""
    if retry.counted == "job":
        return FailureCounter(retry.scope)
    if retry.counted == "pod":
        return FailureCounter(retry.scope, role.name, pod=pod)
    job = (pod - role.start) // retry.size if retry.size else 0
    return FailureCounter(retry.scope, role.name, job=job)


def _recreated_pods(retry: Retry, role: _RolePods, pod: int) -> range:
    """Return the pods that are recreated with `pod`: its role, or its Job if the role has
    several.
    """
    if not retry.size:
        return range(role.start, role.start + role.size)
    start = role.start + (pod - role.start) // retry.size * retry.size
    return range(start, start + retry.size)


def _delay(retry: Retry, count: int) -> float:
    """Return the delay after the failure number `count`."""
    doublings = count - 2 if retry.immediate else count - 1
    if doublings >= 0:
        return min(retry.delay * 2.0 ** min(doublings, 30), retry.longest_delay)
    return 0.0
