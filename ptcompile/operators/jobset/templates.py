"""The pod templates of a JobSet, and of whatever holds a JobSet's spec: one a replicatedJob (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, integer, text
from ptcompile.operators.common.templates import Template, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def of(manifest: Json) -> Iterator[Template]:
    """The templates of the replicatedJobs."""
    return of_spec(at(manifest, "spec"), ("spec",))


def of_spec(spec: Json, path: Path) -> Iterator[Template]:
    """The templates of a JobSet spec that stands at a path. The replicas are the pods of all its Jobs."""
    for i, job in listed(spec.get("replicatedJobs")):
        child = at(job, "template", "spec")
        count = integer(job.get("replicas"), 1) * integer(child.get("parallelism"), 1)
        here = (*path, "replicatedJobs", i, "template", "spec", "template")
        yield Template(here, child.get("template"), text(job.get("name")), count)
