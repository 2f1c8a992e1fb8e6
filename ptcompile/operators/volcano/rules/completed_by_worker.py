"""The job is over, and the master stopped, when the workers are done.

What: the pytorch plugin is on, and a policy completes the job on TaskCompleted of the worker task, or of any task.

Why: rank 0 is in the master, and writes the last checkpoint after the other ranks have ended: Volcano stops it there.

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

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_mappings, as_strings
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.volcano.rules.reading import Policy, policies, pytorch_tasks, volcano_job


def _check(subject: Subject) -> Iterator[Finding]:
    found = pytorch_tasks(subject)
    master, worker = found or (None, None)
    if master is None or worker is None or worker is master or worker.replicas == 0:
        return
    for policy in policies(subject):
        if policy.action not in ("CompleteJob", "TerminateJob") or "TaskCompleted" not in policy.events:
            continue
        if len(policy.path) == 3 or any(task is worker for _, task in policy.tasks):
            yield found_at(
                policy.path,
                f"when the pods of {worker.name} are done the job ends, and {master.name} is stopped even if rank 0 "
                "is still writing",
                f"move the policy to the task {master.name}",
                _moved(subject, policy),
            )


def _moved(subject: Subject, policy: Policy) -> Fix | None:
    """The policy at the master's task, where it is about nothing else."""
    found = pytorch_tasks(subject)
    if policy.events != ["TaskCompleted"] or found is None:
        return None
    path = ("spec", "tasks", volcano_job(subject).tasks.index(found[0]), "policies")
    there = found[0].source.get("policies")
    if any("TaskCompleted" in (one.get("event"), *as_strings(one.get("events"))) for one in as_mappings(there)):
        return Fix("remove the policy", (Edit("remove", policy.path),), safe=False)
    edit = Edit("append", path, policy.data) if isinstance(there, list) else Edit("set", path, [policy.data])
    return Fix(f"move the policy to {found[0].name}", (edit, Edit("remove", policy.path)), safe=False)


RULE = Rule("completed-by-worker", _check, severity="warning", stage="run", authority="volcano")
