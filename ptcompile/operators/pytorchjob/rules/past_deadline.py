"""The deadline is over before the job begins.

What: runPolicy.activeDeadlineSeconds is 0 or less.

Why: the operator compares it with the time since the start: the job fails at once, and its pods are
deleted.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy:
          backoffLimit: 3
    -     activeDeadlineSeconds: 0  # <--
    +     activeDeadlineSeconds: 86400
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the seconds that the job may run, or remove it for no limit.

Source: training-operator 1.9, PastActiveDeadline: 0 is past.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_PATH = ("spec", "runPolicy", "activeDeadlineSeconds")


def check(subject: Subject) -> Findings:
    seconds = nested_value(subject.spec, "runPolicy", "activeDeadlineSeconds")
    if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds <= 0:
        yield found_at(
            _PATH,
            f"{seconds} seconds are over as soon as the job starts: it fails at once",
            "write the seconds that the job may run, or remove it",
            fix_removing("remove it", _PATH),
        )
