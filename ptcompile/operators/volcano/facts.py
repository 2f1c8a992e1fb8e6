"""Defaults, progress, status and queues of a Volcano Job.

The Job has no field that suspends it: `vcctl job suspend` creates a Command
(bus.volcano.sh/v1alpha1).
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.kinds.model import NO_DEFAULTS, KindDefaults, QueueSystem
from ptcompile.kinds.status import Following, State, Status, field_condition
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_int,
    nested_map,
    nested_string,
    without_none,
)

DEFAULT_MAX_RETRY = 3
"""What the webhook writes into a job and a task without maxRetry, at creation alone: a file whose
tasks lack it changes them when it is applied again, which the webhook rejects (Volcano 1.15).
"""


_NEED_SVC = frozenset({"tensorflow", "mpi", "pytorch", "ray"})


def default_plugins(plugins: Json) -> JsonDict:
    """Return a job's plugins with those that others need, as the mutating webhook adds them."""
    defaulted = without_none(plugins)
    if _NEED_SVC & defaulted.keys():
        defaulted.setdefault("svc", [])
    if "mpi" in defaulted:
        defaulted.setdefault("ssh", [])
    return defaulted


RESTART_POD_HANGS = (
    "before Volcano 1.16, RestartPod deletes the PodGroup too, and a job whose pods fail together "
    "can hang forever"
)


def _sum_of_task_minimums(job: Json) -> Any:
    """Return the default of a Volcano Job's minAvailable: the sum over its tasks, by default of all
    their pods.
    """
    tasks = job.get("tasks")
    task_list = list(tasks.values()) if isinstance(tasks, dict) else []
    counts = [
        task.get("minAvailable", task.get("replicas", 0))
        for task in task_list
        if isinstance(task, dict)
    ]
    if all(isinstance(n, int) for n in counts):
        return sum(counts)

    return NO_DEFAULTS


DEFAULTS = KindDefaults(
    {
        ("batch.volcano.sh/Job", "spec", "queue"): "default",
        ("batch.volcano.sh/Job", "spec", "schedulerName"): "volcano",
        ("batch.volcano.sh/Job", "spec", "maxRetry"): DEFAULT_MAX_RETRY,
        ("scheduling.volcano.sh/PodGroup", "spec", "queue"): "default",
        ("tasks", "*", "maxRetry"): DEFAULT_MAX_RETRY,
        ("tasks", "*", "replicas"): 0,
        ("tasks", "*", "template", "spec", "schedulerName"): NO_DEFAULTS,  # inherited from the job
        ("partitionPolicy", "minPartitions"): 0,
        ("networkTopology", "mode"): "hard",
    },
    {
        ("batch.volcano.sh/Job", "spec", "minAvailable"): _sum_of_task_minimums,
        ("tasks", "*", "minAvailable"): lambda task: task.get("replicas", 0),
    },
)


PHASE = "status.state.phase"


QUEUES = QueueSystem(
    lambda _: "scheduling.volcano.sh/v1beta1",
    "Queue",
    lambda _: {"weight": 1},
    built_in_queues=frozenset({"default"}),
)


_PHASES: dict[str, State] = {
    "Running": "running",
    "Restarting": "restarting",
    "Completing": "running",
    "Terminating": "running",
    "Aborting": "running",
    "Completed": "succeeded",
    "Failed": "failed",
    "Terminated": "failed",
    "Aborted": "failed",
}
_PHASE_REASONS = ("Completing", "Terminating", "Aborting", "Terminated", "Aborted")
"""Phases that are more specific than their state."""


def status(live: Json) -> Status:
    """Return the status from `status.state.phase`: conditions are a log of phases, and counts
    return to 0 at the end.

    The controller creates no pods while the PodGroup is pending: a Pending job without pods waits
    for its queue or gang. A restarted job is Pending again. A job aborted by a command can be
    resumed.
    """
    live_status = nested_map(live, "status")
    state = nested_map(live_status, "state")
    phase = nested_string(state, "phase")
    reason = nested_string(state, "reason")
    message = nested_string(state, "message") or None
    if phase in _PHASES:
        return Status(
            _PHASES[phase], reason or (phase if phase in _PHASE_REASONS else None), message
        )
    if nested_int(live_status, "retryCount") > 0:
        return Status("restarting", reason or None, message)
    if phase != "Pending" or any(
        nested_int(live_status, field) for field in ("pending", "running")
    ):
        return Status("created", reason or None, message)

    return Status(
        "queued",
        reason or None,
        message or "its PodGroup waits for the queue or for room for all pods",
    )


FOLLOWING = Following(
    plural="jobs",
    succeeded=field_condition(PHASE, "Completed"),
    failed=field_condition(PHASE, "Failed", "Terminated", "Aborted"),
    running=field_condition(PHASE, "Running").cel,
    pods_label="volcano.sh/job-name",
    role_label="volcano.sh/task-spec",
    index_label="volcano.sh/task-index",
    status=status,
)
