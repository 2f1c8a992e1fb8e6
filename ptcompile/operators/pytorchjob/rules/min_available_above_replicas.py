"""The gang is larger than the job.

PTC131 min-available-above-replicas: warning at run (waits), by training-operator.
Needs: minAvailable

What: runPolicy.schedulingPolicy.minAvailable is above the number of replicas.

Why: a gang scheduler starts nothing until that many pods exist, and the operator never creates
them. The job stays pending.

Example: pytorchjob.yaml with

      runPolicy:
        backoffLimit: 3
        cleanPodPolicy: Running
        schedulingPolicy:
    -     minAvailable: 4  # <--
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

Source: training-operator 1.9, gang scheduling: PodGroup.minMember is minAvailable.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_value
from ptcompile.linter.rule import Finding, Findings, Subject, fix_setting, found_at

_PATH = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")


def gang_and_pods(subject: Subject) -> tuple[int, int]:
    """Return minAvailable, or 0 if it is not a number, and the number of pods."""
    min_available = nested_value(subject.spec, "runPolicy", "schedulingPolicy", "minAvailable")
    replicas = nested_map(subject.spec, "pytorchReplicaSpecs")
    written = [replica for replica in replicas.values() if replica is not None]
    total = sum(nested_int(replica, "replicas", default=1) for replica in written)
    return min_available if type(min_available) is int else 0, total


def other_size(total: int, text: str) -> Finding:
    """Return the finding that minAvailable should be the number of pods."""
    fix = fix_setting(f"set minAvailable to {total}", _PATH, total)
    return found_at(_PATH, text, f"write {total}, or remove it", fix)


def check(subject: Subject) -> Findings:
    min_available, total = gang_and_pods(subject)
    if min_available > total > 0 and not nested_value(subject.spec, "elasticPolicy", "metrics"):
        yield other_size(
            total,
            f"a gang of {min_available} pods, but the job has {total}: none is ever scheduled",
        )
