"""The pod templates of Trainer's runtimes. A TrainJob has none of its own: its runtime has (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.templates import Template
from ptcompile.operators.jobset.templates import of_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

NODE = "node"
"""What Trainer calls the replicatedJob that trains, and its container."""


def of_runtime(manifest: Json) -> Iterator[Template]:
    """The templates of a TrainingRuntime or ClusterTrainingRuntime."""
    for one in of_spec(at(manifest, "spec", "template", "spec"), ("spec", "template", "spec")):
        yield one._replace(main=NODE) if one.role == NODE else one
