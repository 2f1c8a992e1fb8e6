"""torchrun's agents, store and restarts, and the effects of faults on them.

Measured with torchrun of PyTorch 2.2, 2.5, 2.13 and 2.15 on gloo, one network namespace per pod
(tests/recorded/torchrun). `Kind.lost_pod` says which other pods an operator recreates with a lost one; the fault says
when the lost pod itself is recreated.
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
from ptcompile.simulator.pod import Pod, WorkloadPods
from ptcompile.simulator.rendezvous import JobRendezvous, Lead, dns_names, training_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    FaultKind = Literal["late", "kill", "drain", "fail-process", "dns-lag"]
    End = Literal["all", "fewer", "fail"]
    """How a job ends: all pods train to completion, or fewer of them, or torchrun fails on the other pods."""


_TORCHRUN_LAUNCHERS = ("torchrun", "accelerate")
"""Launchers whose agents are torchrun's."""
_JOIN_SECONDS, _READ_SECONDS, _STATIC_SECONDS = 600, 60, 600
"""torchrun's default timeouts in seconds: join_timeout and read_timeout of c10d, timeout of a static rendezvous."""


class Agents(NamedTuple):
    """The elastic agents of a rendezvous. Times are in seconds."""

    backend: str
    """`static` or `c10d`; other backends are not modeled."""
    low: int
    high: int
    """`low` and `high` are the minimum and maximum number of nodes."""
    pods: int
    """Number of training pods."""
    restarts: int
    own_store: bool
    """Whether each round of the rendezvous has its own store, so a new agent can join a later round."""
    wait_for_first: int
    """Timeout for node 0."""
    wait_for_others: int
    """Timeout for enough nodes."""
    closes: bool
    """Whether SIGTERM to one pod, as when its Kubernetes node is drained, closes the rendezvous for all."""
    known_at_start: bool
    """Whether node 0 recognizes the endpoint as its own without DNS: by its bare host name, or from /etc/hosts."""
    first_store: bool = True
    """Whether agents that share a store share the one of the first round, and not the rendezvous' store."""

    @property
    def elastic(self) -> bool:
        """Whether the job can train with fewer nodes than it has pods."""
        return self.backend == "c10d" and self.low < min(self.high, self.pods)


def agents_of(job: WorkloadPods, job_rendezvous: JobRendezvous | None, torch: Version | None = None) -> Agents | None:
    """Return the agents of a job's rendezvous, or None if torchrun joins no other node or uses etcd.

    `torch` is the PyTorch version, if it is known more reliably than from the image and the profile.
    """
    leads = training_roles(job)
    if (
        job_rendezvous is None
        or not leads
        or job_rendezvous.nodes < 2
        or job_rendezvous.first.launcher not in _TORCHRUN_LAUNCHERS
    ):
        return None
    first = job_rendezvous.first
    if first.backend not in ("static", "c10d") or first.nodes is None or first.nodes[1] < 2:
        return None
    conf = conf_of(first.options.get("rdzv-conf", ""))
    is_static = first.backend == "static"
    return Agents(
        backend=first.backend,
        low=first.nodes[0],
        high=first.nodes[1],
        pods=job_rendezvous.nodes,
        restarts=atoi(first.max_restarts) or 0,
        own_store=is_static or all(_has_own_store(lead, job, torch) for lead in leads),
        wait_for_first=_conf_seconds(conf, "timeout", _STATIC_SECONDS)
        if is_static
        else _conf_seconds(conf, "read_timeout", _READ_SECONDS),
        wait_for_others=_conf_seconds(conf, "timeout", _STATIC_SECONDS)
        if is_static
        else _conf_seconds(conf, "join_timeout", _JOIN_SECONDS),
        closes=not is_static and any(closes_on_sigterm(torch or _torch_of_lead(lead, job)) for lead in leads),
        known_at_start=is_static or _is_in_hosts_file(leads[0][1], first.host),
        first_store=all((torch or _torch_of_lead(lead, job)) >= FIRST_STORE for lead in leads),
    )


def _conf_seconds(conf: dict[str, str], name: str, default: int) -> int:
    seconds = atoi(conf.get(name, "").strip())
    return default if seconds is None else seconds


def _has_own_store(lead: Lead, job: WorkloadPods, torch: Version | None) -> bool:
    return lead[1].launch.env.get(OWN_STORE) == "1" or (torch or _torch_of_lead(lead, job)) < SHARED_STORE


def _torch_of_lead(lead: Lead, job: WorkloadPods) -> Version:
    pod = lead[1]
    return torch_of(as_string(pod.main.spec.get("image")) if pod.main else None, job.versions)


def _is_in_hosts_file(pod: Pod, host: str) -> bool:
    """Return whether the pod's /etc/hosts has the name: its host name or, with a subdomain, its fully qualified
    name.
    """
    fqdn = dns_names(pod)[:1] if pod.view.subdomain else []
    return host in (pod.hostname, *fqdn)


