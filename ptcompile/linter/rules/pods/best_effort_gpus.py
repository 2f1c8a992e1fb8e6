"""A pod with GPUs is evicted first, because it requests no CPU and no memory.

PTC109 best-effort-gpus: warning at run (risks), by kubelet.
Needs: {VENDORS}

What: a container requests accelerators, and no container of the pod has a CPU or memory request or
limit.

Why: accelerators do not count for the quality of service class: the pod is BestEffort. When its
node runs short of memory it is killed first, and with it the whole job. The scheduler may also
place it on a node whose CPUs are all in use.

Example: pod.yaml with

      resources:  # <--
    -   limits: {nvidia.com/gpu: 1}
    +   limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}

Fix: request CPU and memory as well. A LimitRange of the namespace can also do it.

Source: Kubernetes 1.36, quality of service classes and node-pressure eviction.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.kubelet import is_best_effort


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        requesting = next(
            (container for container in template.containers if container.accelerators), None
        )
        if requesting is not None and is_best_effort(template.spec):
            yield found_at(
                (*requesting.path, "resources"),
                "requests accelerators but no cpu or memory: the pod is BestEffort and is evicted "
                "first",
                "add requests for cpu and memory",
                on_key=True,
            )
