"""How the rules read a JobSet."""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, nested_map
from ptcompile.linter.subject import Subject
from ptcompile.simulator.launchers.rendezvous import Rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


_CONDITIONS = ("onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs")


def unconditional(rule: Json) -> bool:
    """Whether it answers to every failure (JobSet 0.12: an empty list is no condition)."""
    return not any(rule.get(condition) for condition in _CONDITIONS)


def jobs(subject: Subject) -> list[tuple[int, Json]]:
    """The replicatedJobs, each with its place in the list."""
    return list(enumerate(as_mappings(subject.spec.get("replicatedJobs"))))


def name_of(replicated: Json) -> str:
    """A replicatedJob's name, or an empty string."""
    return as_string(replicated.get("name"))


def child_job(replicated: Json) -> Json:
    """The spec of its Jobs."""
    return nested_map(replicated, "template", "spec")


def child_path(place: int, *more: str | int) -> Path:
    """Where something of the spec of its Jobs stands."""
    return ("spec", "replicatedJobs", place, "template", "spec", *more)


def count_of(replicated: Json) -> int:
    """How many Jobs it makes."""
    return max(0, as_int(replicated.get("replicas"), 1))


def at_once(replicated: Json) -> int:
    """How many of its pods run at once."""
    spec = child_job(replicated)
    parallelism = as_int(spec.get("parallelism"), 1)
    return count_of(replicated) * max(0, min(parallelism, as_int(spec.get("completions"), parallelism)))


def least(found: Rendezvous) -> int:
    """How many pods have to meet, at the least."""
    return found.nodes[0] if found.nodes else 1
