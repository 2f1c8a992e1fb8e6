"""How a Volcano Job ends and what it tries again: policies of events and actions, and maxRetry (Volcano 1.16).

- RestartJob and RestartPod (1.12) each count one; the try that reaches maxRetry fails the job, so it is one more than
  the retries that the user wants. 0 would become 3 in the webhook.
- Without a policy for PodFailed a failed pod stays as it is. A container that the kubelet restarts never fails its pod:
  with restartPolicy OnFailure a policy for PodFailed is dead, and only TaskFailed, by the task's maxRetry, sees it.
- A node that goes has its pod deleted, which is PodEvicted. Without a policy the controller makes that pod again and
  counts nothing (issue 1866), which is right for a pod that joins the others alone. A policy that restarts parts of a
  job on PodEvicted is counted, and may act on the controller's own deletions too (issue 4814).
- RestartJob on PodEvicted is not counted where nothing else restarts the job: then failures terminate it, and maxRetry
  is the largest there is.
- TaskCompleted -> CompleteJob on the master: a worker that hangs at its end must not keep the job running. Where all
  nodes must succeed, minSuccess says so.
- An auxiliary role is a task that restarts in place and ends the job by TaskFailed, when its restarts are used
  up. The policies for PodEvicted then stand at the other tasks: a loader whose node goes is made again alone. A role
  that says Never is under the same policies as the trainers.
- A pod that the kubelet evicts for lack of memory or disk, or as the node shuts down, is a failed one: PodFailed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Problem
from ptcompile.ir.job import UNLIMITED, Job, Role
from ptcompile.registry import endings
from ptcompile.registry.emitting import SPEC, unsupported_by_target
from ptcompile.registry.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.ir.job import OnPodFailure
    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]


def unsupported(job: Job, cluster: ClusterProfile) -> Iterator[Problem]:
    """What Volcano cannot say of the end of a job, and what it does only roughly."""
    policy, again = job.run_policy, _again(job, cluster)
    if policy.on_pod_failure == "RestartPod" and not has_feature("volcano-restart-pod", cluster.versions()):
        why = "Volcano restarts single pods only since 1.12, and the profile names an older release"
        yield unsupported_by_target(endings.ON_POD_FAILURE, why, "use RestartJob, or the target job or jobset")
    if policy.on_disruption == "Count" and again == "RestartPod":
        why = "Volcano recreates a pod whose node is lost without counting it"
        yield unsupported_by_target(
            endings.ON_DISRUPTION, why, "use Ignore, or onPodFailure RestartJob, or the target job or jobset"
        )
    if endings.on_disruption(job) == "Ignore" and not endings.restarts_alone(job) and _counted(job, again):
        why = f"Volcano counts all restarts of the job alike: {endings.retries(job)} in all, lost nodes included"
        if policy.on_disruption == "Ignore":
            yield unsupported_by_target(
                endings.ON_DISRUPTION, why, "use Count, or onPodFailure RestartPod, or the target jobset"
            )
        elif policy.on_disruption is None and job.spot:
            help = "use a backoffLimit that is enough for both, or use the target jobset"
            yield endings.approximation((*SPEC, "spot"), why, help, "volcano")
    if _all_must_succeed(job) and job.beside:
        some = ", ".join(role.name for role in job.beside)
        why = f"Volcano counts pods that succeed in any role: one of {some} that does counts as a node"
        help = "keep those pods running until they are deleted, or use the target jobset or trainjob"
        yield endings.approximation(endings.SUCCESS_POLICY, why, help, "volcano")
    yield from endings.peers_fail_too(job, each=again == "RestartPod")
    yield from endings.node_0_fails_all(job, each=again == "RestartPod")


def _again(job: Job, cluster: ClusterProfile) -> OnPodFailure:
    again = endings.on_pod_failure(job, whole=True)
    alone = again == "RestartPod" and has_feature("volcano-restart-pod", cluster.versions())
    return again if alone or again != "RestartPod" else "RestartJob"


def _in_place(job: Job) -> bool:
    return all(endings.restarts_in_place(role) for role in job.roles)


def _all_must_succeed(job: Job) -> bool:
    return job.nodes > 1 and job.run_policy.success_policy == "AllNodes"


def _counted(job: Job, again: OnPodFailure) -> bool:
    """Whether failed pods restart the job, so that lost nodes cannot restart it without being counted."""
    return again == "RestartJob" and not _in_place(job)


def of_job(job: Job, cluster: ClusterProfile) -> Json:
    """maxRetry, minSuccess and policies of the job."""
    again, lost = _again(job, cluster), endings.on_disruption(job)
    evicted = _evicted(job, again)
    apart = lost == "Ignore" and evicted == "RestartJob" and not _counted(job, again)
    failed: str | None = None if _in_place(job) else again
    if failed == "FailJob":  # a restart that is the last try leaves the job Failed and its logs there
        failed = "TerminateJob" if apart else "RestartJob"
    out: Json = {"maxRetry": UNLIMITED if apart else min(endings.retries(job) + 1, UNLIMITED)}
    if _all_must_succeed(job):
        out["minSuccess"] = job.nodes
    actions: dict[str, list[str]] = {}
    for event, action in (("PodFailed", failed), ("PodEvicted", None if _by_task(job) else evicted)):
        if action is not None:
            actions.setdefault(action, []).append(event)
    if actions:
        out["policies"] = [{"events": events, "action": action} for action, events in actions.items()]
    return out


def _evicted(job: Job, again: OnPodFailure) -> str | None:
    """The action on a node that goes; None where its pod is made again, as the controller does by itself."""
    lost = endings.on_disruption(job)
    if lost == "FailJob":
        return "TerminateJob" if endings.retries(job) else "RestartJob"
    return None if again == "RestartPod" or (lost == "Ignore" and endings.restarts_alone(job)) else "RestartJob"


def _by_task(job: Job) -> bool:
    """Whether what follows when a node goes stands at each task, since it is not for all of them."""
    return any(endings.returns_alone(role) for role in job.roles)


def of_task(job: Job, role: Role, cluster: ClusterProfile, *, master: bool) -> Json:
    """maxRetry and policies of a task."""
    out: Json = {}
    policies: list[Json] = []
    if master and not _all_must_succeed(job):
        policies.append({"event": "TaskCompleted", "action": "CompleteJob"})
    if role.restart_policy == "OnFailure":
        out["maxRetry"] = max(1, endings.restarts(job, role))  # 0 would become 3
        policies.append({"event": "TaskFailed", "action": "TerminateJob"})
    evicted = _evicted(job, _again(job, cluster))
    if evicted is not None and _by_task(job) and not endings.returns_alone(role):
        policies.append({"event": "PodEvicted", "action": evicted})
    if policies:
        out["policies"] = policies
    return out
