"""Short constructors of jobs to rehearse, and a reader of what their pods print."""

from __future__ import annotations

from pathlib import Path

import ptcompile
from ptcompile.simulator.job import SimulatedJob
from tests.making import smallest

RANGE = "elastic: {nnodes: '2:3', nprocPerNode: 4, maxRestarts: 3}"
C10D = "elastic: {nnodes: 3, nprocPerNode: 2, rdzvBackend: c10d}"


def job(body: str, target: str = "job", name: str = "train") -> SimulatedJob:
    """Return the simulated job of a spec for a target."""
    world = ptcompile.simulate(smallest(body, name), target=target)
    assert world.jobs, world.diagnostics
    return world.jobs[0]


def read_log(folder: Path, pod: int = 0) -> str:
    """Return what a pod of the rehearsal in this folder printed."""
    return (folder / f"pod{pod}" / "log").read_text()
