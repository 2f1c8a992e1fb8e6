"""A task restarts forever, so the job never completes.

PTC725 task-never-completes: warning at run (endless), by volcano.

What: a template's restartPolicy is Always, or unset, which means the same, and nothing else ends
the job.

Why: the kubelet starts a container again even when it has succeeded: the pod never completes, the
job stays Running and keeps its GPUs.

Example: volcano_job.yaml with

      template:
        spec:
    -     restartPolicy: Always  # <--
    +     restartPolicy: Never

Fix: write restartPolicy: Never, or OnFailure.

Source: Volcano 1.16 (sets no default); Kubernetes, pod restartPolicy.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_maps
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import (
    lifecycle_policies,
    pod_path,
    restart_policy_of,
    tasks_with_pods,
)


def check(subject: Subject) -> Findings:
    tasks = tasks_with_pods(subject)
    ending_tasks = [task for _, task in tasks if restart_policy_of(task) != "Always"]
    if _job_ends(subject, sum(task.replicas for task in ending_tasks)):
        return

    for i, task in tasks:
        if restart_policy_of(task) == "Always" and nested_maps(task.spec, "containers"):
            path = pod_path(i, "restartPolicy")
            origin = "" if task.spec.get("restartPolicy") else "unset, which means "
            yield found_at(
                path,
                f"{origin}Always: the pods of {task.name} restart after they succeed, and the job "
                "never completes",
                "write restartPolicy: Never",
                fix_setting("set restartPolicy to Never", path, "Never"),
            )


def _job_ends(subject: Subject, done: int) -> bool:
    """Return whether the job ends although some pods never do; `done` is the number of pods that
    end.
    """
    if 0 < nested_int(subject.spec, "minSuccess") <= done:
        return True

    for policy in lifecycle_policies(subject):
        ends_job = policy.action in ("CompleteJob", "TerminateJob", "AbortJob")
        is_triggered = policy.events == ["TaskFailed"] or policy.restarts - {"Always"}
        if ends_job and is_triggered and {"TaskCompleted", "TaskFailed", "*"} & set(policy.events):
            return True
    return False
