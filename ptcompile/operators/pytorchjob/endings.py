"""restartPolicy, backoffLimit and cleanPodPolicy: how a PyTorchJob ends and what it retries
(training-operator 1.9.4).

- restartPolicy of a role is Never, with which a failed pod fails the job, or OnFailure, with which
  the kubelet restarts a failed container and the operator recreates a pod that failed or whose node
  was lost. It never recreates all pods.
- backoffLimit counts only restarts of containers in running pods, so a recreated pod is not
  counted. Absent, it means no limit: with OnFailure it is written unless the spec says Unlimited. 0
  with OnFailure survives lost nodes but no failure: the first restart of a container fails the job.
- Only the user can choose ExitCode: torchrun always exits with 1, which is one of the codes that
  fail the job.
- A finished job leaves its running pods unchanged, restarting or waiting for peers with their GPUs,
  unless cleanPodPolicy is set. So it defaults to Running here: every other target behaves like
  that.
- The job succeeds with its Master. Without a Master (a range of nodes) it succeeds with the first
  worker that does.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir.job import UNLIMITED, Job, Role
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.shared import endings
from ptcompile.operators.shared.emitting import unsupported_by_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import RestartPolicy

_OTHER_TARGETS = "the target job, jobset or volcano"


def unsupported(job: Job) -> Problems:
    """Yield the endings that a PyTorchJob cannot express, and those that it only approximates."""
    policy = job.run_policy
    yield from endings.reject_restart_job(job, "a PyTorchJob")
    roles = job.training_roles
    never = [role for role in roles if restart_policy(job, role) == "Never"]
    # a pod that never restarts is not recreated either
    lost_node_fails = len(never) == len(roles)
    if policy.on_disruption in {"Count", "FailJob"} and not lost_node_fails:
        why = (
            "the operator recreates a pod whose node is lost and does not count it "
            "(training-operator issue 2045)"
        )
        yield unsupported_by_target(endings.ON_DISRUPTION, why, f"use Ignore, or {_OTHER_TARGETS}")

    if never and (path := endings.survival_path(job)) is not None:
        why = (
            "a PyTorchJob survives a lost node only if its pods may restart, but restartPolicy is "
            "Never"
        )
        if path == endings.ON_DISRUPTION:
            yield unsupported_by_target(path, why, "remove restartPolicy: Never")
        else:
            yield endings.approximation(
                path, why, "remove restartPolicy: Never", "training-operator"
            )

    if job.nodes > 1:
        yield from _unsupported_success_policy(job)
    if job.nodes > 1 and not never:
        crash = "backoffLimit 0 fails the PyTorchJob when a container restarts"
        yield from endings.check_lost_pods(
            job, each=True, crash=crash, authority="training-operator"
        )
    else:
        crash = "restartPolicy Never fails the PyTorchJob with its first failed pod"
        problems = [*endings.peers_fail_too(job, each=True)] if job.nodes > 1 else []
        yield from problems or endings.crash_ends_job(job, crash, "training-operator")


def _unsupported_success_policy(job: Job) -> Problems:
    success_policy = job.run_policy.success_policy

    if success_policy == "AllNodes":
        deciding_pod = "the first worker that does" if job.elastic else "its Master"
        yield unsupported_by_target(
            endings.SUCCESS_POLICY,
            f"a PyTorchJob succeeds with {deciding_pod}",
            f"use {_OTHER_TARGETS}",
        )
    elif success_policy == "Node0" and job.elastic:
        yield endings.approximation(
            endings.SUCCESS_POLICY,
            "a PyTorchJob with a range of nodes has no Master and succeeds with the first worker "
            "that does",
            f"use {_OTHER_TARGETS}",
            "training-operator",
        )


def restart_policy(job: Job, role: Role) -> RestartPolicy:
    """Return the restartPolicy of a role."""
    if role.restart_policy is not None:
        return role.restart_policy
    if endings.retries(job) > 0 or endings.on_disruption(job) == "Ignore":
        return "OnFailure"
    return "Never"


def run_policy(job: Job) -> JsonDict:
    """Return cleanPodPolicy, and backoffLimit, which is null if the operator's default is right."""
    policy = job.run_policy
    restart_policies = {restart_policy(job, role) for role in job.training_roles}
    limited = "OnFailure" in restart_policies and "Always" not in restart_policies
    backoff_limit = endings.retries(job) if limited else policy.backoff_limit
    # the operator reads an absent limit as no limit
    if policy.backoff_limit == UNLIMITED:
        backoff_limit = None
    return {"cleanPodPolicy": policy.clean_pod_policy or "Running", "backoffLimit": backoff_limit}
