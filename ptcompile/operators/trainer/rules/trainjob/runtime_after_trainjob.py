"""The TrainJob comes before its runtime.

PTC243 runtime-after-trainjob: warning at apply, by trainer.
Needs: @TrainingRuntime/@ClusterTrainingRuntime

What: the runtime that runtimeRef names comes later in the same file.

Why: kubectl creates objects in the order of the file, and the webhook rejects a TrainJob whose
runtime does not exist yet.

Example: runtime.yaml with

    - apiVersion: trainer.kubeflow.org/v1alpha1
    - kind: TrainJob
    - metadata: {name: train}
    - spec:
    -   runtimeRef:
    -     name: acme-torch  # <--
    -   trainer: {numNodes: 1}
    - ---
      kind: ClusterTrainingRuntime
    + ---
    + apiVersion: trainer.kubeflow.org/v1alpha1
    + kind: TrainJob
    + metadata: {name: train}
    + spec:
    +   runtimeRef: {name: acme-torch}
    +   trainer: {numNodes: 1}

Fix: put the runtime first.

Source: Trainer 2.3, webhook.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    order = subject.stream.positions
    runtime = id(runtime_of(subject).source)
    job_order = order.get(id(subject.manifest))
    runtime_order = order.get(runtime)
    if job_order is None or runtime_order is None or runtime in subject.stream.related_ids:
        return

    if job_order < runtime_order:
        path = ("spec", "runtimeRef", "name")
        name = nested_string(subject.spec, "runtimeRef", "name")
        yield found_at(
            path,
            f"{name} comes later in the file: the first `kubectl apply` will reject this TrainJob",
            "put the runtime first",
        )
