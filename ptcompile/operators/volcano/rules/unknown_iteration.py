"""dependsOn has an iteration that Volcano does not know.

PTC238 unknown-iteration: warning at run (differs), by volcano.
Needs: iteration

What: a task's dependsOn.iteration is neither any nor all.

Why: no schema and no webhook checks the word, and any other one means all: a task that should start
after any of several waits for each of them.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 1
        tasks:
          - name: data
            replicas: 1
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - {name: model, replicas: 1, template: *pod}
          - name: trainer
            replicas: 1
            dependsOn:
              name: [data, model]
    -         iteration: Any  # <--
    +         iteration: any
            template: *pod

Fix: write any or all.

Source: Volcano 1.16, job controller (waitDependsOnTaskMeetCondition).
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    for i, task in enumerate(volcano_job(subject).tasks):
        iteration = nested_string(task.source, "dependsOn", "iteration")
        if iteration in ("", "any", "all"):
            continue

        path = ("spec", "tasks", i, "dependsOn", "iteration")
        suggestion = closest_match(iteration, ("any", "all"))
        yield found_at(
            path,
            f"{iteration} is treated as all: {task.name} waits for each task that it names",
            f"write {suggestion}" if suggestion else "write any or all",
            fix_setting(f"write {suggestion}", path, suggestion) if suggestion else None,
        )
