"""Readers of JobSet fields that the rules share."""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)
from ptcompile.linter.rule import Subject
from ptcompile.simulator.launchers.rendezvous import Rendezvous

_CONDITIONS = ("onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs")


def is_unconditional(rule: Json) -> bool:
    """Return whether a failure rule matches every failure (JobSet 0.12: an empty list is not a
    condition).
    """
    return not any(rule.get(condition) for condition in _CONDITIONS)


def replicated_jobs(subject: Subject) -> list[tuple[int, Json]]:
    """Return the replicatedJobs, each with its index."""
    return list(enumerate(nested_maps(subject.spec, "replicatedJobs")))


def name_of(replicated: Json) -> str:
    """Return a replicatedJob's name, or an empty string."""
    return nested_string(replicated, "name")


def child_job(replicated: Json) -> Json:
    """Return the spec of a replicatedJob's Jobs."""
    return nested_map(replicated, "template", "spec")


def child_path(index: int, *keys: str | int) -> Path:
    """Return the path of a field in the Job spec of the replicatedJob at `index`."""
    return ("spec", "replicatedJobs", index, "template", "spec", *keys)


def job_count(replicated: Json) -> int:
    """Return the number of Jobs that a replicatedJob creates."""
    return max(0, nested_int(replicated, "replicas", default=1))


def concurrent_pods(replicated: Json) -> int:
    """Return how many pods of a replicatedJob run at once."""
    spec = child_job(replicated)
    parallelism = nested_int(spec, "parallelism", default=1)
    return job_count(replicated) * max(
        0, min(parallelism, nested_int(spec, "completions", default=parallelism))
    )


def min_nodes(rendezvous: Rendezvous) -> int:
    """Return the minimum number of pods that must meet."""
    return rendezvous.nodes.least if rendezvous.nodes else 1
