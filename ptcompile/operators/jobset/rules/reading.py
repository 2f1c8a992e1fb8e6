"""Readers of JobSet fields that the rules share."""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, as_int, as_mappings, as_string, nested_map
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
    return list(enumerate(as_mappings(subject.spec.get("replicatedJobs"))))


def name_of(replicated: Json) -> str:
    """Return a replicatedJob's name, or an empty string."""
    return as_string(replicated.get("name"))


def child_job(replicated: Json) -> Json:
    """Return the spec of a replicatedJob's Jobs."""
    return nested_map(replicated, "template", "spec")


def child_path(index: int, *keys: str | int) -> Path:
    """Return the path of a field in the Job spec of the replicatedJob at `index`."""
    return ("spec", "replicatedJobs", index, "template", "spec", *keys)


def job_count(replicated: Json) -> int:
    """Return the number of Jobs that a replicatedJob creates."""
    return max(0, as_int(replicated.get("replicas"), 1))


def concurrent_pods(replicated: Json) -> int:
    """Return how many pods of a replicatedJob run at once."""
    spec = child_job(replicated)
    parallelism = as_int(spec.get("parallelism"), 1)
    return job_count(replicated) * max(
        0, min(parallelism, as_int(spec.get("completions"), parallelism))
    )


def min_nodes(rendezvous: Rendezvous) -> int:
    """Return the minimum number of pods that must meet."""
    return rendezvous.nodes[0] if rendezvous.nodes else 1
