"""A task without replicas creates no pods.

PTC232 task-without-replicas: error at run (differs), by volcano.

What: a task that does not set replicas.

Why: Volcano has no default for it: the task has no pods, and its template is never used.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        tasks:
          - name: trainer  # <--
    +       replicas: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: write replicas.

Source: Volcano 1.16, Job CRD (replicas is an int32 without default).
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    for i, task in enumerate(volcano_job(subject).tasks):
        if task.source.get("replicas") is None:
            path = ("spec", "tasks", i)
            yield found_at(
                path,
                f"replicas is unset, which Volcano treats as 0: {task.name} has no pods",
                "write replicas",
                fix_setting("set replicas to 1", (*path, "replicas"), 1),
            )
