"""Retries are limited, but nothing is retried.

What: the job's maxRetry without a policy that restarts anything, or a task's maxRetry without a policy on TaskFailed.

Why: the job's counts restarts by policies, and the task's is the threshold of the event TaskFailed: without those the
number has no effect.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 1
        maxRetry: 5  # <--
    -   policies: [{event: PodFailed, action: TerminateJob}]
    +   policies: [{event: PodFailed, action: RestartJob}]
        tasks:
          - name: trainer
            replicas: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: add the missing policy, or remove maxRetry.

Source: Volcano 1.16, job controller.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.volcano.rules.reading import policies, volcano_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def _check(subject: Subject) -> Iterator[Finding]:
    found = list(policies(subject))
    if _chosen(subject.spec) and not any(one.action.startswith("Restart") for one in found):
        help = "add a policy {event: PodFailed, action: RestartJob}"
        yield _idle(("spec", "maxRetry"), "no policy restarts anything", help)
    counting = {id(one.tasks): one.tasks for one in found if {"TaskFailed", "*"} & set(one.events)}
    counted = {place for tasks in counting.values() for place, _ in tasks}
    for i, task in enumerate(volcano_job(subject).tasks):
        if _chosen(task.source) and i not in counted:
            path = ("spec", "tasks", i, "maxRetry")
            yield _idle(path, "no policy handles TaskFailed", "add a policy on TaskFailed to the task")


def _chosen(holder: Json) -> bool:
    """Whether the user wrote a number: the webhook writes 3 into every job and task."""
    return as_int(holder.get("maxRetry"), 3) not in (0, 3)


def _idle(path: Path, why: str, help: str) -> Finding:
    fix = Fix("remove maxRetry", (Edit("remove", path),), safe=False)
    return found_at(path, f"it limits nothing, since {why}", f"{help}, or remove maxRetry", fix)


RULE = Rule("idle-max-retry", _check, severity="warning", stage="style", authority="volcano")
