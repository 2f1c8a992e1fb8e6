"""Only an init container requests accelerators.

PTC111 accelerators-in-init: warning at run (differs), by kubelet.
Needs: initContainers {VENDORS}

What: an init container that runs to completion requests accelerators, and no container that runs
after it does.

Why: a pod holds the maximum that any of its init containers requests, for as long as it lives. The
devices stay reserved and no training container can use them.

Example: pod.yaml with

      spec:
        initContainers:
          - name: warm-up
            image: ghcr.io/acme/train:1.0
            command: [python, warm_up.py]
    -       resources:
    -         limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}  # <--
    +       resources: {limits: {cpu: 8, memory: 64Gi}}
        containers:
          - name: pytorch
    -       resources: {limits: {cpu: 8, memory: 64Gi}}
    +       resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give the accelerators to the container that trains.

Source: Kubernetes 1.36, effective requests of a pod with init containers.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        requesting = [container for container in template.containers if container.accelerators]
        if requesting and all(container.ends_first for container in requesting):
            first = requesting[0]
            yield found_at(
                (*first.path, "resources", "limits"),
                f"the pod holds {pluralize(first.accelerators, 'accelerator')} until it ends, but "
                "only this init container can use them",
                "move them to the container that trains",
            )
