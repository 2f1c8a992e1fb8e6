"""torchrun's agents, store and restarts, and the effects of faults on them.

Measured with torchrun of PyTorch 2.2, 2.5, 2.13 and 2.15 on gloo, one network namespace per pod
(tests/recorded/torchrun). `Kind.lost_pod` says which other pods an operator recreates with a lost
one; the fault says when the lost pod itself is recreated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.simulator.agents import LAST_CALL_SECONDS, Agents
from ptcompile.simulator.meeting import training_roles
from ptcompile.simulator.pod import WorkloadPods
from ptcompile.simulator.rounds import (
    ALL_RECREATED,
    CLOSED_BY_SIGTERM,
    GROW_SECONDS,
    NEVER,
    STALE_ADDRESSES,
    STALE_SECONDS,
    Pace,
    Rounds,
    Step,
    stop_why,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.simulator.rounds import End, RestartingOperator

    FaultKind = Literal["late", "kill", "drain", "fail-process", "dns-lag"]


START_SECONDS = 5
"""Maximum seconds from torchrun's start until it resolves its own name, on a machine that is not
busy.
"""


class Fault(NamedTuple):
    """An injected fault. Times are in seconds."""

    kind: FaultKind
    pod: int = 0
    """Number among the training pods, from 0."""
    at: float = 0
    """Time after all pods train for `kill`, `drain` and `fail-process`; delay after the start for
    `late` and `dns-lag`.
    """
    back: float | None = None
    """Time from the loss of the pod until it is recreated, or None for never."""


class Prediction(NamedTuple):
    """The expected end of a job and the reason."""

    end: End | None
    """None if either end is possible."""
    why: str
    steps: tuple[Step, ...] = ()
    """What happens until then."""


def recreated_with(job: WorkloadPods, number: int) -> range:
    """Return the numbers of the training pods that the operator recreates when it loses training
    pod `number`.
    """
    roles = [role for role, _, _ in training_roles(job)]
    start = 0
    for role in roles:
        end = start + role.count
        if number < end:
            lost = job.record.lost_pod(job.manifest, role.name, job.stream)
            scopes = {
                "none": range(0),
                "role": range(start, end),
                "job": range(sum(role.count for role in roles)),
            }
            return scopes.get(lost.recreated if lost else "pod", range(number, number + 1))

        start = end

    return range(0)


def restarts_as_a_whole(job: WorkloadPods) -> bool:
    """Return whether the operator recreates all training pods when it loses any of them."""
    counts = [role.count for role, _, _ in training_roles(job)]
    firsts = [sum(counts[:i]) for i, count in enumerate(counts) if count]
    return bool(firsts) and all(
        len(recreated_with(job, number)) == sum(counts) for number in firsts
    )


def _paces(agents: Agents) -> Iterator[Pace]:
    """Yield the courses that are played. What happens in all of them is predicted."""
    interval, missed = agents.keep_alive
    expiries = (interval * (missed - 1) - 1, interval * missed + 4)
    for times in product(expiries, expiries, (1, GROW_SECONDS.most), (False, True)):
        yield Pace(*times)


def predict(
    agents: Agents,
    faults: Sequence[Fault],
    recreated: Sequence[range] = (),
    operator: Callable[[], RestartingOperator] | None = None,
) -> Prediction:
    """Return the outcome of faults, in the order of their time, in a job whose pods meet without
    them.

    `recreated` has, for each pod, the numbers of the pods that the operator recreates with it.
    `operator` returns a new operator that starts failed pods again, or is None if none does.
    """
    lag = next(
        (_predict_dns_lag(agents, fault.at) for fault in faults if fault.kind == "dns-lag"), None
    )
    if lag is not None and (lag.end != "all" or len(faults) == 1):
        answer = operator().answer(0, 1) if operator is not None and lag.end == "fail" else None
        # by then the others have nearly given up too, so who meets depends on who is first
        restarted = (
            "; the operator starts pod 0 again when its torchrun gives up, and then it may host "
            "the store"
        )
        if answer is not None and answer.pods:
            return Prediction(None, lag.why + restarted)
        return lag

    predictions = [_play(agents, faults, recreated, operator, pace) for pace in _paces(agents)]
    worst = min(predictions, key=lambda prediction: _ORDER.index(prediction.end))
    if all(prediction.end == worst.end for prediction in predictions):
        return worst

    return worst._replace(end=None)


_ORDER: tuple[End | None, ...] = ("fail", None, "fewer", "all")


def _predict_dns_lag(agents: Agents, seconds: float) -> Prediction:
    if agents.known_at_start:
        return Prediction("all", "node 0 recognizes the endpoint as its own without DNS")
    why = "node 0 must resolve the endpoint when its torchrun starts, or no node hosts the store"
    if seconds < 1:
        return Prediction("all", why)
    return Prediction(None if seconds < START_SECONDS else "fail", why)


def _play(
    agents: Agents, faults: Sequence[Fault], recreated: Sequence[range],
    operator: Callable[[], RestartingOperator] | None, pace: Pace,
) -> Prediction:  # fmt: skip
    """Return the outcome of faults in one course."""
    named = {fault.pod for fault in faults} if operator is None else set(range(agents.pods))
    rounds = Rounds(agents, named, recreated, operator() if operator is not None else None, pace)
    rounds.start({fault.pod: fault.at for fault in faults if fault.kind == "late"})
    for fault in sorted(
        (fault for fault in faults if fault.kind not in ("late", "dns-lag")),
        key=lambda fault: fault.at,
    ):
        rounds.play_until(fault.at)
        if fault.kind == "fail-process":
            rounds.fail_process(fault.pod)
        else:
            rounds.lose(fault.pod, fault.back, drained=fault.kind == "drain")

    rounds.play_until(NEVER)
    end = rounds.end()

    return Prediction(end, rounds.fatal if rounds.failed else rounds.why, tuple(rounds.steps))


@lru_cache(maxsize=64)
def fault_sentences(agents: Agents, *, whole: bool = False) -> tuple[str, ...]:
    """Return one sentence for each fault, in the order of the faults. `whole`: see
    `restarts_as_a_whole`.

    Cached, because each sentence takes 16 simulated courses, and the two sides of a comparison have
    the same agents.
    """
    return tuple(_fault_sentences(agents, whole=whole))


def _fault_sentences(agents: Agents, *, whole: bool) -> Iterator[str]:
    failure = predict(agents, [Fault("fail-process", agents.pods - 1)])
    end = "the job fails: " if failure.end == "fail" else ""
    yield f"torchrun, a process that fails: {end}{failure.why}"
    if whole:
        yield f"torchrun, a lost or drained pod: {ALL_RECREATED}"
    else:
        yield from _loss_sentences(agents)

    first_wait = agents.wait_for_first
    others_wait = agents.wait_for_others
    if first_wait == others_wait:
        yield f"torchrun waits {first_wait} seconds for the other nodes"
    else:
        yield (
            f"torchrun waits {first_wait} seconds for node 0, and {others_wait} seconds for enough "
            "other nodes"
        )
    if agents.is_elastic:
        yield (
            f"torchrun starts with fewer than {agents.high} nodes if the others are over "
            f"{LAST_CALL_SECONDS} seconds late"
        )
    if not agents.known_at_start:
        yield (
            "torchrun on node 0 resolves the endpoint when it starts: if its DNS name appears "
            "later (6 seconds after "
            "the start of the pod, measured), no node hosts the store and the pods never meet"
        )


def _loss_sentences(agents: Agents) -> Iterator[str]:
    """Yield the sentences about a lost or late pod if only that pod is recreated."""
    loss = predict(agents, [Fault("kill", agents.pods - 1)])
    recreation = predict(agents, [Fault("kill", agents.pods - 1, back=GROW_SECONDS.most)])

    yield f"torchrun, a lost pod: {loss.why}"
    if agents.closes and agents.restarts:
        yield f"torchrun, a drained or deleted pod: the job fails: {CLOSED_BY_SIGTERM}"
    if recreation.end == "all":
        yield f"torchrun, a recreated or late pod: it joins within {GROW_SECONDS.text} seconds"
    elif agents.is_elastic and not agents.restarts and agents.has_own_store:
        yield f"torchrun, a late pod: the outcome depends on chance, because {stop_why(agents)}"
    elif agents.backend == "c10d" and not agents.shares_first_store and not agents.has_own_store:
        yield (
            "torchrun, a recreated or late pod: the outcome depends on chance, because "
            f"{STALE_ADDRESSES} (TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    elif (
        agents.backend == "c10d"
        and not agents.has_own_store
        and (agents.restarts or agents.is_elastic)
    ):
        yield (
            "torchrun, a pod that is recreated or joins a later rendezvous: all pods exit with "
            f"status 1 after {STALE_SECONDS} seconds, as their agents keep the store of the first "
            "one (PyTorch 2.6 and newer, measured on 2.13 and 2.15; "
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    if agents.backend == "c10d" and agents.restarts:
        yield (
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1 within "
            f"3 seconds, and each of those {agents.pods - 1} pods has failed; they meet again only "
            "if all of them are recreated"
        )