LAST_CALL_SECONDS = 30
"""Time that c10d waits for more nodes once the minimum has joined (last_call_timeout)."""
SHRINK_SECONDS = (39, 49)
"""Range of seconds until the others train without a lost node: three missed heartbeats, then the last call."""
GROW_SECONDS = (5, 15)
"""Range of seconds until a recreated node trains with the others."""
STALE_SECONDS = 60
"""Seconds after which all agents give up if one of them waits for a key of a round that it did not join."""
START_SECONDS = 5
"""Maximum seconds from torchrun's start until it resolves its own name, on a machine that is not busy."""

_STALE_ADDRESSES = (
    "the agents of PyTorch 2.4 and 2.5 share the store of the rendezvous, which keeps stale addresses: each attempt "
    "may fail and use up a restart"
)
_CLOSED_BY_SIGTERM = (
    "torchrun of PyTorch 2.3 to 2.7 closes the rendezvous when it receives SIGTERM, so the others exit with status 1 "
    "when they meet again"
)


_ALL_RECREATED = "the operator recreates all pods, which meet at a new rendezvous"


class Fault(NamedTuple):
    """An injected fault. Times are in seconds."""

    kind: FaultKind
    pod: int = 0
    """Number among the training pods, from 0."""
    at: float = 0
    """Time after all pods train for `kill`, `drain` and `fail-process`; delay after the start for `late` and
    `dns-lag`.
    """
    back: float | None = None
    """Time from the loss of the pod until it is recreated, or None for never."""


class Prediction(NamedTuple):
    """The expected end of a job and the reason."""

    end: End | None
    """None if either end is possible."""
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
    """Return whether the operator recreates all training pods when it loses any of them."""
    counts = [role.count for role, _, _ in training_roles(job)]
    firsts = [sum(counts[:i]) for i, count in enumerate(counts) if count]
    return bool(firsts) and all(len(recreated_with(job, number)) == sum(counts) for number in firsts)


def predict(agents: Agents, fault: Fault, recreated: range = range(0)) -> Prediction:
    """Return the outcome of one fault in a job whose pods meet without it.

    `recreated` are the numbers of the pods that the operator recreates with the one that is killed or drained.
    """
    if fault.kind == "late":
        return _predict_late_start(agents, fault.pod, fault.at)
    if fault.kind == "dns-lag":
        return _predict_dns_lag(agents, fault.at)
    if fault.kind == "fail-process":
        return _predict_failed_process(agents)
    return _predict_loss(agents, fault, recreated)


def _predict_late_start(agents: Agents, pod: int, seconds: float) -> Prediction:
    if pod == 0:
        wait, option = agents.wait_for_first, "read_timeout" if agents.backend == "c10d" else "timeout"
        if seconds <= wait * 0.8:
            return Prediction("all", f"the others wait {wait} seconds for node 0 ({option})")
        is_uncertain = agents.backend == "c10d" and seconds < wait * 2.5  # agents retry after a random delay
        return Prediction(None if is_uncertain else "fail", f"the others wait {wait} seconds for node 0 ({option})")
    if not agents.elastic or agents.pods - 1 < agents.low:
        is_in_time = seconds < agents.wait_for_others
        return Prediction(
            "all" if is_in_time else "fail", f"the others wait {agents.wait_for_others} seconds for enough nodes"
        )
    if seconds < LAST_CALL_SECONDS * 0.6:
        return Prediction("all", f"the last call for further nodes takes {LAST_CALL_SECONDS} seconds")
    return _predict_join(agents)


def _predict_join(agents: Agents) -> Prediction:
    """Return the outcome of a new agent that joins a later round."""
    if agents.own_store and not agents.restarts:
        return Prediction(
            None, "maxRestarts is 0: when a node stops its processes for a new one, those of other nodes may fail first"
        )
    if agents.own_store:
        return Prediction("all", "each rendezvous has its own store, so a new agent can join")
    if not agents.first_store:
        return Prediction(None, _STALE_ADDRESSES)
    return Prediction(
        "fail", f"the agents keep the store of the first rendezvous and give up after {STALE_SECONDS} seconds"
    )


def _predict_dns_lag(agents: Agents, seconds: float) -> Prediction:
    if agents.known_at_start:
        return Prediction("all", "node 0 recognizes the endpoint as its own without DNS")
    why = "node 0 must resolve the endpoint when its torchrun starts, or no node hosts the store"
    return Prediction("all" if seconds < 1 else None if seconds < START_SECONDS else "fail", why)


def _predict_failed_process(agents: Agents) -> Prediction:
    if agents.backend == "static":
        return Prediction("fail", "with a static rendezvous the other nodes do not notice a restart")
    if not agents.restarts:
        return Prediction(
            "fail", "maxRestarts is 0, so the processes of the other nodes fail too and are not restarted"
        )
    if agents.own_store:
        return Prediction("all", "torchrun starts the processes of all nodes again")
    return Prediction(
        None, "the agents keep the store of the first rendezvous, whose addresses are stale: each attempt may fail"
    )


