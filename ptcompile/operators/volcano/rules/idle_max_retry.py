"""Retries are limited, but nothing is retried.

PTC847 idle-max-retry: warning at style, by volcano.
Needs: maxRetry

What: the job's maxRetry without a policy that restarts anything, or a task's maxRetry without a
policy on TaskFailed.

Why: the job's maxRetry limits restarts by policies, and a task's is the threshold of the event
TaskFailed. Without those policies, the number has no effect.

Example: volcano_job.yaml with

      minAvailable: 1
      maxRetry: 5  # <--
    - policies: [{event: PodFailed, action: TerminateJob}]
    + policies: [{event: PodFailed, action: RestartJob}]

Fix: add the missing policy, or remove maxRetry.

Source: Volcano 1.16, job controller.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json
from ptcompile.linter.rule import Finding, Findings, Subject, fix_removing, found_at
from ptcompile.operators.volcano.facts import DEFAULT_MAX_RETRY
from ptcompile.operators.volcano.pods import max_retry
from ptcompile.operators.volcano.rules.reading import lifecycle_policies, volcano_job


def check(subject: Subject) -> Findings:
    all_policies = lifecycle_policies(subject)
    if _is_max_retry_set(subject.spec) and not any(
        policy.action.startswith("Restart") for policy in all_policies
    ):
        yield _idle_finding(
            ("spec", "maxRetry"),
            "no policy restarts anything",
            "add a policy {event: PodFailed, action: RestartJob}",
        )

    task_groups = {
        id(policy.tasks): policy.tasks
        for policy in all_policies
        if {"TaskFailed", "*"} & set(policy.events)
    }
    counted_tasks = {index for tasks in task_groups.values() for index, _ in tasks}
    for i, task in enumerate(volcano_job(subject).tasks):
        if _is_max_retry_set(task.source) and i not in counted_tasks:
            yield _idle_finding(
                ("spec", "tasks", i, "maxRetry"),
                "no policy handles TaskFailed",
                "add a policy on TaskFailed to the task",
            )


def _is_max_retry_set(holder: Json) -> bool:
    """Return whether the user set maxRetry: the webhook writes it into every job and task."""
    return max_retry(holder) != DEFAULT_MAX_RETRY


def _idle_finding(path: Path, why: str, help: str) -> Finding:
    return found_at(
        path,
        f"it limits nothing, since {why}",
        f"{help}, or remove maxRetry",
        fix_removing("remove maxRetry", path),
    )
