"""The gang is smaller than the job needs to start.

PTC132 min-available-below-replicas: warning at run (waits), by training-operator.
Needs: minAvailable

What: runPolicy.schedulingPolicy.minAvailable is below the number of replicas of a job without
elasticPolicy.

Why: the scheduler starts that many pods as soon as they fit. They hold their GPUs and wait at the
rendezvous for the rest, and two such jobs may wait for each other forever.

Example: pytorchjob.yaml with

      runPolicy:
        backoffLimit: 3
        cleanPodPolicy: Running
        schedulingPolicy:
    -     minAvailable: 1  # <--
    +     minAvailable: 2
      pytorchReplicaSpecs:
        Worker:
          replicas: 1
          restartPolicy: OnFailure
          template:
            spec:
              containers:
                - name: pytorch
                  image: ghcr.io/acme/train:1.0
                  command: [torchrun, train.py]
                  resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the number of replicas, or remove it, which means the same.

Source: training-operator 1.9, gang scheduling: PodGroup.minMember is minAvailable; PyTorch 2.13,
static rendezvous.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject
from ptcompile.operators.pytorchjob.rules.min_available_above_replicas import (
    gang_and_pods,
    other_size,
)


def check(subject: Subject) -> Findings:
    min_available, total = gang_and_pods(subject)
    if 0 < min_available < total and subject.spec.get("elasticPolicy") is None:
        waits = "pods may start, and hold their GPUs while they wait for the rest"
        yield other_size(total, f"{min_available} of {total} {waits}")
