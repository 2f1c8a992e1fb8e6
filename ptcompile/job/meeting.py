"""How the nodes of a job meet where the user does not say: statically or through torchrun's c10d store, and how long
they wait.

The pass `rendezvous` writes it into the job; targets ask before the passes what it will be.
"""

from __future__ import annotations

from ptcompile.job.model import Job, Launch
from ptcompile.torchrun import MEETING_SECONDS


def backend(job: Job, launch: Launch) -> str:
    """The rendezvous backend: the user's, else c10d for nodes that may have to meet again, else static.

    Nodes that met statically cannot meet again (PyTorch 2.13).
    """
    if launch.rdzv_backend is not None:
        return launch.rdzv_backend
    again = launch.max_restarts > 0 or job.elastic or _a_pod_returns(job)
    return "c10d" if again and job.most_nodes > 1 else "static"


def _a_pod_returns(job: Job) -> bool:
    """Whether a container or a pod that trains may start again while the others go on.

    Auxiliary roles take no part in the rendezvous.
    """
    policy = job.run_policy
    if any(role.restart_policy not in {None, "Never"} for role in job.trainers):
        return True
    if policy.on_pod_failure == "RestartJob":
        return False
    outlives_nodes = policy.on_disruption == "Ignore" or (job.spot and policy.on_disruption is None)
    return bool(policy.backoff_limit) or policy.on_pod_failure == "RestartPod" or outlives_nodes


def settled(job: Job, launch: Launch) -> Launch:
    """The launch with all that is decided of the meeting."""
    how = backend(job, launch)
    return launch._replace(rdzv_backend=how, rdzv_conf=_conf(job, launch, how))


def _conf(job: Job, launch: Launch, backend: str) -> dict[str, str | None]:
    """--rdzv-conf: how long nodes wait for one another, in seconds, the user's words last; None keeps one away.

    `timeout` is the static rendezvous' and etcd's. c10d does not read it: there nodes wait for node 0, whose store they
    connect to, as long as `read_timeout`, 60 seconds by default, and for the others `join_timeout` (PyTorch 2.13).
    """
    own = launch.rdzv_conf
    if job.most_nodes == 1 or (job.runtime is not None and not launch.entry):  # a runtime's command has its own
        return {**own}
    waits: dict[str, str | None] = {"timeout": str(MEETING_SECONDS), "join_timeout": str(MEETING_SECONDS)}
    if backend == "c10d":
        told = own.get("timeout", waits["timeout"])
        waits["read_timeout"] = told if told is None or told.strip().isdigit() else waits["timeout"]
    return {**waits, **own}
