"""What TrainJobs need in a cluster beside Trainer itself, for `platform` and `requires` (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]


def objects(made: Sequence[Json], versions: Versions) -> Iterator[Json]:
    """The runtimes that the TrainJobs among some manifests name; Trainer installs its own in a step of its own."""
    for job in (one for one in made if one["kind"] == "TrainJob"):
        runtime = runtimes.find(job, made, versions.trainer).source
        ref = job["spec"]["runtimeRef"]
        metadata = {"name": ref["name"], **runtime["metadata"]}
        kind = ref.get("kind", runtimes.KINDS[0])
        yield {"apiVersion": runtimes.API_VERSION, "kind": kind, **runtime, "metadata": metadata}
