"""Spec fields read from a batch/v1 Job."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.reading import (
    MAIN_CONTAINER,
    Read,
    ReadRole,
    changed_names,
    main_container,
    pod_count,
    restart_policy,
    unreadable_object,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """Yield the pods as equal nodes. A Job that runs its indexes one after the other is rejected."""
    spec, template = nested_map(manifest, "spec"), nested_map(manifest, "spec", "template")
    path: Path = ("spec", "template")
    parallelism, completions = pod_count(spec.get("parallelism")), pod_count(spec.get("completions"))
    if parallelism < completions:
        message = f"{parallelism} of {completions} pods run at a time, but the nodes of a job must all run at once"
        yield unreadable_object("job", ("spec", "completions"), message, "set parallelism to the same number")
        return
    main = main_container(template, MAIN_CONTAINER)
    run_policy = without_empty(
        {
            "ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished"),
            "activeDeadlineSeconds": spec.get("activeDeadlineSeconds"),
            "suspend": spec.get("suspend"),
        }
    )
    pods = ReadRole("node", completions, template, path, main, restart_policy(template, "Always"))
    yield Read("job", (pods,), {"nodes": max(1, completions), "runPolicy": run_policy, **changed_names(container=main)})
