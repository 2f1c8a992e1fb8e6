"""How a JobSet ends and what it retries; also for a TrainJob, whose runtime contains one (JobSet
0.12, Trainer 2.3).

- Pods never restart in place unless the user sets OnFailure. The Job's backoffLimit counts the
  kubelet's restarts.
- To restart all pods, the Job's backoffLimit is 0 and failurePolicy.maxRestarts recreates all Jobs:
  a single pod could not rejoin a static rendezvous. To restart one pod, the Job's backoffLimit
  applies, and the first failed Job ends the JobSet.
- The Job's podFailurePolicy distinguishes a lost Kubernetes node from a failure. If lost pods are
  replaced alone, it ignores the loss. If all pods restart, the Job fails with the reason
  PodFailurePolicy, and a rule of the JobSet restarts it without counting; if the loss ends the job,
  the rule is FailJobSet.
- A deadline belongs to the Job, so it counts from each attempt; a rule fails the JobSet when it
  passes, because the JobSet would retry otherwise.
- Success of node 0 is the Job's successPolicy (Kubernetes 1.33), or the JobSet's if the master has
  a separate Job.
- Auxiliary roles never keep the job running: the JobSet's successPolicy names the replicatedJobs of
  the training roles, and the controller deletes the Jobs that still run. The item above decides
  when those succeed, so both policies are written if node 0 ends a job with one training
  replicatedJob.
- A role that restarts in place has its own backoffLimit, which also counts lost nodes. When it is
  used up, the job has failed; a rule ensures that if failed Jobs of training roles are retried. A
  role with Never is retried with them.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir.job import Job, Role
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.batch import endings as batch_endings
from ptcompile.operators.shared import endings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


def check_endings(job: Job, cluster: ClusterProfile, kind: str, *, by_role: bool) -> Problems:
    """Yield problems if the target cannot express the job's ending exactly. `by_role`: whether each
    pod has a separate Job.
    """
    if not by_role:
        yield from batch_endings.check_success_policy_support(job, cluster, kind)
    yield from batch_endings.disruption_needs_never(job, "the Job of a JobSet")
    failure_action = endings.on_pod_failure(job)
    if failure_action == "RestartPod" and by_role:
        yield endings.approximation(
            endings.ON_POD_FAILURE,
            f"{kind} of two roles has a Job per pod, and each Job may fail {endings.retries(job)} "
            "times",
            "use RestartJob, or the same for all nodes",
            "jobset",
        )

    crash = "backoffLimit 0 fails its Job, and the first failed Job fails the JobSet"
    yield from endings.check_lost_pods(
        job, each=failure_action == "RestartPod", crash=crash, authority="jobset"
    )


def child_job(job: Job, role: Role, deadline: int | None, *, by_role: bool) -> JsonDict:
    """Return the fields of a child Job that decide how it ends. `deadline` is in seconds."""
    in_place = endings.restarts_in_place(role)
    if in_place:
        backoff_limit = endings.restarts(job, role)
    else:
        by_pod = endings.on_pod_failure(job) == "RestartPod"
        backoff_limit = endings.retries(job) if by_pod else 0

    disruption_action = endings.on_disruption(job)
    # the failed Job makes the JobSet restart all Jobs, by a rule of `failure_policy`
    if disruption_action == "Ignore" and not endings.restarts_alone(job):
        disruption_action = "FailJob"

    spec = batch_endings.ending_fields(
        backoff_limit,
        disruption_action,
        in_place=in_place,
        node_0=role.trains and not by_role and endings.ends_with_node_0(job),
    )
    if deadline is None:
        return spec

    return {**spec, "activeDeadlineSeconds": deadline}


def failure_policy(job: Job, deadline: int | None) -> JsonDict | None:
    """Return the JobSet's failurePolicy, or None if the first failed Job ends it. `deadline` is
    that of a Job, in seconds.
    """
    in_place = all(endings.restarts_in_place(role) for role in job.roles)
    restarts_all = not in_place and endings.on_pod_failure(job) == "RestartJob"
    disruption_action = endings.on_disruption(job)
    rules: list[JsonDict] = []
    if disruption_action == "Ignore" and not endings.restarts_alone(job) and not in_place:
        rules.append(
            _failure_rule("disruption", "RestartJobSetAndIgnoreMaxRestarts", "PodFailurePolicy")
        )
    if disruption_action == "FailJob" and restarts_all:
        rules.append(_failure_rule("disruption", "FailJobSet", "PodFailurePolicy"))
    if deadline is not None and (restarts_all or rules):
        rules.append(_failure_rule("deadline", "FailJobSet", "DeadlineExceeded"))
    auxiliary = [role.name for role in job.roles if endings.returns_alone(role)]
    if restarts_all and auxiliary:
        rule = _failure_rule("beside", "FailJobSet", "BackoffLimitExceeded")
        rules.append({**rule, "targetReplicatedJobs": auxiliary})
    if not restarts_all and not rules:
        return None

    policy: JsonDict = {"maxRestarts": endings.retries(job) if restarts_all else 0}
    if rules:
        policy["rules"] = rules
    return policy


def success_policy(job: Job, training_jobs: list[str]) -> JsonDict | None:
    """Return the JobSet's successPolicy, or None if all replicatedJobs must succeed.

    `training_jobs` are the names of the training ones; of two, the first is the master's.
    """
    node_0 = len(training_jobs) > 1 and endings.ends_with_node_0(job)
    if not (node_0 or job.auxiliary_roles):
        return None
    return {
        "operator": "All",
        "targetReplicatedJobs": training_jobs[:1] if node_0 else training_jobs,
    }


def _failure_rule(name: str, action: str, reason: str) -> JsonDict:
    return {"name": name, "action": action, "onJobFailureReasons": [reason]}
