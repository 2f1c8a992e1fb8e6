"""One failed pod stops the training, and nothing restarts it.

PTC727 failed-pod-stays: warning at run (risks), by volcano.

What: pods wait for one another, are never restarted in place, and no policy handles a failed pod.

Why: without a policy for PodFailed Volcano leaves the failed pod as it is: the other ranks hang in
their next collective and hold their GPUs.

Example: volcano_roles.yaml with

    - policies: [{event: PodEvicted, action: RestartJob}]  # <--
    + policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]

Fix: add a policy {event: PodFailed, action: RestartJob} with maxRetry, or TerminateJob to fail at
once.

Source: Volcano 1.16, lifecycle policies (the default action is SyncJob).
"""

from __future__ import annotations

from ptcompile.diagnostics import Fix
from ptcompile.linter.rule import Findings, Subject, edit_adding, found_at
from ptcompile.operators.volcano.rules.reading import (
    lifecycle_policies,
    restart_policy_of,
    tasks_with_pods,
)


def check(subject: Subject) -> Findings:
    tasks = tasks_with_pods(subject)
    if (
        any(restart_policy_of(task) != "Never" for _, task in tasks)
        or sum(task.replicas for _, task in tasks) < 2
    ):
        return
    if (
        any(policy.on_failure for policy in lifecycle_policies(subject))
        or subject.min_nodes_to_start < 2
    ):
        return

    path = ("spec", "policies")
    policy = {"event": "PodFailed", "action": "RestartJob"}
    edit = edit_adding(subject.spec.get("policies"), path, policy)
    yield found_at(
        path,
        f"nothing happens when a pod fails, but {subject.min_nodes_to_start} pods wait for one "
        "another: the others hang and keep their devices",
        "add a policy {event: PodFailed, action: RestartJob}",
        Fix("restart the job when a pod fails", (edit,)),
        on_key=True,
    )
