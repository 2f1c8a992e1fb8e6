"""A TrainJob with no nodes completes at once.

PTC240 zero-nodes: error at run (differs), by trainer.
Needs: numNodes

What: trainer.numNodes is 0.

Why: the Job has no pods and completes, and torchrun would reject PET_NNODES=0.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
        runtimeRef: {name: torch-distributed}
        trainer:
    -     numNodes: 0  # <--
    +     numNodes: 1
          numProcPerNode: 1

Fix: write 1 or more; spec.suspend keeps a TrainJob from starting.

Source: Trainer 2.3 (the schema's minimum is 0).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    num_nodes = nested_value(subject.spec, "trainer", "numNodes")
    if type(num_nodes) is int and num_nodes == 0:
        path = ("spec", "trainer", "numNodes")
        yield found_at(
            path,
            "0 nodes: no pod is created, and the TrainJob completes at once",
            "write 1 or more",
            fix_setting("set numNodes to 1", path, 1),
        )
