"""How a JobSet ends and what it tries again; a TrainJob's too, whose runtime holds one (JobSet 0.12, Trainer 2.3).

- Pods are never restarted in place unless the user says OnFailure. The kubelet's restarts are counted by the Job's
  backoffLimit.
- All pods again: the Job's backoffLimit is 0, and failurePolicy.maxRestarts recreates all Jobs. A single pod could not
  rejoin a static rendezvous. One pod again: the Job's backoffLimit, and the first Job that fails is the end.
- A node that goes is told from a failure by the Job's podFailurePolicy. A pod that is replaced alone is ignored there.
  Where all start again the Job fails with the reason PodFailurePolicy, and a rule of the JobSet restarts it without
  counting; one that ends the job is FailJobSet.
- A deadline is the Job's, so it counts from each try; a rule fails the JobSet when it passes, or it would be retried.
- Node 0's success is the Job's successPolicy (Kubernetes 1.33), or that of the JobSet where the master has its own Job.
- Auxiliary roles never keep the job running: the JobSet's successPolicy names the trainers' replicatedJobs,
  and the controller deletes the Jobs that still run. Whose success theirs is stays as above, so that both are written
  where node 0 ends a job of one replicatedJob.
- A role that restarts in place has its own backoffLimit, which counts a lost node too. When that is used up the job
  has failed: a rule says so where failed Jobs of the trainers are retried. One that says Never is retried with them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Problem
from ptcompile.ir.job import Job, Role
from ptcompile.operators.batch import endings as batch_endings
from ptcompile.registry import endings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]


def unsupported(job: Job, cluster: ClusterProfile, kind: str, *, by_role: bool) -> Iterator[Problem]:
    """What cannot be said of the end of a job, and what is done roughly. `by_role`: each pod is a Job of its own."""
    if not by_role:
        yield from batch_endings.check_success_policy_support(job, cluster, kind)
    yield from batch_endings.disruption_needs_never(job, "the Job of a JobSet")
    again = endings.on_pod_failure(job, whole=True)
    if again == "RestartPod" and by_role:
        message = f"{kind} of two roles has a Job for each pod, and allows each {endings.retries(job)} failures"
        yield endings.approximation(
            endings.ON_POD_FAILURE, message, "use RestartJob, or the same for all nodes", "jobset"
        )
    yield from endings.peers_fail_too(job, each=again == "RestartPod")
    yield from endings.node_0_fails_all(job, each=again == "RestartPod")


def child_job(job: Job, role: Role, deadline: int | None, *, by_role: bool) -> Json:
    """How a Job of the JobSet ends: its fields beside the number of pods and their template. `deadline` in seconds."""
    in_place, lost = endings.restarts_in_place(role), endings.on_disruption(job)
    by_pod = endings.on_pod_failure(job, whole=True) == "RestartPod"
    spec = batch_endings.ending_fields(
        endings.restarts(job, role) if in_place else endings.retries(job) if by_pod else 0,
        "FailJob" if lost == "Ignore" and not endings.restarts_alone(job) else lost,
        in_place=in_place,
        node_0=role.trains and not by_role and endings.ends_with_node_0(job),
    )
    return spec if deadline is None else {**spec, "activeDeadlineSeconds": deadline}


def failure_policy(job: Job, deadline: int | None) -> Json | None:
    """How often all Jobs are recreated; None where the first failed one ends it. `deadline`: of a Job, in seconds."""
    in_place = all(endings.restarts_in_place(role) for role in job.roles)
    whole = not in_place and endings.on_pod_failure(job, whole=True) == "RestartJob"
    lost = endings.on_disruption(job)
    rules: list[Json] = []
    if lost == "Ignore" and not endings.restarts_alone(job) and not in_place:
        rules.append(_rule("disruption", "RestartJobSetAndIgnoreMaxRestarts", "PodFailurePolicy"))
    if lost == "FailJob" and whole:
        rules.append(_rule("disruption", "FailJobSet", "PodFailurePolicy"))
    if deadline is not None and (whole or rules):
        rules.append(_rule("deadline", "FailJobSet", "DeadlineExceeded"))
    if whole and (beside := [role.name for role in job.roles if endings.returns_alone(role)]):
        rules.append({**_rule("beside", "FailJobSet", "BackoffLimitExceeded"), "targetReplicatedJobs": beside})
    out: Json = {"maxRestarts": endings.retries(job) if whole else 0}
    if rules:
        out["rules"] = rules
    return out if whole or rules else None


def success_policy(job: Job, trainers: list[str]) -> Json | None:
    """Which replicatedJobs end the JobSet; None where all must succeed. `trainers`: those that train, by their names.

    Where they are two, the first is the master's.
    """
    node_0 = len(trainers) > 1 and endings.ends_with_node_0(job)
    if not (node_0 or job.auxiliary_roles):
        return None
    return {"operator": "All", "targetReplicatedJobs": trainers[:1] if node_0 else trainers}


def _rule(name: str, action: str, reason: str) -> Json:
    return {"name": name, "action": action, "onJobFailureReasons": [reason]}
