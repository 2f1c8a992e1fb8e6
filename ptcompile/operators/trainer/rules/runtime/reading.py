"""What rules read of a training runtime: the replicatedJobs of its JobSet, and those that a TrainJob fills in."""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.subject import Subject
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

JOBSET: Final[Path] = ("spec", "template", "spec")
"""Where the JobSet's spec stands."""


def jobset(subject: Subject) -> Json:
    """The JobSet's spec, empty where there is none."""
    return nested_map(subject.spec, "template", "spec")


def jobs(subject: Subject) -> list[tuple[int, Json]]:
    """The replicatedJobs, each with its place in the list."""
    return list(enumerate(runtimes.replicated_jobs(subject.manifest)))


def trainers(subject: Subject) -> list[tuple[int, Json]]:
    """Those whose pods a TrainJob's `spec.trainer` describes, by their label."""
    return [(i, replicated) for i, replicated in jobs(subject) if runtimes.step_label(replicated) == "trainer"]


def policy_of(subject: Subject) -> str | None:
    """`torch`, `mpi`, ..., `plain`; None for a runtime without mlPolicy."""
    return runtimes.policy_of(subject.manifest)


def job_path(place: int, *more: str | int) -> Path:
    """Where something of a replicatedJob stands."""
    return (*JOBSET, "replicatedJobs", place, *more)


def pod_path(place: int, *more: str | int) -> Path:
    """Where something of its pod spec stands."""
    return job_path(place, "template", "spec", "template", "spec", *more)


def pod_of(replicated: Json) -> Json:
    """Its pod spec, empty where there is none."""
    return nested_map(replicated, "template", "spec", "template", "spec")
