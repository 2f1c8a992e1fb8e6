"""A policy waits for pod failures, but the pods restart in place.

PTC726 dead-pod-failed-policy: warning at run (differs), by volcano.
Needs: policies

What: a policy on PodFailed or on an exit code, while restartPolicy of all its tasks is OnFailure or
Always.

Why: the kubelet restarts a failed container and the pod never fails, however often that happens:
the policy sees only pods that the node itself gives up.

Example: volcano_job.yaml with

      spec:
        policies:
          - {event: PodFailed, action: RestartJob}  # <--
        tasks:
          - name: trainer
            template:
              spec:
    -           restartPolicy: OnFailure
    +           restartPolicy: Never

Fix: write restartPolicy: Never, or a policy on TaskFailed with the task's maxRetry.

Source: Volcano 1.16; volcano#1099, #436.
"""

from __future__ import annotations

from ptcompile.diagnostics import Fix
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import lifecycle_policies, never_restart


def check(subject: Subject) -> Findings:
    for policy in lifecycle_policies(subject):
        on_failure = "PodFailed" in policy.events or policy.data.get("exitCode") is not None
        if not on_failure or not policy.restarts or "Never" in policy.restarts:
            continue

        if policy.data.get("exitCode") is None:
            event = "PodFailed"
        else:
            event = f"exit code {policy.data['exitCode']}"

        yield found_at(
            policy.path,
            f"the kubelet restarts the containers in place, so a crash never becomes {event}",
            "write restartPolicy: Never in the tasks, or act on TaskFailed",
            Fix("set restartPolicy to Never", never_restart(policy.tasks))
            if len(policy.tasks) < 9
            else None,
        )
