"""The gang counts pods that are created only after it has started.

PTC234 dependency-deadlock: error at run (waits), by volcano.
Needs: dependsOn

What: minAvailable, or its default, is above the number of pods of the tasks without dependsOn.

Why: the scheduler waits until minAvailable pods exist, and the pods of a task with dependsOn are
made when those before it run: nothing ever starts.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
    -   minAvailable: 3  # <--
    +   minAvailable: 1
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
          - {name: trainer, replicas: 2, dependsOn: {name: [data]}, template: *pod}

Fix: set minAvailable to at most the number of pods that can exist at the start.

Source: Volcano 1.16, gang plugin and dependsOn; volcano#2944, #2298.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_strings
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import tasks_with_pods


def check(subject: Subject) -> Findings:
    tasks = tasks_with_pods(subject)
    dependent = {i for i, task in tasks if nested_strings(task.source, "dependsOn", "name")}
    startable = sum(task.replicas for i, task in tasks if i not in dependent)
    written = nested_int(subject.spec, "minAvailable")
    min_available = written or sum(task.min_available for _, task in tasks)

    if dependent and 0 < startable < min_available:
        default = "" if written else " (the default)"
        path = ("spec", "minAvailable")
        yield found_at(
            path,
            f"{min_available} pods have to exist before any starts{default}, but only {startable} "
            "can: the others wait for these through dependsOn",
            f"set minAvailable to at most {startable}",
            fix_setting(f"set minAvailable to {startable}", path, startable),
        )
