"""What the CRD of PyTorchJob (training-operator 1.9) asks for beside its schema: it has no CEL rule of creation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.crd import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def pytorch_job_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The scale subresource reads the workers' replicas, so the server holds them to its own bound."""
    worker = at(at(manifest, "spec", "pytorchReplicaSpecs"), "Worker")
    replicas = worker.get("replicas")
    if type(replicas) is int and replicas < 0:
        path = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")
        yield refusal(path, f"{replicas}: should be a non-negative integer", "write 0 or more")
