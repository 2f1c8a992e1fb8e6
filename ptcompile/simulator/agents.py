"""torchrun's agents in a job: how they meet, how long they wait, and how often they restart."""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.versions import Version
from ptcompile.simulator.launchers.torchrun import (
    FIRST_STORE,
    closes_on_sigterm,
    conf_of,
    shares_store,
)
from ptcompile.simulator.meeting import dns_names, torch_of_pod, training_roles
from ptcompile.simulator.pod import WorkloadPods

LAST_CALL_SECONDS = 30
"""Time that c10d waits for more nodes once the minimum has joined (last_call_timeout)."""
_TORCHRUN_LAUNCHERS = ("torchrun", "accelerate")
"""Launchers whose agents are torchrun's."""
_JOIN_SECONDS = 600
_READ_SECONDS = 60
_STATIC_SECONDS = 600
"""torchrun's default timeouts in seconds: join_timeout and read_timeout of c10d, timeout of a
static rendezvous.
"""


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
    has_own_store: bool
    """Whether each round of the rendezvous has its own store, so a new agent can join a later
    round.
    """
    wait_for_first: int
    """Timeout for node 0."""
    wait_for_others: int
    """Timeout for enough nodes."""
    closes: bool
    """Whether SIGTERM to one pod, as when its Kubernetes node is drained, closes the rendezvous
    for all.
    """
    known_at_start: bool
    """Whether node 0 recognizes the endpoint as its own without DNS: by its bare host name, or
    from /etc/hosts.
    """
    shares_first_store: bool = True
    """Whether agents that share a store share the one of the first round, and not the
    rendezvous' store.
    """
    last_call: int = LAST_CALL_SECONDS
    """Time that c10d waits for more nodes once the minimum has joined."""
    keep_alive: tuple[int, int] = (5, 3)
    """Interval of a node's heartbeats, and the number of missed ones after which the others drop
    it.
    """

    @property
    def is_elastic(self) -> bool:
        """Whether the job can train with fewer nodes than it has pods."""
        return self.backend == "c10d" and self.low < min(self.high, self.pods)


def agents_of(job: WorkloadPods, torch: Version | None = None) -> Agents | None:
    """Return the agents of a job's rendezvous, or None if torchrun joins no other node or uses
    etcd.

    `torch` is the PyTorch version, if it is known more reliably than from the image and the
    profile.
    """
    rendezvous = job.rendezvous
    if rendezvous is None or rendezvous.nodes < 2:
        return None

    first = rendezvous.first
    if first.launcher not in _TORCHRUN_LAUNCHERS:
        return None
    if first.backend not in ("static", "c10d") or first.nodes is None or first.nodes.most < 2:
        return None

    leads = training_roles(job)
    conf = conf_of(first.options.get("rdzv-conf", ""))
    is_static = first.backend == "static"
    versions = [torch or torch_of_pod(lead.pod, job.versions) for lead in leads]
    envs = [lead.pod.launch.env for lead in leads]

    # the kubelet writes the full name of a pod with a subdomain to /etc/hosts
    pod = leads[0].pod
    fqdn = dns_names(pod.view)[:1] if pod.view.subdomain else []
    if is_static:
        first_wait = others_wait = _conf_seconds(conf, "timeout", _STATIC_SECONDS)
    else:
        first_wait = _conf_seconds(conf, "read_timeout", _READ_SECONDS)
        others_wait = _conf_seconds(conf, "join_timeout", _JOIN_SECONDS)

    return Agents(
        backend=first.backend,
        low=first.nodes.least,
        high=first.nodes.most,
        pods=rendezvous.nodes,
        restarts=atoi(first.max_restarts) or 0,
        has_own_store=is_static or not any(map(shares_store, envs, versions)),
        wait_for_first=first_wait,
        wait_for_others=others_wait,
        closes=not is_static and any(map(closes_on_sigterm, versions)),
        known_at_start=is_static or first.host in (pod.hostname, *fqdn),
        shares_first_store=all(version >= FIRST_STORE for version in versions),
        last_call=_conf_seconds(conf, "last_call_timeout", LAST_CALL_SECONDS),
        keep_alive=(
            _conf_seconds(conf, "keep_alive_interval", 5),
            _conf_seconds(conf, "keep_alive_max_attempt", 3),
        ),
    )


def _conf_seconds(conf: dict[str, str], name: str, default: int) -> int:
    seconds = atoi(conf.get(name, "").strip())
    return default if seconds is None else seconds
