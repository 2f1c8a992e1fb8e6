"""A spec as manifests, quickly: without the checks and the offline API server, which the proof runs at the end."""

from __future__ import annotations

from ptcompile.compiling.build import build
from ptcompile.frontends.amounts import parts_of
from ptcompile.frontends.checks_endings import endings
from ptcompile.frontends.spec import lower, read_spec
from ptcompile.job.model import Context
from ptcompile.operators.targets import default_target, target_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile

    Json = dict[str, Any]


def manifests(spec: Json, cluster: ClusterProfile) -> tuple[Json, ...] | None:
    """What the spec compiles to; None where it is rejected."""
    read, _ = read_spec(spec)
    if read is None:
        return None
    parts = parts_of(read, cluster)
    if any(one.severity == "error" for one in endings(parts)):
        return None
    job = lower(read, cluster, parts)
    named = read.spec.target
    target = target_named(named) if named is not None else default_target(job, cluster)
    if any(one.severity == "error" for one in target.unsupported(job, cluster)):
        return None
    return build(read, job, Context(cluster, target)).named
