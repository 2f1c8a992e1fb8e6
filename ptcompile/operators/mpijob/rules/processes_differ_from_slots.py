"""mpirun starts more or fewer processes than there are slots.

PTC495 processes-differ-from-slots: warning at run (differs), by mpi-operator.
Needs: mpirun/mpiexec/horovodrun

What: the launcher's `mpirun -np N` is not workers times slotsPerWorker.

Why: mpirun fills the hostfile's slots. It exits with "not enough slots" where N is larger, and
leaves GPUs idle where N is smaller.

Example: mpijob.yaml with

      - name: launcher
    -   command: [mpirun, -np, "8", python, train.py]  # <--
    +   command: [mpirun, -np, "16", python, train.py]

Fix: remove -np, or make it workers times slotsPerWorker.

Source: MPI Operator 0.8, mpi_job_controller.go.
"""

from __future__ import annotations

from itertools import pairwise

from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import Token

_COUNT = ("-np", "-n", "--np", "-c")


def check(subject: Subject) -> Findings:
    launcher = subject.template_of("launcher")
    worker = subject.template_of("worker")
    if launcher is None or not launcher.main_containers:
        return

    hosts = 0 if worker is None else worker.replicas
    if subject.spec.get("runLauncherAsWorker") is True:
        hosts += 1
    slots = hosts * nested_int(subject.spec, "slotsPerWorker", default=1)
    option = _process_option(launcher.main_containers[0].argv)
    if slots and option is not None and int(option.text) != slots:
        if int(option.text) > slots:
            outcome = "mpirun exits because there are too few slots"
        else:
            outcome = f"{slots - int(option.text)} stay idle"
        yield found_at(
            option.path,
            f"mpirun starts {option.text} processes on {slots} slots: {outcome}",
            f"use {slots}, or remove the option",
        )


def _process_option(argv: tuple[Token, ...]) -> Token | None:
    """Return the number after mpirun's -np if mpirun is the first word, or None."""
    if not argv or basename(argv[0].text) not in {"mpirun", "mpiexec", "horovodrun"}:
        return None
    for name, value in pairwise(argv):
        if name.text in _COUNT:
            return value if is_short_number(value.text) else None
    return None
