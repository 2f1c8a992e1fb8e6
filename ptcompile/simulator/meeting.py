"""Which pods of a job train together, and the names under which they find one another."""

from __future__ import annotations

from ptcompile.kinds.pods import ExpandedRole
from ptcompile.simulator.launchers import LAUNCHERS
from ptcompile.simulator.launchers.rendezvous import NO_RANK, STANDALONE_ENDPOINT, Rendezvous
from ptcompile.simulator.pod import Pod, WorkloadPods

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared only, never bound

Lead = tuple[ExpandedRole, Pod, Rendezvous]
"""A role, its first pod, and that pod's rendezvous."""


def training_roles(job: WorkloadPods) -> list[Lead]:
    """Return the training roles, each with its first pod and that pod's rendezvous.

    These are the roles that start torchrun to join others. If no role does, they are the roles whose environment names
    other processes; then those with another launcher; if there are none either, the first role.
    """
    candidates = [(role, pod, pod.rendezvous) for role, pod in job.first_pods() if pod.main is not None]
    leads = [lead for lead in candidates if lead[2].launcher in ("torchrun", "tune")]
    leads = [lead for lead in leads if lead[2].endpoint != STANDALONE_ENDPOINT] or leads
    started = [lead for lead in candidates if lead[2].launcher in LAUNCHERS]
    return leads or _env_leads(candidates) or started or candidates[:1]


def _env_leads(candidates: list[Lead]) -> list[Lead]:
    """Return the roles without torchrun whose environment names other processes.

    If some of them have a rank, those without one do not train: Volcano's pytorch plugin gives every task the master's
    address, but sets the rank only for its own two tasks.
    """
    connected = [lead for lead in candidates if lead[2].backend != "none"]
    return [lead for lead in connected if lead[2].node_rank != NO_RANK] or connected


def dns_names(pod: Pod) -> list[str]:
    """Return the names under which pods in the same namespace find a pod."""
    return short_names(pod.dns, pod.view.namespace) if pod.dns else []


def short_names(full: str, namespace: str) -> list[str]:
    """Return a cluster DNS name and the short forms that the search domains of its namespace complete."""
    svc = full.removesuffix(".cluster.local")
    inside = svc.removesuffix(".svc")
    return [full, svc, inside, inside.removesuffix(f".{namespace}")]


def candidate_indexes(host: str, role: ExpandedRole) -> list[int]:
    """Return the indexes to check for a host name: the numbers at the end of its first label, and 0."""
    parts = host.partition(".")[0].split("-")[-2:]
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 12]
    if not role.count:
        return []
    return sorted({i for i in (0, *numbers) if i < role.count})
