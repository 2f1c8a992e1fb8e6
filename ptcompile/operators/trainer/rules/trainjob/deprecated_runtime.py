"""The runtime is deprecated.

PTC842 deprecated-runtime: warning at style, by trainer.
Needs: deprecated

What: the runtime has the label trainer.kubeflow.org/support: deprecated.

Why: its author will remove it; Trainer warns when the TrainJob is created.

Example: runtime.yaml with

    - metadata:
    -   name: acme-torch
    -   labels: {trainer.kubeflow.org/framework: torch, trainer.kubeflow.org/support: deprecated}
    + metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
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
        yield found_at(
            ("spec", "runtimeRef", "name"),
            "the runtime is labeled deprecated",
            "use another runtime",
        )
