"""The workers of an MPIJob serve no ssh.

PTC497 workers-without-sshd: error at run (fails), by mpi-operator.
Needs: launcher worker command

What: the Worker's command only sleeps, or starts the training itself, instead of sshd.

Why: mpirun in the launcher starts its processes on the workers over ssh, and without sshd there it
fails: "Connection refused". A worker without command and args gets `/usr/sbin/sshd -De`.

Example: mpijob.yaml with

      - name: worker
    -   command: [sleep, infinity]  # <--
    +   command: [/usr/sbin/sshd, -De]
        resources: {limits: {cpu: 32, memory: 256Gi, nvidia.com/gpu: 8}}

Fix: remove the command, or start sshd in it.

Source: MPI Operator 0.8, mpi_job_controller.go, newWorker.
"""

from __future__ import annotations

from ptcompile.linter.containers import idle_command, starts_training
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    worker = subject.template_of("worker")
    if worker is None or not worker.replicas or not worker.main_containers:
        return

    container, *_ = worker.main_containers
    if (
        not container.spec.get("command")
        or container.spec.get("lifecycle")
        or any("ssh" in word for word in container.tokens)
    ):
        return

    idle = idle_command(container)
    if idle is not None or starts_training(container):
        yield found_at(
            container.argv[0].path[:-1],
            "mpirun starts processes on the workers over ssh, but they run "
            f"{idle or container.argv[0].text!r} instead of sshd",
            "remove the command, or start sshd in it",
            severity=None if idle is not None else "warning",
        )
