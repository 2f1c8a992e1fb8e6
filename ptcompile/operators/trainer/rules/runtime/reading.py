"""Readers of a training runtime for the rules: the replicatedJobs of its JobSet, and those that
a TrainJob fills in.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, nested_map
from ptcompile.linter.rule import Subject
from ptcompile.operators.trainer import runtimes

JOBSET: Path = ("spec", "template", "spec")
"""Path of the JobSet's spec."""


def jobset_spec(subject: Subject) -> Json:
    """Return the JobSet's spec, or an empty mapping."""
    return nested_map(subject.spec, "template", "spec")


def replicated_jobs(subject: Subject) -> list[tuple[int, Json]]:
    """Return the replicatedJobs, each with its index."""
    return list(enumerate(runtimes.replicated_jobs(subject.manifest)))


def trainer_jobs(subject: Subject) -> list[tuple[int, Json]]:
    """Return the replicatedJobs with the trainer's label, whose pods `spec.trainer` describes,
    each with its index.
    """
    return [
        (i, replicated)
        for i, replicated in replicated_jobs(subject)
        if runtimes.step_label(replicated) == "trainer"
    ]


def policy_of(subject: Subject) -> str | None:
    """Return `torch`, `mpi`, ..., `plain`, or None for a runtime without mlPolicy."""
    return runtimes.policy_of(subject.manifest)


def job_path(index: int, *keys: str | int) -> Path:
    """Return the path of a field of a replicatedJob."""
    return (*JOBSET, "replicatedJobs", index, *keys)


def pod_path(index: int, *keys: str | int) -> Path:
    """Return the path of a field in a replicatedJob's pod spec."""
    return job_path(index, "template", "spec", "template", "spec", *keys)


def pod_spec_of(replicated: Json) -> Json:
    """Return a replicatedJob's pod spec, or an empty mapping."""
    return nested_map(replicated, "template", "spec", "template", "spec")
