"""The launcher of an MPIJob starts nothing on the workers.

PTC498 launcher-without-mpirun: warning at run (wastes), by mpi-operator.
Needs: launcher worker command

What: the Launcher's command is a Python script, torchrun or accelerate, and not mpirun, and the job
has workers.

Why: only mpirun, or a launcher that uses the hostfile, starts processes on the workers. They wait
with their GPUs until the launcher ends, and the training runs in the launcher alone.

Example: mpijob.yaml with

      - name: launcher
    -   command: [python, train.py]  # <--
    +   command: [mpirun, -np, "16", python, train.py]

Fix: start the script with mpirun. Ignore it if the script itself runs mpirun.

Source: MPI Operator 0.8, mpi_job_controller.go: the hostfile is the only thing that names the
workers.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestContainer

_HOST_WORDS = ("mpi", "hostfile", "horovod", "ssh", "srun", "prterun", "ray")
"""Parts of command lines that may start processes on the workers after all."""


def check(subject: Subject) -> Findings:
    launcher = subject.template_of("launcher")
    worker = subject.template_of("worker")
    if launcher is None or worker is None or not worker.replicas or not launcher.main_containers:
        return

    container, *_ = launcher.main_containers
    if (name := _lone_program(container)) is not None:
        workers = "the worker" if worker.replicas == 1 else f"the {worker.replicas} workers"
        yield found_at(
            container.argv[0].path[:-1],
            f"{name} starts no processes on {workers}, which only mpirun does",
            "start the script with mpirun",
        )


def _lone_program(container: ManifestContainer) -> str | None:
    """Return the program that trains in the launcher alone, or None if it may reach the workers."""
    command_line = " ".join(container.tokens).lower()
    if not container.spec.get("command") or any(part in command_line for part in _HOST_WORDS):
        return None

    launch = container.launch
    if launch.launcher in ("torchrun", "accelerate", "deepspeed"):
        return launch.launcher
    if launch.launcher != "command" or not launch.entry:
        return None

    program, *arguments = launch.entry
    name = basename(program)
    runs_script = any(argument.endswith(".py") for argument in arguments[:2])
    return name if runs_script and name.startswith("python") else None
