"""A field of the trainer has no effect with this runtime.

PTC143 ignored-trainer-fields: error at run (differs), by trainer.

What: trainer.numNodes, numProcPerNode or resourcesPerNode, with a runtime that has no mlPolicy.

Why: Trainer applies them through the policy. Without one the number of pods and their resources are
those of the runtime's template.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
    - metadata: {name: acme-plain}
    + metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
    +   mlPolicy: {torch: {}}
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
    -   runtimeRef: {name: acme-plain}
    +   runtimeRef: {name: acme-torch}
        trainer:
          image: ghcr.io/acme/train:1.0
          numNodes: 4  # <--

Fix: give the runtime an mlPolicy, {} at least.

Source: Trainer 2.3, runtime framework.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    runtime, assumed = runtime_of(subject)
    if assumed or runtimes.policy_of(runtime) is not None:
        return

    name = nested_string(subject.spec, "runtimeRef", "name")
    for key in ("numNodes", "numProcPerNode", "resourcesPerNode"):
        if nested_value(subject.spec, "trainer", key) is not None:
            yield found_at(
                ("spec", "trainer", key),
                f"the runtime {name} has no mlPolicy, and without one it is ignored",
                "give the runtime an mlPolicy",
            )
