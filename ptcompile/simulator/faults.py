"""torchrun's agents, store and restarts, and what a fault does to them.

Measured with torchrun of PyTorch 2.2, 2.5, 2.13 and 2.15 on gloo, one network namespace per pod
(tests/recorded/torchrun). `Kind.lost_pod` says which other pods an operator recreates with a lost one; the fault says
when the lost pod itself comes back.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import as_string, kind_of
from ptcompile.kubernetes.versions import Version
from ptcompile.registry.table import kind_named
from ptcompile.simulator.launchers.torchrun import (
    FIRST_STORE,
    OWN_STORE,
    SHARED_STORE,
    closes_on_sigterm,
    conf_of,
    torch_of,
)
from ptcompile.simulator.meeting import JobRendezvous, Lead, dns_names, training_roles
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    FaultKind = Literal["late", "kill", "drain", "fail-process", "dns-lag"]
    End = Literal["all", "fewer", "fail"]
    """How a job ends: all pods train to completion, or fewer of them, or torchrun fails on the other pods."""


_TORCHRUN = ("torchrun", "accelerate")
"""Launchers whose agents are torchrun's."""
_JOIN, _READ, _STATIC = 600, 60, 600
"""torchrun's own waits in seconds: join_timeout and read_timeout of c10d, timeout of a static rendezvous."""


class Agents(NamedTuple):
    """The agents that meet. Times are seconds."""

    backend: str
    """`static` or `c10d`; no other is modelled."""
    low: int
    high: int
    """The fewest and the most nodes."""
    pods: int
    """Pods that train."""
    restarts: int
    own_store: bool
    """Whether each meeting has a store of its own, so that an agent that is new can join a later one."""
    wait_for_first: int
    """How long they wait for node 0."""
    wait_for_others: int
    """How long they wait for enough nodes."""
    closes: bool
    """Whether a pod that is told to end, as a node that is drained tells it, closes the rendezvous for all."""
    known_at_start: bool
    """Whether node 0 recognizes the endpoint as its own without DNS: by its bare host name, or from /etc/hosts."""
    first_store: bool = True
    """Whether agents that share a store share that of the first meeting, and not the rendezvous' own."""

    @property
    def elastic(self) -> bool:
        """Whether fewer nodes than there are pods may train."""
        return self.backend == "c10d" and self.low < min(self.high, self.pods)


def agents_of(job: WorkloadPods, found: JobRendezvous | None, torch: Version | None = None) -> Agents | None:
    """The agents of a job's meeting; None where torchrun meets no other node, or through etcd.

    `torch` is the PyTorch that they run, where that is known better than from the image and the profile.
    """
    leads = training_roles(job)
    if found is None or not leads or found.nodes < 2 or found.first.launcher not in _TORCHRUN:
        return None
    seen = found.first
    if seen.backend not in ("static", "c10d") or seen.nodes is None or seen.nodes[1] < 2:
        return None
    conf = conf_of(seen.options.get("rdzv-conf", ""))
    static = seen.backend == "static"
    return Agents(
        backend=seen.backend,
        low=seen.nodes[0],
        high=seen.nodes[1],
        pods=found.nodes,
        restarts=atoi(seen.max_restarts) or 0,
        own_store=static or all(_own_store(lead, job, torch) for lead in leads),
        wait_for_first=_seconds(conf, "timeout", _STATIC) if static else _seconds(conf, "read_timeout", _READ),
        wait_for_others=_seconds(conf, "timeout", _STATIC) if static else _seconds(conf, "join_timeout", _JOIN),
        closes=not static and any(closes_on_sigterm(torch or _torch(lead, job)) for lead in leads),
        known_at_start=static or _known(leads[0][1], seen.host),
        first_store=all((torch or _torch(lead, job)) >= FIRST_STORE for lead in leads),
    )


def _seconds(conf: dict[str, str], name: str, default: int) -> int:
    found = atoi(conf.get(name, "").strip())
    return default if found is None else found


def _own_store(lead: Lead, job: WorkloadPods, torch: Version | None) -> bool:
    return lead[1].launch.env.get(OWN_STORE) == "1" or (torch or _torch(lead, job)) < SHARED_STORE


def _torch(lead: Lead, job: WorkloadPods) -> Version:
    pod = lead[1]
    return torch_of(as_string(pod.main.spec.get("image")) if pod.main else None, job.versions)


def _known(pod: Pod, host: str) -> bool:
    """Whether a pod's /etc/hosts has the name: its host name, behind the full one where a Service is its subdomain."""
    full = dns_names(pod)[:1] if pod.view.subdomain else []
    return host in (pod.hostname, *full)


