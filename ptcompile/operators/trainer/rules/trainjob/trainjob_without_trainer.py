"""A TrainJob without spec.trainer gets no PET_* variables.

PTC451 trainjob-without-trainer: warning at run (apart), by trainer.

What: spec.trainer is absent, and the runtime has a torch policy.

Why: Trainer injects the variables that torchrun reads only if spec.trainer is set, even if empty.
Without them each node trains alone with one process, regardless of the runtime's numNodes.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:  # <--
        runtimeRef: {name: torch-distributed}
    +   trainer: {numNodes: 1}

Fix: write trainer: {}, or what the training needs.

Source: Trainer 2.2 and 2.3, torch plugin; trainer#4076.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    runtime, assumed = runtime_of(subject)
    if assumed or runtimes.policy_of(runtime) != "torch" or subject.spec.get("trainer") is not None:
        return

    path = ("spec", "trainer")
    yield found_at(
        ("spec",),
        "there is no trainer, so no pod gets a PET_* variable: torchrun starts one process on each "
        f"node{', and none knows the others' if runtimes.node_count(subject.manifest, runtime) > 1 else ''}",
        "write trainer: {}, or what the training needs",
        fix_setting("add an empty trainer", path, {}),
        on_key=True,
    )
