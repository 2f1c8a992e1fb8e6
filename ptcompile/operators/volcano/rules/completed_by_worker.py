"""The job is over, and the master stopped, when the workers are done.

PTC732 completed-by-worker: warning at run (risks), by volcano.
Needs: TaskCompleted

What: the pytorch plugin is on, and a policy completes the job on TaskCompleted of the worker task,
or of any task.

Why: rank 0 is in the master, and writes the last checkpoint after the other ranks have ended:
Volcano stops it there.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
        plugins: {pytorch: []}
        policies:
          - {event: PodFailed, action: RestartJob}
    -     - {event: TaskCompleted, action: CompleteJob}  # <--
        tasks:
          - name: master
            replicas: 1
    +       policies: [{event: TaskCompleted, action: CompleteJob}]
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - {name: worker, replicas: 2, template: *pod}

Fix: write the policy at the master's task.

Source: Volcano 1.16, lifecycle policies (a job's policy is for every task).
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_mappings
from ptcompile.linter.rule import Findings, Subject, edit_adding, fix_removing, found_at
from ptcompile.operators.volcano.pods import events_of
from ptcompile.operators.volcano.rules.reading import (
    Policy,
    lifecycle_policies,
    pytorch_tasks,
    volcano_job,
)


def check(subject: Subject) -> Findings:
    tasks = pytorch_tasks(subject)
    master, worker = tasks or (None, None)
    if master is None or worker is None or worker is master or worker.replicas == 0:
        return

    for policy in lifecycle_policies(subject):
        ends_job = policy.action in ("CompleteJob", "TerminateJob")
        if not ends_job or "TaskCompleted" not in policy.events:
            continue

        is_of_job = len(policy.path) == 3
        if is_of_job or any(task is worker for _, task in policy.tasks):
            yield found_at(
                policy.path,
                f"when the pods of {worker.name} are done the job ends, and {master.name} is "
                "stopped even if rank 0 is still writing",
                f"move the policy to the task {master.name}",
                _move_policy(subject, policy),
            )


def _move_policy(subject: Subject, policy: Policy) -> Fix | None:
    """Return a fix that moves the policy to the master's task, or None if the policy has other
    events.
    """
    tasks = pytorch_tasks(subject)
    if policy.events != ["TaskCompleted"] or tasks is None:
        return None

    master, _ = tasks
    path = ("spec", "tasks", volcano_job(subject).tasks.index(master), "policies")
    master_policies = master.source.get("policies")
    if any("TaskCompleted" in events_of(data) for data in as_mappings(master_policies)):
        return fix_removing("remove the policy", policy.path)

    edit = edit_adding(master_policies, path, policy.data)
    return Fix(f"move the policy to {master.name}", (edit, Edit("remove", policy.path)))
