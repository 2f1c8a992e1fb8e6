"""What happens when a pod of a Volcano Job fails and when the job ends (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, integer, items, text, texts
from ptcompile.operators.common.failure import limits, pod_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a Volcano Job."""
    spec = at(manifest, "spec")
    tasks = items(spec.get("tasks"))
    for i, task in enumerate(tasks):
        name = _task_name(task, i)
        yield f"{name} {pod_restart(at(task, 'template', 'spec'), 'Always')}"
        yield from (f"{name}: {_policy(policy)}" for policy in items(task.get("policies")))
    policies = items(spec.get("policies"))
    yield from (f"any task: {_policy(policy)}" for policy in policies)
    failing = {"PodFailed", "*"}
    lists = [policies, *(items(task.get("policies")) for task in tasks)]
    if not any(failing & set(_events(policy)) or policy.get("exitCode") for one in lists for policy in one):
        yield "no policy for PodFailed: a failed pod is not recreated, and the others wait for it"
    elif tasks and all(text(at(task, "template", "spec").get("restartPolicy")) != "Never" for task in tasks):
        yield "the policy for PodFailed never applies: the kubelet restarts containers, so no pod fails"
    yield from _evicted_alone(tasks, policies)
    if spec.get("minSuccess") is not None:
        yield f"minSuccess {spec.get('minSuccess')}: the job is done when that many pods succeeded"
    most = integer(spec.get("maxRetry"), 3) or 3
    yield f"maxRetry {most}: " + (
        "restarts are unlimited" if most == 2**31 - 1 else "the restart with that number fails the job instead"
    )
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from limits({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the job")


def _task_name(task: Json, i: int) -> str:
    return text(task.get("name")) or f"default{i}"


def _evicted_alone(tasks: Sequence[Json], policies: Sequence[Json]) -> Iterator[str]:
    """The tasks that neither their own policies nor the job's restart when a node goes."""
    alone = [
        _task_name(task, i)
        for i, task in enumerate(tasks)
        if not any({"PodEvicted", "*"} & set(_events(one)) for one in (*items(task.get("policies")), *policies))
    ]
    if alone:
        where = "" if len(alone) == len(tasks) else f"{', '.join(alone)}: "
        yield f"{where}no policy for PodEvicted: only the pod of a lost node is recreated, and it is not counted"


def _events(policy: Json) -> list[str]:
    return [*filter(None, [text(policy.get("event"))]), *texts(policy.get("events"))]


def _policy(policy: Json) -> str:
    on = " or ".join(_events(policy)) or f"exit code {policy.get('exitCode')}"
    after = f" after {text(policy.get('timeout'))}" if policy.get("timeout") else ""
    return f"{on} -> {text(policy.get('action')) or 'nothing'}{after}"
