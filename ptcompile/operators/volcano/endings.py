"""Lifecycle policies and maxRetry: how a Volcano Job ends and what it retries (Volcano 1.16).

- RestartJob and RestartPod (1.12) each count as one retry; the attempt that reaches maxRetry fails
  the job, so maxRetry is one more than the retries that the user allows. The webhook would turn 0
  into 3.
- Without a policy for PodFailed, nothing replaces a failed pod. A container that the kubelet
  restarts never fails its pod: with restartPolicy OnFailure a policy for PodFailed is dead, and
  only TaskFailed, through the task's maxRetry, sees it.
- When a Kubernetes node is drained or lost, the kubelet sets its pod's phase before the pod is
  deleted: a process that ends with an error on SIGTERM is PodFailed, as after a crash, and no
  policy tells the two apart (Kubernetes 1.35, Volcano 1.15, run). PodEvicted is a pod that exits 0,
  never ran or is deleted by force, or one whose failure no policy handles. Without a policy for it
  the controller recreates that pod and counts nothing (issue 1866). A policy that restarts parts of
  a job on PodEvicted is counted, and may react to the controller's own deletions too (issue 4814).
- RestartJob on PodEvicted is not counted if nothing else restarts the job: then failures terminate
  it, and maxRetry is the maximum.
- TaskCompleted -> CompleteJob on the master: a worker that hangs at its end must not keep the job
  running. If all nodes must succeed, minSuccess requires it.
- An auxiliary role is a task that restarts in place and ends the job by TaskFailed, once its
  restarts are used up. The policies for PodEvicted are then on the other tasks: a data loader whose
  node is lost is recreated alone. A role with restartPolicy Never has the same policies as the
  training roles.
- A pod that the kubelet evicts for lack of memory or disk, or at node shutdown, is a failed pod:
  PodFailed.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir.job import UNLIMITED, Job, Role
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.shared import endings
from ptcompile.operators.shared.emitting import SPEC, unsupported_by_target
from ptcompile.operators.table import has_feature
from ptcompile.operators.volcano.facts import DEFAULT_MAX_RETRY, RESTART_POD_HANGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import OnPodFailure
    from ptcompile.spec.cluster_profile import ClusterProfile


def unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    """Yield the endings that Volcano cannot express, and those that it only approximates."""
    policy = job.run_policy
    failure_action = _failure_action(job, cluster)
    if policy.on_pod_failure == "RestartPod" and not has_feature(
        "volcano-restart-pod", cluster.versions()
    ):
        why = "Volcano restarts single pods only since 1.12, and the profile names an older release"
        yield unsupported_by_target(
            endings.ON_POD_FAILURE, why, "use RestartJob, or the target job or jobset"
        )
    elif failure_action == "RestartPod" and not has_feature(
        "volcano-kept-group", cluster.versions()
    ):
        help = "use RestartJob, or the target job or jobset"
        note = endings.approximation(endings.ON_POD_FAILURE, RESTART_POD_HANGS, help, "volcano")
        yield note._replace(severity="note")

    yield from _unsupported_disruptions(job, failure_action)
    if _all_must_succeed(job) and job.auxiliary_roles:
        auxiliary_names = ", ".join(role.name for role in job.auxiliary_roles)
        why = (
            f"Volcano counts pods that succeed in any role: one of {auxiliary_names} that does "
            "counts as a node"
        )
        help = (
            "keep those pods running until they are deleted, or use the target jobset or trainjob"
        )
        yield endings.approximation(endings.SUCCESS_POLICY, why, help, "volcano")

    crash = "maxRetry 1 allows no restart of the job"
    yield from endings.check_lost_pods(
        job, each=failure_action == "RestartPod", crash=crash, authority="volcano"
    )


def _unsupported_disruptions(job: Job, failure_action: OnPodFailure) -> Problems:
    policy = job.run_policy
    # a job that restarts in place has no policy for PodFailed: PodEvicted decides about lost pods
    if _restarts_in_place(job):
        if policy.on_disruption == "Count" and failure_action == "RestartPod":
            why = "Volcano recreates a pod whose node is lost without counting it"
            help = "use Ignore, or onPodFailure RestartJob, or the target job or jobset"
            yield unsupported_by_target(endings.ON_DISRUPTION, why, help)
        return

    retries = endings.retries(job)
    why = (
        f"Volcano sees a drained pod that ends with an error as failed, and retries {retries} "
        "failed pods in all"
    )
    help = "use Count with a backoffLimit that is enough for both, or the target job or jobset"
    if policy.on_disruption == "Ignore" or (policy.on_disruption == "FailJob" and retries):
        yield unsupported_by_target(endings.ON_DISRUPTION, why, help)
    elif policy.on_disruption is None and job.spot:
        yield endings.approximation((*SPEC, "spot"), why, help, "volcano")


def _failure_action(job: Job, cluster: ClusterProfile) -> OnPodFailure:
    action = endings.on_pod_failure(job)
    if action == "RestartPod" and not has_feature("volcano-restart-pod", cluster.versions()):
        return "RestartJob"
    return action


def _restarts_in_place(job: Job) -> bool:
    return all(endings.restarts_in_place(role) for role in job.roles)


def _all_must_succeed(job: Job) -> bool:
    return job.nodes > 1 and job.run_policy.success_policy == "AllNodes"


def job_fields(job: Job, cluster: ClusterProfile) -> JsonDict:
    """Return maxRetry, minSuccess and policies of the job."""
    failure_action = _failure_action(job, cluster)
    disruption_action = endings.on_disruption(job)
    eviction_action = _eviction_action(job, failure_action)
    pod_failed_action: str | None = None if _restarts_in_place(job) else failure_action
    # if failed pods restart the job, restarts for lost nodes are counted too
    is_uncounted = (
        disruption_action == "Ignore"
        and eviction_action == "RestartJob"
        and pod_failed_action != "RestartJob"
    )
    # a restart on the last attempt leaves the job Failed and keeps its logs
    if pod_failed_action == "FailJob":
        pod_failed_action = "TerminateJob" if is_uncounted else "RestartJob"

    fields: JsonDict = {
        "maxRetry": UNLIMITED if is_uncounted else min(endings.retries(job) + 1, UNLIMITED)
    }
    if _all_must_succeed(job):
        fields["minSuccess"] = job.nodes
    actions: dict[str, list[str]] = {}
    for event, action in (
        ("PodFailed", pod_failed_action),
        ("PodEvicted", None if _has_task_eviction_policies(job) else eviction_action),
    ):
        if action is not None:
            actions.setdefault(action, []).append(event)

    if actions:
        fields["policies"] = [
            {"events": events, "action": action} for action, events in actions.items()
        ]

    return fields


def _eviction_action(job: Job, failure_action: OnPodFailure) -> str | None:
    """Return the action for a lost node, or None if the controller's default is right: it
    recreates only the lost pod.
    """
    disruption_action = endings.on_disruption(job)
    if disruption_action == "FailJob":
        return "TerminateJob" if endings.retries(job) else "RestartJob"
    if failure_action == "RestartPod":
        return None
    if disruption_action == "Ignore" and endings.restarts_alone(job):
        return None
    return "RestartJob"


def _has_task_eviction_policies(job: Job) -> bool:
    """Return whether PodEvicted policies are on the tasks and not on the job, because some tasks
    return alone and need none.
    """
    return any(endings.returns_alone(role) for role in job.roles)


def task_eviction_action(job: Job, cluster: ClusterProfile) -> str | None:
    """Return the action that tasks have for a lost node, or None if the job's policies have it or
    the controller's default is enough.

    A task whose pods the controller recreates one by one has no such action.
    """
    if _has_task_eviction_policies(job):
        return _eviction_action(job, _failure_action(job, cluster))
    return None


def task_fields(job: Job, role: Role, eviction_action: str | None, *, master: bool) -> JsonDict:
    """Return maxRetry and policies of a task, with the action for lost nodes that is on each
    task.
    """
    fields: JsonDict = {"maxRetry": DEFAULT_MAX_RETRY}
    policies: list[JsonDict] = []
    if master and not _all_must_succeed(job):
        policies.append({"event": "TaskCompleted", "action": "CompleteJob"})
    if role.restart_policy == "OnFailure":
        fields["maxRetry"] = max(1, endings.restarts(job, role))  # the webhook turns 0 into 3
        policies.append({"event": "TaskFailed", "action": "TerminateJob"})
    if eviction_action is not None and not endings.returns_alone(role):
        policies.append({"event": "PodEvicted", "action": eviction_action})
    if policies:
        fields["policies"] = policies

    return fields
