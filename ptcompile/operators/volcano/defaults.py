"""What absent fields of a Volcano Job mean, by CRD and mutating webhook; 0 retries are 3 too (Volcano 1.16)."""

from __future__ import annotations

from ptcompile.operators.common.defaults import NOTHING, Defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


def _all_tasks(job: Json) -> Any:
    """Of a Volcano job: all pods, or what the tasks say of themselves."""
    tasks = job.get("tasks")
    found = list(tasks.values()) if isinstance(tasks, dict) else []
    counts = [one.get("minAvailable", one.get("replicas", 0)) for one in found if isinstance(one, dict)]
    return sum(counts) if all(isinstance(n, int) for n in counts) else NOTHING


DEFAULTS = Defaults(
    {
        ("batch.volcano.sh/Job", "spec", "queue"): "default",
        ("batch.volcano.sh/Job", "spec", "schedulerName"): "volcano",
        ("batch.volcano.sh/Job", "spec", "maxRetry"): 3,
        ("scheduling.volcano.sh/PodGroup", "spec", "queue"): "default",
        ("tasks", "*", "maxRetry"): 3,
        ("tasks", "*", "replicas"): 0,
        ("tasks", "*", "template", "spec", "schedulerName"): NOTHING,  # it is the job's
        ("partitionPolicy", "minPartitions"): 0,
        ("networkTopology", "mode"): "hard",
    },
    {
        ("batch.volcano.sh/Job", "spec", "minAvailable"): _all_tasks,
        ("tasks", "*", "minAvailable"): lambda task: task.get("replicas", 0),
    },
)
