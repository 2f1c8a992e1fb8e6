"""The runtime is deprecated.

What: the runtime has the label trainer.kubeflow.org/support: deprecated.

Why: its author will remove it; Trainer warns when the TrainJob is created.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
    - metadata:
    -   name: acme-torch
    -   labels: {trainer.kubeflow.org/framework: torch, trainer.kubeflow.org/support: deprecated}
    + metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
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
      ---
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
    -   runtimeRef:
    -     name: acme-torch  # <--
    +   runtimeRef: {name: acme-torch}
        trainer: {numNodes: 1}

Fix: use another runtime.

Source: Trainer 2.3, webhook.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    labels = nested_string_map(runtime_of(subject).source, "metadata", "labels")
    if (
        not runtime_of(subject).assumed
        and labels.get("trainer.kubeflow.org/support") == "deprecated"
    ):
        path = ("spec", "runtimeRef", "name")
        yield found_at(path, "the runtime is labeled deprecated", "use another runtime")
