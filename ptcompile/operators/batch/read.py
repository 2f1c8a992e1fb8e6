"""Spec fields read from a batch/v1 Job."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds.reading import (
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
from ptcompile.kubernetes.index import SERVICE, Objects, is_headless
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_map,
    nested_string,
    object_name,
)

_JOB_LABEL = "batch.kubernetes.io/job-name"


def read(manifest: Json, related: Objects) -> Iterator[Read]:
    """Yield the pods as equal nodes. A Job that runs its indexes one after the other is
    rejected.
    """
    spec = nested_map(manifest, "spec")
    template = nested_map(manifest, "spec", "template")
    path = ("spec", "template")
    parallelism = pod_count(spec.get("parallelism"))
    completions = pod_count(spec.get("completions"))
    if parallelism < completions:
        yield unreadable_object(
            "job",
            ("spec", "completions"),
            f"{parallelism} of {completions} pods run at a time, but the nodes of a job must all "
            "run at once",
            "set parallelism to the same number",
        )
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
    fields = {
        "nodes": max(1, completions),
        "runPolicy": run_policy,
        **changed_names(container=main),
    }
    if completions < 2:
        yield Read("job", (pods,), fields)
        return

    subdomain = nested_string(template, "spec", "subdomain")
    if subdomain not in {"", object_name(manifest)}:
        fields["names"] = {**fields.get("names", {}), "service": subdomain}
    service = _headless_service(manifest, subdomain, related)
    if service is None:
        fields["manifest"] = {"job/Service": None}
    yield Read("job", (pods,), fields, () if service is None else (_with_current_label(service),))


def _with_current_label(service: Json) -> Json:
    """Return the Service with the label that compile writes instead of job-name: pods have both
    (Kubernetes 1.27).
    """
    selector = nested_map(service, "spec", "selector")
    renamed = {_JOB_LABEL if key == "job-name" else key: value for key, value in selector.items()}
    return {
        **service,
        "spec": {**nested_map(service, "spec"), "selector": renamed},
    }


def _headless_service(manifest: Json, subdomain: str, related: Objects) -> Json | None:
    """Return the Service that names the pods, or None if the stream has none: the pods get no
    names then.
    """
    services = related.in_namespace(namespace_of(manifest)).by_name(SERVICE, subdomain)
    return next(filter(is_headless, services), None)
