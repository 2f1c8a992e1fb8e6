"""Warnings about Pods and the built-in kinds that create pods.

Source: Kubernetes 1.36, the strategies below pkg/registry/apps, batch and core;
pkg/api/job/warnings.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.templates import TEMPLATE_PATHS
from ptcompile.apiserver.warnings.header import ignored, warning
from ptcompile.apiserver.warnings.metadata import host_name_warnings
from ptcompile.apiserver.warnings.pods import pod_warnings
from ptcompile.apiserver.warnings.volumes import claim_warnings
from ptcompile.diagnostics import Problems, field_path
from ptcompile.diagnostics.field_errors import as_field_int, indexed_mappings, key_path
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map

_IN_POD_NAMES = "Pod names and hostnames"
_KINDS_THAT_NAME_PODS = frozenset(
    {"CronJob", "Deployment", "Job", "ReplicaSet", "ReplicationController"}
)
_COMPLETIONS_LIMIT = 100_000
_PARALLELISM_LIMIT = 10_000
_MANY_INDEXES = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
    "10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)


def workload_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about a Pod, a Job, a CronJob, or another built-in kind with a pod
    template.
    """
    group, kind = group_and_kind(manifest)
    if kind == "Pod":
        yield from host_name_warnings(manifest, "the Pod's hostname")
        yield from pod_warnings(manifest, (), server)
        return

    if kind in _KINDS_THAT_NAME_PODS:
        yield from host_name_warnings(manifest, _IN_POD_NAMES)
    if group == "batch":
        yield from _job_spec_warnings(
            manifest, ("spec",) if kind == "Job" else ("spec", "jobTemplate", "spec")
        )

    steps = "spec.template" if kind == "Job" else TEMPLATE_PATHS[group, kind][0]
    path = tuple(steps.split("."))
    yield from pod_warnings(nested_map(manifest, *path), path, server)
    if kind == "StatefulSet":
        yield from _stateful_set_warnings(manifest, server)


def _job_spec_warnings(manifest: Json, path: tuple[str, ...]) -> Problems:
    spec = nested_map(manifest, *path)
    completions = as_field_int(spec.get("completions"))
    parallelism = as_field_int(spec.get("parallelism"))
    if spec.get("completionMode") != "Indexed" or (completions or 0) <= _COMPLETIONS_LIMIT:
        return
    if (parallelism or 1) > _PARALLELISM_LIMIT:
        help = (
            f"use at most {_COMPLETIONS_LIMIT} completions, or at most {_PARALLELISM_LIMIT} at a "
            "time"
        )
        yield warning(
            "discouraged-value",
            (*path, "completions"),
            _MANY_INDEXES,
            help,
            field=field_path(path),
        )


def _stateful_set_warnings(manifest: Json, server: ApiServer) -> Problems:
    spec = nested_map(manifest, "spec")
    for index, claim in indexed_mappings(spec.get("volumeClaimTemplates")):
        place = ("spec", "volumeClaimTemplates", index)
        for problem in claim_warnings(nested_map(claim, "spec"), (*place, "spec")):
            # the server leaves the claim's `spec` out of the field
            yield problem._replace(field=key_path((*place, *problem.path[len(place) + 1 :])))

    limit = as_field_int(spec.get("revisionHistoryLimit"))
    if limit is not None and limit < 0 and server.at_least(33):
        text = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield ignored(
            ("spec", "revisionHistoryLimit"), text, "write the number of revisions to keep"
        )
