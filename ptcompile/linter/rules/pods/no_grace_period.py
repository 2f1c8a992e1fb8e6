"""A pod that trains is killed without warning.

What: terminationGracePeriodSeconds is 0 in a pod with accelerators.

Why: on preemption, on a drain of the node or on deletion, the processes get no SIGTERM: they cannot write a last
checkpoint, and all work since the previous one is lost.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
    -   terminationGracePeriodSeconds: 0  # <--
    +   terminationGracePeriodSeconds: 120
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: allow the time that a checkpoint takes; the default is 30 seconds.

Source: Kubernetes 1.36, termination of pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.devices import accelerators
from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        seconds = as_int(template.spec.get("terminationGracePeriodSeconds"), 30)
        if seconds == 0 and any(accelerators(container) for container in template.containers):
            path = (*template.path, "spec", "terminationGracePeriodSeconds")
            yield found_at(
                path,
                "with 0 seconds the processes are killed before they can write a checkpoint",
                "allow the time that a checkpoint takes, or remove it for the default of 30 seconds",
            )


RULE = Rule("no-grace-period", _check, severity="warning", stage="style", authority="kubelet")
