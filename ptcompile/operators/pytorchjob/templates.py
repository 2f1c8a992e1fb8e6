"""The pod templates of a PyTorchJob: one a replica type (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, integer, mapping
from ptcompile.operators.common.templates import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def of(manifest: Json) -> Iterator[Template]:
    """The templates of Master and Worker, as they are written."""
    for role, replica in at(manifest, "spec", "pytorchReplicaSpecs").items():
        path = ("spec", "pytorchReplicaSpecs", role, "template")
        replicas = integer(mapping(replica).get("replicas"), 1)
        yield Template(path, mapping(replica).get("template"), role, replicas, "pytorch")
