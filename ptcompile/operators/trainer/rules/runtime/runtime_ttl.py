"""A time to live in the runtime restarts finished training.

What: the runtime's JobSet has ttlSecondsAfterFinished.

Why: the JobSet is deleted when its time is up, and Trainer, which finds none for its TrainJob,
makes it again.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
    -       ttlSecondsAfterFinished: 600  # <--
            replicatedJobs:
              - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: remove it; a TrainJob has no time to live.

Source: Trainer 2.3; trainer#3779, #4052.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.trainer.rules.runtime.reading import JOBSET, jobset_spec


def check(subject: Subject) -> Findings:
    if jobset_spec(subject).get("ttlSecondsAfterFinished") is not None:
        path = (*JOBSET, "ttlSecondsAfterFinished")
        yield found_at(
            path,
            "the finished JobSet is deleted, and Trainer recreates it: the training starts over",
            "remove it",
            fix_removing("remove ttlSecondsAfterFinished", path),
        )
