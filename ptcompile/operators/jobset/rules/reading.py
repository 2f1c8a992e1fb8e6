"""What rules read of a JobSet: its replicatedJobs, the Jobs and pods of each, and who waits for whom."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, integer, items, text
from ptcompile.linting.subject import Subject
from ptcompile.simulation.rendezvous import Rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def jobs(subject: Subject) -> list[tuple[int, Json]]:
    """The replicatedJobs, each with its place in the list."""
    return list(enumerate(items(subject.spec.get("replicatedJobs"))))


def name_of(replicated: Json) -> str:
    """A replicatedJob's name, or an empty string."""
    return text(replicated.get("name"))


def child(replicated: Json) -> Json:
    """The spec of its Jobs."""
    return at(replicated, "template", "spec")


def child_path(place: int, *more: str | int) -> Path:
    """Where something of the spec of its Jobs stands."""
    return ("spec", "replicatedJobs", place, "template", "spec", *more)


def count_of(replicated: Json) -> int:
    """How many Jobs it makes."""
    return max(0, integer(replicated.get("replicas"), 1))


def at_once(replicated: Json) -> int:
    """How many of its pods run at once."""
    spec = child(replicated)
    parallelism = integer(spec.get("parallelism"), 1)
    return count_of(replicated) * max(0, min(parallelism, integer(spec.get("completions"), parallelism)))


def least(found: Rendezvous) -> int:
    """How many pods have to meet, at the least."""
    return found.nodes[0] if found.nodes else 1
