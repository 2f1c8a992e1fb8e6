"""How a PyTorchJob ends and what it tries again (training-operator 1.9.4).

- restartPolicy of a role is Never, where a failed pod fails the job, or OnFailure, where the kubelet restarts a failed
  container and the operator recreates a pod that failed as a whole or whose node was lost. All pods again: never.
- backoffLimit counts the restarts of containers in running pods and nothing else, so a recreated pod is not
  counted. Absent, it is without limit: beside OnFailure it is written unless the spec says Unlimited. 0 with OnFailure
  is the way to outlive nodes and no failure: the first restart of a container fails the job.
- ExitCode is the user's to ask for: torchrun exits with 1 whatever failed, which is one of the codes that fail the job.
- A job that is over leaves the pods that still run as they are, restarting or waiting for peers with their GPUs, unless
  cleanPodPolicy says otherwise. So it is Running where the spec says nothing: what every other target does by itself.
- Success is the Master's. Without a Master (a range of nodes) it is that of the first worker that succeeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Problem
from ptcompile.ir.job import UNLIMITED, Job, Role
from ptcompile.registry import endings
from ptcompile.registry.emitting import unsupported_by_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.ir.job import RestartPolicy

_BATCH = "use the target job, jobset or volcano"


def unsupported(job: Job) -> Iterator[Problem]:
    """What a PyTorchJob cannot say of its end, and what it does only roughly."""
    policy = job.run_policy
    yield from endings.only_its_pod(job, "a PyTorchJob")
    counts = all(restarts(job, role) == "Never" for role in job.trainers)  # then a lost node fails the job
    if policy.on_disruption in {"Count", "FailJob"} and not counts:
        why = "the operator recreates a pod whose node is lost and does not count it (training-operator issue 2045)"
        yield unsupported_by_target(endings.ON_DISRUPTION, why, f"use Ignore, or {_BATCH[4:]}")
    never = next((role for role in job.trainers if restarts(job, role) == "Never"), None)
    if never is not None and (path := endings.outliving(job)) is not None:
        why = "a PyTorchJob survives a lost node only if its pods may restart, but restartPolicy is Never"
        if path == endings.ON_DISRUPTION:
            yield unsupported_by_target(path, why, "remove restartPolicy: Never")
        else:
            yield endings.approximation(path, why, "remove restartPolicy: Never", "training-operator")
    if job.nodes > 1:
        yield from _success(job)
        yield from endings.peers_fail_too(job, each=True)
        if never is None:
            yield from endings.node_0_fails_all(job, each=True)


def _success(job: Job) -> Iterator[Problem]:
    said = job.run_policy.success_policy
    if said == "AllNodes":
        whose = "the first worker that does" if job.elastic else "its Master"
        yield unsupported_by_target(endings.SUCCESS_POLICY, f"a PyTorchJob succeeds with {whose}", _BATCH)
    elif said == "Node0" and job.elastic:
        why = "a PyTorchJob with a range of nodes has no Master and succeeds with the first worker that does"
        yield endings.approximation(endings.SUCCESS_POLICY, why, _BATCH, "training-operator")


def restarts(job: Job, role: Role) -> RestartPolicy:
    """restartPolicy of a role."""
    again = endings.retries(job) > 0 or endings.on_disruption(job) == "Ignore"
    return role.restart_policy or ("OnFailure" if again else "Never")


def run_policy(job: Job) -> dict[str, Any]:
    """cleanPodPolicy, and backoffLimit, which is null where the operator's default is right."""
    policy = job.run_policy
    kinds = {restarts(job, role) for role in job.trainers}
    limited = "OnFailure" in kinds and "Always" not in kinds
    unlimited = policy.backoff_limit == UNLIMITED  # which is what the operator takes an absent limit for
    return {
        "cleanPodPolicy": policy.clean_pod_policy or "Running",
        "backoffLimit": None if unlimited else endings.retries(job) if limited else policy.backoff_limit,
    }
