"""The runtime has no place for the TrainJob's trainer settings.

PTC457 unused-trainer: error at run (differs), by trainer.

What: spec.trainer, with a runtime of which no replicatedJob carries the label
trainer.kubeflow.org/trainjob-ancestor-step: trainer.

Why: Trainer finds the pods by that label: image, command, args and env are dropped, and the
template's run.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-plain}
      spec:
        template:
          spec:
            replicatedJobs:
              - name: node
                template:
    +             metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
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
        runtimeRef: {name: acme-plain}
        trainer:  # <--
          image: ghcr.io/acme/train:1.0

Fix: label the runtime's Job template, or use another runtime.

Source: Trainer 2.3, runtime framework.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    runtime, assumed = runtime_of(subject)
    if assumed or not nested_map(subject.spec, "trainer"):
        return

    steps = [runtimes.step_label(replicated) for replicated in runtimes.replicated_jobs(runtime)]
    if "trainer" not in steps:
        path = ("spec", "trainer")
        name = nested_string(subject.spec, "runtimeRef", "name")
        yield found_at(
            path,
            f"no replicatedJob of {name} is labeled as the trainer: none of this reaches a pod",
            "label the runtime's Job template, or use another runtime",
            on_key=True,
        )
