"""What happens when a Job of a TrainJob fails and when the TrainJob ends (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at
from ptcompile.operators.jobset.failure import of_spec
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a TrainJob."""
    runtime = runtimes.find(manifest, others)[0]
    yield from of_spec(at(runtime, "spec", "template", "spec"))
    deadline = at(manifest, "spec").get("activeDeadlineSeconds")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: then the TrainJob fails and its pods are deleted"
