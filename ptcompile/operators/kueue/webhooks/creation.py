"""What Kueue's webhooks write into a queued object of another project, and what they reject when it
is created.

The role hash of a pod in a group depends on its whole template and is left out, as are the labels
that Deployments and other serving kinds hand to their pods. Source: Kueue 0.19,
pkg/controller/jobframework/defaults.go and the webhooks below pkg/controller/jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.apiserver.webhooks import controller_failure
from ptcompile.diagnostics import Problems
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string_map,
    nested_strings,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import PREFIX, QUEUE, queue_of
from ptcompile.operators.kueue.webhooks.kinds import (
    ADMISSION_GATE,
    KINDS,
    MANAGED,
    SKIPPED_NAMESPACES,
    TOPOLOGY_GATE,
)
from ptcompile.operators.kueue.webhooks.labels import check_labels, check_suspend
from ptcompile.operators.kueue.webhooks.pod_sets import max_pod_sets, pod_sets_of
from ptcompile.operators.table import has_feature

_POD = ("v1", "Pod")
_LOCAL_QUEUES = frozenset(
    {("kueue.x-k8s.io/v1beta2", "LocalQueue"), ("kueue.x-k8s.io/v1beta1", "LocalQueue")}
)
_TRAIN_JOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")


def check_created(manifest: Json, request: KindContext) -> Problems:
    """Yield the rejections of an object of one of `KINDS` at its creation."""
    if namespace_of(manifest) in SKIPPED_NAMESPACES:
        return
    defaulted = with_default_queue(manifest, request.related)
    yield from check_object(defaulted, request)
    if kind_of(manifest) == _TRAIN_JOB and queue_of(defaulted):
        from ptcompile.operators.kueue.webhooks.train_jobs import check_patch_of_kueue

        yield from check_patch_of_kueue(manifest, request.versions)


def with_default_queue(manifest: Json, related: Sequence[Json]) -> Json:
    """Return the object with the queue `default`, if it names none and the namespace has a
    LocalQueue of that name.
    """
    if not related or queue_of(manifest) or _has_controller(manifest):
        return manifest

    stream = objects(related)
    if not stream.has_any(_LOCAL_QUEUES):
        return manifest

    queues = stream.in_namespace(namespace_of(manifest))
    if not any(queues.by_name(kind, "default") for kind in _LOCAL_QUEUES):
        return manifest

    metadata: JsonDict = dict(nested_map(manifest, "metadata"))
    metadata["labels"] = {**nested_string_map(metadata, "labels"), QUEUE: "default"}

    return {**manifest, "metadata": metadata}


def _has_controller(manifest: Json) -> bool:
    """Return whether another object owns this one, whose queue then counts."""
    owners = nested_maps(manifest, "metadata", "ownerReferences")
    return any(owner.get("controller") is True for owner in owners)


def check_object(manifest: Json, request: KindContext) -> Problems:
    """Yield the checks of a new object, which most kinds repeat on each update."""
    key = kind_of(manifest)
    api_version, name = key
    versions = request.versions
    kind = KINDS[key]
    is_queued = bool(queue_of(manifest))
    if api_version == "ray.io/v1" and is_queued:
        from ptcompile.operators.kueue.webhooks.ray import check_ray

        problems, goes_on = check_ray(manifest, versions)
        yield from problems
        if not goes_on:
            return

    yield from check_suspend(manifest, kind)
    keys = (
        *nested_map(manifest, "metadata", "labels"),
        *nested_map(manifest, "metadata", "annotations"),
    )
    if any(str(key).startswith(PREFIX) for key in keys):
        yield from check_labels(manifest, kind, versions)
        if name == "Job":
            from ptcompile.operators.kueue.webhooks.jobs import check_job

            yield from check_job(manifest)
        elif key == _POD:
            from ptcompile.operators.kueue.webhooks.pods import check_pod

            yield from check_pod(manifest)

    yield from check_topology(manifest, request)
    if is_queued and not kind.serving and api_version != "ray.io/v1":
        yield from _check_number_of_pod_sets(manifest, versions)


def _check_number_of_pod_sets(manifest: Json, versions: Versions) -> Problems:
    """Check that the Workload of a job can have its pod sets; only Ray's kinds are rejected for
    it.
    """
    count = len(pod_sets_of(manifest))
    limit = max_pod_sets(versions)
    if count > limit:
        yield controller_failure(
            "kueue",
            ("metadata", "labels", QUEUE),
            f"Kueue cannot create the Workload: spec.podSets: Too many: {count}: must have at "
            f"most {limit} items",
            f"use at most {limit} pod templates",
        )


_CHECKED_AS_PODS = frozenset({"Deployment", "StatefulSet"})
"""Kinds whose templates the webhooks accept, but not the pods that are made of them."""


def check_topology(manifest: Json, request: KindContext) -> Problems:
    """Yield the rejections of the templates' topology annotations."""
    key = kind_of(manifest)
    _, name = key
    # the objects in an AppWrapper are checked when they are created
    if name == "AppWrapper":
        return

    if key == _TRAIN_JOB:
        from ptcompile.operators.kueue.webhooks.train_jobs import check_train_job

        yield from check_train_job(manifest, request)
        return

    pod_sets = [pod_set for pod_set in pod_sets_of(manifest) if pod_set.has_requests]
    if not pod_sets:
        return

    from ptcompile.operators.kueue.webhooks.topology import check_groups, check_template

    if name in _CHECKED_AS_PODS:
        for pod_set in pod_sets:
            for problem in check_template(pod_set, request.versions, is_bounded=False):
                yield problem._replace(stage="pod")
        return

    for pod_set in pod_sets:
        yield from check_template(pod_set, request.versions, is_bounded=key != _POD)
    if KINDS[key].grouped:
        yield from check_groups(pod_sets)