LAST_CALL = 30
"""Seconds that c10d waits for further nodes once the fewest are there (last_call_timeout)."""
SHRINK = (39, 49)
"""Seconds until the others train again without a node that went: three missed heartbeats, then the last call."""
GROW = (5, 15)
"""Seconds until a node that comes back trains with the others."""
STALE = 60
"""Seconds after which the agents give up where one looks for a key of a meeting that it was not in."""
START = 5
"""Seconds of torchrun's start after which it looks for its own name, at most, on a machine that is not busy."""

_STALE_ADDRESSES = (
    "the agents of PyTorch 2.4 and 2.5 share the store of the rendezvous, which keeps stale addresses: each attempt "
    "may fail and use up a restart"
)
_CLOSES = (
    "torchrun of PyTorch 2.3 to 2.7 closes the rendezvous when it receives SIGTERM, so the others exit with status 1 "
    "when they meet again"
)


_WHOLE = "the operator recreates all pods, which meet at a new rendezvous"


class Fault(NamedTuple):
    """One fault. Times are seconds."""

    kind: FaultKind
    pod: int = 0
    """Counted over the pods that train."""
    at: float = 0
    """After all train, of `kill`, `drain` and `fail-process`; after the job's start, of the others how long."""
    back: float | None = None
    """How long after its loss a pod is recreated; None for never."""


class Prediction(NamedTuple):
    """What is to be expected, and why."""

    end: End | None
    """None where it is a matter of chance."""
    why: str


def recreated_with(job: WorkloadPods, number: int) -> range:
    """Return the numbers of the training pods that the operator recreates when it loses training pod `number`."""
    roles = [role for role, _, _ in training_roles(job)]
    start = 0
    for role in roles:
        end = start + role.count
        if number < end:
            lost = kind_named(kind_of(job.manifest)).lost_pod(job.manifest, role.name, job.stream)
            scopes = {"none": range(0), "role": range(start, end), "job": range(sum(role.count for role in roles))}
            return scopes.get(lost.recreated if lost else "pod", range(number, number + 1))
        start = end
    return range(0)


def restarts_as_a_whole(job: WorkloadPods) -> bool:
    """Return whether the operator recreates all training pods whichever of them it loses."""
    counts = [role.count for role, _, _ in training_roles(job)]
    firsts = [sum(counts[:i]) for i, count in enumerate(counts) if count]
    return bool(firsts) and all(len(recreated_with(job, number)) == sum(counts) for number in firsts)


def claim(agents: Agents, fault: Fault, recreated: range = range(0)) -> Prediction:
    """Return the outcome of one fault in a job that meets without it.

    `recreated` are the pods that the operator recreates with the one that is killed or drained.
    """
    if fault.kind == "late":
        return _late(agents, fault.pod, fault.at)
    if fault.kind == "dns-lag":
        return _dns_lag(agents, fault.at)
    if fault.kind == "fail-process":
        return _failing(agents)
    return _gone(agents, fault, recreated)


def _late(agents: Agents, pod: int, seconds: float) -> Prediction:
    if pod == 0:
        wait, word = agents.wait_for_first, "read_timeout" if agents.backend == "c10d" else "timeout"
        if seconds <= wait * 0.8:
            return Prediction("all", f"the others wait {wait} seconds for node 0 ({word})")
        unsure = agents.backend == "c10d" and seconds < wait * 2.5  # they try again, after a random pause
        return Prediction(None if unsure else "fail", f"the others wait {wait} seconds for node 0 ({word})")
    if not agents.elastic or agents.pods - 1 < agents.low:
        meets = seconds < agents.wait_for_others
        return Prediction(
            "all" if meets else "fail", f"the others wait {agents.wait_for_others} seconds for enough nodes"
        )
    if seconds < LAST_CALL * 0.6:
        return Prediction("all", f"the last call for further nodes takes {LAST_CALL} seconds")
    return _joins(agents)


def _joins(agents: Agents) -> Prediction:
    """A new agent at a later meeting."""
    if agents.own_store and not agents.restarts:
        return Prediction(
            None, "maxRestarts is 0: as one node stops its processes for the new one, those of others may fail first"
        )
    if agents.own_store:
        return Prediction("all", "each rendezvous has its own store, so a new agent can join")
    if not agents.first_store:
        return Prediction(None, _STALE_ADDRESSES)
    return Prediction("fail", f"the agents keep the store of the first rendezvous and give up after {STALE} seconds")


def _dns_lag(agents: Agents, seconds: float) -> Prediction:
    if agents.known_at_start:
        return Prediction("all", "node 0 recognizes the endpoint as its own without DNS")
    why = "node 0 has to find the endpoint's name in DNS when its torchrun starts, or no node hosts the store"
    return Prediction("all" if seconds < 1 else None if seconds < START else "fail", why)


