"""A task's minimum of pods is set but ignored.

PTC231 idle-task-minimum: warning at run (differs), by volcano.
Needs: minAvailable

What: a task has minAvailable, and the job's minAvailable is below the sum over its tasks.

Why: Volcano checks the tasks one by one only where the job asks for at least as many pods as its
tasks do together. Below that any pods count: all workers and no master.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
    -   minAvailable: 2  # <--
    +   minAvailable: 4
        tasks:
          - name: master
            replicas: 1
            minAvailable: 1
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - {name: worker, replicas: 4, minAvailable: 3, template: *pod}

Fix: set the job's minAvailable to the sum, or remove it: the default is the sum.

Source: Volcano 1.16, gang plugin (minTaskMember counts only where its sum is at most minMember).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    min_available = nested_int(subject.spec, "minAvailable")
    tasks = volcano_job(subject).tasks
    total = sum(task.min_available for task in tasks)
    # the webhook's default is replicas
    is_set = any(task.min_available != task.replicas for task in tasks)
    if is_set and 0 < min_available < total:
        path = ("spec", "minAvailable")
        yield found_at(
            path,
            f"{min_available} is below the {total} that the tasks require together, so the tasks' "
            "own minAvailable is ignored",
            f"set minAvailable to {total}",
            fix_setting(f"set minAvailable to {total}", path, total),
        )