def default(manifest: Json, related: Sequence[Json], versions: Versions) -> Json:
    """Return an object of one of `KINDS` with its queue, suspended until it is admitted."""
    if namespace_of(manifest) in SKIPPED_NAMESPACES:
        return manifest

    queued = with_default_queue(manifest, related)
    kind = KINDS[kind_of(manifest)]
    if not queue_of(queued) or kind.serving:
        return queued
    if not kind.suspend:
        return _gate_pod(queued, versions)

    from ptcompile.operators.kueue.webhooks.train_jobs import with_patch_of_kueue

    suspended = _suspend_object(queued, kind.suspend)
    if kind_of(manifest) == _TRAIN_JOB:
        return with_patch_of_kueue(suspended, versions)

    return suspended


def _suspend_object(manifest: Json, path: Sequence[str]) -> Json:
    """Return an object with `suspend` set in the mapping at a path."""
    if not path:
        return {**manifest, "suspend": True}

    key, *below = path
    return {**manifest, key: _suspend_object(nested_map(manifest, key), below)}


def _gate_pod(pod: Json, versions: Versions) -> Json:
    """Return a Pod with Kueue's scheduling gates, label and finalizer."""
    metadata: JsonDict = {**nested_map(pod, "metadata")}
    metadata["labels"] = {**nested_map(metadata, "labels"), MANAGED: "true"}
    finalizers = nested_strings(metadata, "finalizers")
    metadata["finalizers"] = finalizers if MANAGED in finalizers else [*finalizers, MANAGED]
    spec = nested_map(pod, "spec")
    gates = nested_maps(spec, "schedulingGates")
    names = [gate.get("name") for gate in gates]
    if has_feature("kueue-topology-gate", versions):
        added = [ADMISSION_GATE, TOPOLOGY_GATE]
    else:
        added = [ADMISSION_GATE]

    missing = [{"name": name} for name in added if name not in names]
    return {
        **pod,
        "metadata": metadata,
        "spec": {**spec, "schedulingGates": [*gates, *missing]},
    }