def _predict_loss(agents: Agents, fault: Fault, recreated: range = range(0)) -> Prediction:
    if len(recreated) >= agents.pods > 1:
        return _predict_recreation(agents, fault)
    if agents.backend == "static":
        return Prediction("fail", "nodes of a static rendezvous cannot meet again")
    if fault.kind == "drain" and agents.closes:
        return Prediction("fail", _CLOSED_BY_SIGTERM)
    if fault.pod == 0 or 0 in recreated:
        return Prediction(
            "fail", "node 0 hosts the store, and torchrun on the other pods exits with status 1 without it"
        )
    if not agents.restarts:
        return Prediction("fail", "maxRestarts is 0, so the processes of the other nodes fail and are not restarted")
    if fault.back is not None:
        is_in_time = agents.elastic or fault.back < agents.wait_for_others
        return (
            _predict_join(agents)
            if is_in_time
            else Prediction("fail", f"the others wait {agents.wait_for_others} seconds for the lost pod")
        )
    if agents.elastic and agents.pods - 1 >= agents.low:
        return Prediction(
            "fewer",
            f"the others go on with at least {agents.low}, after {SHRINK_SECONDS[0]} to {SHRINK_SECONDS[1]} seconds",
        )
    return Prediction("fail", f"the others wait {agents.wait_for_others} seconds for {agents.low} nodes")


def _predict_recreation(agents: Agents, fault: Fault) -> Prediction:
    """Return the outcome of a lost pod if the operator recreates all pods."""
    if fault.back is not None:
        return Prediction("all", _ALL_RECREATED)
    if fault.pod == 0:
        return Prediction("fail", f"the others are recreated and wait {agents.wait_for_first} seconds for node 0")
    if agents.elastic and agents.pods - 1 >= agents.low:
        return Prediction("fewer", f"the others are recreated and start with at least {agents.low} nodes")
    return Prediction("fail", f"the others are recreated and wait {agents.wait_for_others} seconds for the lost pod")


def fault_sentences(agents: Agents, *, whole: bool = False) -> Iterator[str]:
    """Yield one sentence for each fault, in the order of the faults. `whole`: see `restarts_as_a_whole`."""
    yield f"torchrun, a process that fails: {_outcome_text(_predict_failed_process(agents))}"
    if whole:
        yield f"torchrun, a lost or drained pod: {_ALL_RECREATED}"
    else:
        yield from _loss_sentences(agents)
    first_wait, others_wait = agents.wait_for_first, agents.wait_for_others
    yield (
        f"torchrun waits {first_wait} seconds for node 0, and {others_wait} seconds for enough other nodes"
        if (first_wait != others_wait)
        else f"torchrun waits {first_wait} seconds for the other nodes"
    )
    if agents.elastic:
        yield (
            f"torchrun starts with fewer than {agents.high} nodes if the others are over {LAST_CALL_SECONDS} seconds "
            "late"
        )
    if not agents.known_at_start:
        yield (
            "torchrun on node 0 resolves the endpoint when it starts: if its DNS name appears later (6 seconds after "
            "the start of the pod, measured), no node hosts the store and the pods never meet"
        )


def _loss_sentences(agents: Agents) -> Iterator[str]:
    """Yield the sentences about a lost or late pod if only that pod is recreated."""
    loss = _predict_loss(agents, Fault("kill", agents.pods - 1))
    recreation = _predict_loss(agents, Fault("kill", agents.pods - 1, back=GROW_SECONDS[1]))
    yield f"torchrun, a lost pod: {loss.why}"
    if agents.closes and agents.restarts:
        yield f"torchrun, a drained or deleted pod: the job fails: {_CLOSED_BY_SIGTERM}"
    if recreation.end == "all":
        yield f"torchrun, a recreated or late pod: it joins within {GROW_SECONDS[0]} to {GROW_SECONDS[1]} seconds"
    elif agents.elastic and not agents.restarts and agents.own_store:
        yield f"torchrun, a late pod: the outcome depends on chance, because {_predict_join(agents).why}"
    elif agents.backend == "c10d" and not agents.first_store and not agents.own_store:
        yield (
            f"torchrun, a recreated or late pod: the outcome depends on chance, because {_STALE_ADDRESSES} "
            "(TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    elif agents.backend == "c10d" and not agents.own_store and (agents.restarts or agents.elastic):
        yield (
            "torchrun, a pod that is recreated or joins a later rendezvous: all pods exit with status 1 after "
            f"{STALE_SECONDS} seconds, as their agents keep the store of the first one (PyTorch 2.6 and newer, "
            "measured on 2.13 and 2.15; TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 prevents it)"
        )
    if agents.backend == "c10d" and agents.restarts:
        yield (
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1 within 3 seconds, and "
            f"each of those {agents.pods - 1} pods has failed; they meet again only if all of them are recreated"
        )


def _outcome_text(prediction: Prediction) -> str:
    return prediction.why if prediction.end != "fail" else f"the job fails: {prediction.why}"
