"""Resource claims of a TrainJob are dropped.

What: trainer.resourcesPerNode has claims.

Why: Trainer passes on only limits and requests: the pods get no device from the claim.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
        runtimeRef: {name: torch-distributed}
        trainer:
          numNodes: 1
          numProcPerNode: 1
          resourcesPerNode:
            limits: {cpu: 4, memory: 16Gi}
    -       claims: [{name: gpu}]  # <--

Fix: write the claim into the runtime's pod template.

Source: Trainer 2.3, JobSet builder.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    if nested_map(subject.spec, "trainer", "resourcesPerNode").get("claims"):
        path = ("spec", "trainer", "resourcesPerNode", "claims")
        yield found_at(
            path,
            "Trainer passes on limits and requests but drops claims: no pod gets the device",
            "write the claims into the runtime's pod template",
        )


RULE = Rule("dropped-claims", _check, severity="error", stage="run", authority="trainer")
