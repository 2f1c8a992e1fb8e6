"""TrainingRuntime and ClusterTrainingRuntime: the validating webhook of Trainer 2.2 and 2.3."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import at, string_map
from ptcompile.operators.common.decode import undecodable
from ptcompile.operators.common.verdict import refusal
from ptcompile.operators.record import Known, Request
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_say = refusal("trainer")
_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_OFF = f"{runtimes.GROUP}/webhook-validation"


def check(manifest: Json, request: Request) -> Iterator[Problem]:
    """Jobs with an ancestor label run once and have the container that a TrainJob fills in.

    The webhook does not look at a runtime whose label says so; what it would say is then said at stage "run".
    """
    off = string_map(at(manifest, "metadata").get("labels")).get(_OFF) == "disabled"
    for problem in _check(manifest, request.established):
        yield problem._replace(stage="run") if off else problem


def _check(manifest: Json, known: Known) -> Iterator[Problem]:
    if not known.decodes:
        yield from undecodable(at(manifest, "spec"), _say, ("spec",))
    for i, job in enumerate(runtimes.replicated_jobs(manifest)):
        step = runtimes.ancestor(job)
        if step not in _CONTAINERS:
            continue
        path: Path = ("spec", "template", "spec", "replicatedJobs", i)
        if job.get("replicas") not in (None, 1):
            text_ = f"Invalid value: {job['replicas']}: always must be 1 for the ancestor {step}"
            yield _say((*path, "replicas"), text_, "remove replicas; a TrainJob says how many nodes")
        if runtimes.container(job, _CONTAINERS[step]) is None:
            where = (*path, "template", "spec", "template", "spec", "containers")
            text_ = f"Required value: must have the container {_CONTAINERS[step]} for the ancestor {step}"
            yield _say(where, text_, f"call the container {_CONTAINERS[step]}")
