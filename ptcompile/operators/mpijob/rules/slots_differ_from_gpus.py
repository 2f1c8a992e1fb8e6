"""Workers have more or fewer slots than GPUs.

PTC195 slots-differ-from-gpus: warning at run (differs), by mpi-operator.
Needs: {VENDORS}

What: slotsPerWorker is not the number of GPUs that a worker asks for.

Why: the hostfile gives mpirun slotsPerWorker processes for each worker, 1 where the field is
absent. With fewer slots than GPUs the others are idle; with more, processes share one, and NCCL
fails on a duplicate GPU.

Example: mpijob.yaml with

    - slotsPerWorker: 1  # <--
    + slotsPerWorker: 8
      mpiReplicaSpecs:
        Launcher:
          template:
            spec:
              containers:
                - name: launcher
    -             command: [mpirun, -np, "2", python, train.py]
    +             command: [mpirun, -np, "16", python, train.py]

Fix: set slotsPerWorker to the number of GPUs.

Source: MPI Operator 0.8, mpi_job_controller.go.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    worker = subject.template_of("worker")
    gpus = 0
    if worker is not None and worker.main_containers:
        gpus = worker.main_containers[0].accelerators

    slots = nested_int(subject.spec, "slotsPerWorker", default=1)
    if gpus and slots and slots != gpus:
        path = ("spec", "slotsPerWorker") if "slotsPerWorker" in subject.spec else ("spec",)
        count = "one process" if slots == 1 else f"{slots} processes"
        yield found_at(
            path,
            f"mpirun starts {count} on a worker with {gpus} GPUs",
            f"set slotsPerWorker to {gpus}",
        )
