"""The launcher requests GPUs that it cannot see.

PTC196 launcher-without-gpus: warning at run (wastes), by mpi-operator.
Needs: {VENDORS}

What: the Launcher requests GPUs, and runLauncherAsWorker is not true.

Why: the operator sets NVIDIA_VISIBLE_DEVICES to an empty string in a launcher that is not a worker:
the GPUs are allocated and stay idle as long as the job runs.

Example: mpijob.yaml with

      - name: launcher
    -   resources: {limits: {cpu: 1, memory: 2Gi, nvidia.com/gpu: 1}}  # <--
    +   resources: {limits: {cpu: 1, memory: 2Gi}}

Fix: remove the GPUs from the launcher, or set runLauncherAsWorker: true.

Source: MPI Operator 0.8, mpi_job_controller.go.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    launcher = subject.template_of("launcher")
    if (
        launcher is None
        or not launcher.main_containers
        or subject.spec.get("runLauncherAsWorker") is True
    ):
        return

    (container,) = launcher.main_containers
    count = container.accelerators
    if count:
        yield found_at(
            (*container.path, "resources"),
            f"the operator hides the {pluralize(count, 'GPU')} of a launcher that is not a worker",
            "remove them, or set spec.runLauncherAsWorker to true",
        )
