"""The torchrun agents of a job, one a pod: what they hold, of which it depends what a fault does to them."""

from __future__ import annotations

from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.untyped import text
from ptcompile.kubernetes.versions import (
    FIRST_STORE,
    OWN_STORE,
    SHARED_STORE,
    Version,
    closes_when_told_to_end,
    torch_of,
)
from ptcompile.simulation.meeting import Lead, Meeting, names, training
from ptcompile.simulation.pod import Pod, Workload
from ptcompile.torchrun import conf_of
from ptcompile.typed import NamedTuple

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


def agents_of(job: Workload, found: Meeting | None, torch: Version | None = None) -> Agents | None:
    """The agents of a job's meeting; None where torchrun meets no other node, or through etcd.

    `torch` is the PyTorch that they run, where that is known better than from the image and the profile.
    """
    leads = training(job)
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
        closes=not static and any(closes_when_told_to_end(torch or _torch(lead, job)) for lead in leads),
        known_at_start=static or _known(leads[0][1], seen.host),
        first_store=all((torch or _torch(lead, job)) >= FIRST_STORE for lead in leads),
    )


def _seconds(conf: dict[str, str], name: str, default: int) -> int:
    found = atoi(conf.get(name, "").strip())
    return default if found is None else found


def _own_store(lead: Lead, job: Workload, torch: Version | None) -> bool:
    return lead[1].launch.env.get(OWN_STORE) == "1" or (torch or _torch(lead, job)) < SHARED_STORE


def _torch(lead: Lead, job: Workload) -> Version:
    pod = lead[1]
    return torch_of(text(pod.main.spec.get("image")) if pod.main else None, job.versions)


def _known(pod: Pod, host: str) -> bool:
    """Whether a pod's /etc/hosts has the name: its host name, behind the full one where a Service is its subdomain."""
    full = names(pod)[:1] if pod.view.subdomain else []
    return host in (pod.hostname, *full)
