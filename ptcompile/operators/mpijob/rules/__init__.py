"""Rules for MPIJobs: manifests that the MPI Operator accepts but mpirun treats unexpectedly."""

from __future__ import annotations

from ptcompile.linter.needs import VENDORS

RULES: dict[str, str] = {
    "slots_differ_from_gpus": VENDORS,
    "launcher_without_gpus": VENDORS,
    "processes_differ_from_slots": "mpirun/mpiexec/horovodrun",
    "workers_without_sshd": "launcher worker command",
    "launcher_without_mpirun": "launcher worker command",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