def _failing(agents: Agents) -> Prediction:
    if agents.backend == "static":
        return Prediction("fail", "with a static rendezvous the others do not learn of a restart")
    if not agents.restarts:
        return Prediction("fail", "maxRestarts is 0, so the processes of the other nodes fail for good too")
    if agents.own_store:
        return Prediction("all", "torchrun starts the processes of all nodes again")
    return Prediction(
        None, "the agents keep the store of the first rendezvous, whose addresses are stale: each attempt may fail"
    )


def _gone(agents: Agents, fault: Fault, recreated: range = range(0)) -> Prediction:
    if len(recreated) >= agents.pods > 1:
        return _all_recreated(agents, fault)
    if agents.backend == "static":
        return Prediction("fail", "nodes of a static rendezvous cannot meet again")
    if fault.kind == "drain" and agents.closes:
        return Prediction("fail", _CLOSES)
    if fault.pod == 0 or 0 in recreated:
        return Prediction(
            "fail", "node 0 hosts the store, and torchrun on the other pods exits with status 1 without it"
        )
    if not agents.restarts:
        return Prediction(
            "fail", "maxRestarts is 0, so the processes of the other nodes fail with the lost one for good"
        )
    if fault.back is not None:
        in_time = agents.elastic or fault.back < agents.wait_for_others
        return (
            _joins(agents)
            if in_time
            else Prediction("fail", f"the others wait {agents.wait_for_others} seconds for it")
        )
    if agents.elastic and agents.pods - 1 >= agents.low:
        return Prediction(
            "fewer", f"the others go on with at least {agents.low}, after {SHRINK[0]} to {SHRINK[1]} seconds"
        )
    return Prediction("fail", f"the others wait {agents.wait_for_others} seconds for {agents.low} nodes")


def _all_recreated(agents: Agents, fault: Fault) -> Prediction:
    """Return the outcome of a lost pod if the operator recreates all pods."""
    if fault.back is not None:
        return Prediction("all", _WHOLE)
    if fault.pod == 0:
        return Prediction("fail", f"the others are recreated and wait {agents.wait_for_first} seconds for node 0")
    if agents.elastic and agents.pods - 1 >= agents.low:
        return Prediction("fewer", f"the others are recreated and start with at least {agents.low} nodes")
    return Prediction("fail", f"the others are recreated and wait {agents.wait_for_others} seconds for it")


def sentences(agents: Agents, *, whole: bool = False) -> Iterator[str]:
    """Yield one sentence for each fault, in the order of the faults. `whole`: see `restarts_as_a_whole`."""
    yield f"torchrun, a process that fails: {_outcome(_failing(agents))}"
    if whole:
        yield f"torchrun, a lost or drained pod: {_WHOLE}"
    else:
        yield from _loss_sentences(agents)
    first, others = agents.wait_for_first, agents.wait_for_others
    yield (
        f"torchrun waits {first} seconds for node 0, and {others} seconds for enough other nodes"
        if (first != others)
        else f"torchrun waits {first} seconds for the other nodes"
    )
    if agents.elastic:
        yield f"torchrun starts with fewer than {agents.high} nodes if the others are over {LAST_CALL} seconds late"
    if not agents.known_at_start:
        yield (
            "torchrun on node 0 looks the endpoint up when it starts: if its own DNS name appears later than that (6 "
            "seconds after the start of the pod, measured), no node hosts the store and none can meet"
        )


def _loss_sentences(agents: Agents) -> Iterator[str]:
    """Yield the sentences about a lost or late pod if only that pod is recreated."""
    gone = _gone(agents, Fault("kill", agents.pods - 1))
    back = _gone(agents, Fault("kill", agents.pods - 1, back=GROW[1]))
    yield f"torchrun, a lost pod: {gone.why}"
    if agents.closes and agents.restarts:
        yield f"torchrun, a drained or deleted pod: the job fails: {_CLOSES}"
    if back.end == "all":
        yield f"torchrun, a recreated or late pod: it joins within {GROW[0]} to {GROW[1]} seconds"
    elif agents.elastic and not agents.restarts and agents.own_store:
        yield f"torchrun, a late pod: either outcome, by chance, as {_joins(agents).why}"
    elif agents.backend == "c10d" and not agents.first_store and not agents.own_store:
        yield (
            f"torchrun, a recreated or late pod: either outcome, by chance, as {_STALE_ADDRESSES} "
            "(TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    elif agents.backend == "c10d" and not agents.own_store and (agents.restarts or agents.elastic):
        yield (
            "torchrun, a pod that is recreated or joins a later rendezvous: all pods exit with status 1 after "
            f"{STALE} seconds, as their agents keep the store of the first one (PyTorch 2.6 and newer, measured on "
            "2.13 and 2.15; TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    if agents.backend == "c10d" and agents.restarts:
        yield (
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1 within 3 seconds, and "
            f"each of those {agents.pods - 1} pods has failed; they meet again only if all of them are recreated"
        )


def _outcome(found: Prediction) -> str:
    return found.why if found.end != "fail" else f"the job fails: {found.why}"
