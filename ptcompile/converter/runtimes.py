"""Runtimes: objects from which a controller fills in a job's pods, and that other operators do
not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.converter.settings import conversion_problem
from ptcompile.diagnostics import Problems
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_maps,
    nested_string,
    object_name,
    values_in,
)
from ptcompile.operators.table import record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.model import Base
    from ptcompile.kubernetes.versions import Versions


_ONE_STEP = (
    "use a runtime with the one replicatedJob node and mlPolicy.torch, and run each other step as "
    "a separate job"
)


def runtime_of(job: Json, objects: Sequence[Json], versions: Versions) -> Base | None:
    """Return the runtime of a job, or None if its kind has none."""
    return record_of(job).runtime(job, objects, versions)


def runtime_problems(
    job: Json, objects: Sequence[Json], versions: Versions, *, is_inlined: bool
) -> Problems:
    """Yield what a job without its runtime depends on: an error if no file and no release has the
    runtime, or if its pods could not be written into the job.
    """
    base = runtime_of(job, objects, versions)
    if base is None or object_name(base.source) == object_name(job):
        return

    name = nested_string(job, "spec", "runtimeRef", "name")
    if base.assumed:
        message = (
            f"the runtime {name} is in none of the files, so the image and the rest of its pods "
            "are unknown"
        )
        help = "pass the runtime's manifest in the same file"
        yield conversion_problem(message, help, name="not-carried-over")
    elif not is_inlined:
        message = (
            f"the pods of the runtime {name} cannot be written into a job: {_obstacle(base.source)}"
        )
        yield conversion_problem(message, _ONE_STEP, name="not-carried-over")
    elif any(base.source is item for item in objects):
        message = (
            f"the runtime {name} is left out: its image, volumes and the rest of its pods are now "
            "the job's own"
        )
        help = "keep the runtime's manifest if other jobs use it"
        yield conversion_problem(message, help, "warning", "done-differently")
    else:
        images = ", ".join(dict.fromkeys(_images(base.source)))
        message = (
            f"the runtime {name} is in none of the files: the pods are those of the release's own "
            "copy, whose "
            f"image is {images or 'unset'}; the cluster's copy may have another image, other "
            "volumes or node selectors"
        )
        help = "pass the cluster's runtime in the same file"
        yield conversion_problem(message, help, "warning", "done-differently")


def _obstacle(runtime: Json) -> str:
    """Return why a job cannot have a runtime's pods as its own."""
    jobs = nested_maps(runtime, "spec", "template", "spec", "replicatedJobs")
    steps = [nested_string(job, "name") for job in jobs if job.get("name") != "node"]
    if steps:
        if len(steps) < len(jobs):
            return f"it has the replicatedJobs {', '.join(steps)} besides node"
        return "it has no node"
    return "it does not start torchrun's nodes (mlPolicy.torch)"


def _images(value: object) -> Iterator[str]:
    """Yield the images of the containers of an object."""
    for inner in values_in(value):
        for container in nested_maps(inner, "containers"):
            yield nested_string(container, "image")
