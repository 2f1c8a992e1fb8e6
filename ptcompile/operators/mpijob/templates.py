"""The pod templates of an MPIJob: Launcher and Worker (MPI Operator 0.8)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, integer, mapping
from ptcompile.operators.common.templates import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

DEFAULT_REPLICAS = {"Launcher": 1, "Worker": 0}


def of(manifest: Json) -> Iterator[Template]:
    """The templates of both replica types, as they are written."""
    for role, replica in at(manifest, "spec", "mpiReplicaSpecs").items():
        path = ("spec", "mpiReplicaSpecs", role, "template")
        replicas = integer(mapping(replica).get("replicas"), DEFAULT_REPLICAS.get(role, 1))
        yield Template(path, mapping(replica).get("template"), role, replicas)
