"""The runtime sets a variable that Trainer replaces.

PTC458 runtime-reserved-env: warning at run (differs), by trainer.
Needs: PET

What: the container node of the trainer's pods has one of PET_NNODES, PET_NPROC_PER_NODE,
PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT, under a torch policy.

Why: a TrainJob may not set them, but a runtime's are not checked. Trainer replaces them with its
own values.

Example: runtime.yaml with

      image: ghcr.io/acme/train:1.0
      env:
    -   - name: PET_NPROC_PER_NODE  # <--
    -     value: "8"
    +   - name: NCCL_DEBUG
    +     value: INFO

Fix: remove it; numNodes and numProcPerNode of the TrainJob decide.

Source: Trainer 2.3, torch plugin.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at
from ptcompile.operators.trainer.rules.runtime.reading import pod_path, policy_of, trainer_jobs
from ptcompile.operators.trainer.runtimes import RESERVED_ENV


def check(subject: Subject) -> Findings:
    if policy_of(subject) != "torch":
        return

    pods = [pod_path(index) for index, _ in trainer_jobs(subject)]
    for container in subject.containers:
        is_trainer = container.name == "node" and not container.is_init
        if not is_trainer or container.path[:-2] not in pods:
            continue

        for entry in container.variables:
            if entry.name in RESERVED_ENV:
                yield found_at(
                    entry.place,
                    f"Trainer replaces the value of {entry.name} in every TrainJob with a trainer",
                    "remove it",
                    fix_removing_variable(entry),
                )
