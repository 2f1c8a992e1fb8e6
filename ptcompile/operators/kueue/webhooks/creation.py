"""The rejections of Kueue's webhooks when an object is created, after what its mutating webhooks change.

Source: Kueue 0.19, pkg/controller/jobframework/defaults.go and the webhooks below pkg/controller/jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.diagnostics import Problem, field_path
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import (
    as_mappings,
    as_string,
    kind_of,
    namespace_of,
    nested_map,
    string_map,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import QUEUE, queue_of
from ptcompile.operators.kueue.webhooks.jobs import check_job
from ptcompile.operators.kueue.webhooks.kinds import KINDS, SKIPPED_NAMESPACES
from ptcompile.operators.kueue.webhooks.labels import check_labels, rejection
from ptcompile.operators.kueue.webhooks.pod_sets import PodSetTemplate, pod_sets_of
from ptcompile.operators.kueue.webhooks.pods import check_pod
from ptcompile.operators.kueue.webhooks.ray import check_cluster, check_ray_job
from ptcompile.operators.kueue.webhooks.topology import check_groups, check_template
from ptcompile.registry.model import KindContext
from ptcompile.registry.table import expand, has_feature, kind_named
from ptcompile.registry.templates import indexed_mappings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics import Path
    from ptcompile.kubernetes.unstructured import Json


_POD = ("v1", "Pod")
_TRAIN_JOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")
_MANAGER = "kueue.x-k8s.io/manager"
"""Kueue's name in runtimePatches."""


def check_created(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Yield the rejections of an object of one of `KINDS` at its creation."""
    if namespace_of(manifest) in SKIPPED_NAMESPACES:
        return
    defaulted = with_default_queue(manifest, request.related)
    yield from check_object(defaulted, request)
    if kind_of(manifest) == _TRAIN_JOB and queue_of(nested_map(defaulted, "metadata")):
        yield from _check_patch_of_kueue(manifest, request.versions)


def with_default_queue(manifest: Json, related: Sequence[Json]) -> Json:
    """Return the object with the queue `default`, if it names none and the namespace has a LocalQueue of that name."""
    if not related or queue_of(nested_map(manifest, "metadata")) or _has_controller(manifest):
        return manifest
    queues = objects(related).in_namespace(namespace_of(manifest))
    kinds = [(f"kueue.x-k8s.io/{version}", "LocalQueue") for version in ("v1beta2", "v1beta1")]
    if not any(queues.by_name(kind, "default") for kind in kinds):
        return manifest
    metadata: dict[str, Any] = dict(nested_map(manifest, "metadata"))
    metadata["labels"] = {**string_map(metadata.get("labels")), QUEUE: "default"}
    return {**manifest, "metadata": metadata}


def _has_controller(manifest: Json) -> bool:
    """Return whether another object owns this one, whose queue then counts."""
    owners = as_mappings(nested_map(manifest, "metadata").get("ownerReferences"))
    return any(owner.get("controller") is True for owner in owners)


def check_object(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Yield the checks of a new object, which most kinds repeat on each update."""
    key, versions = kind_of(manifest), request.versions
    kind, is_queued = KINDS[key], bool(queue_of(nested_map(manifest, "metadata")))
    if key[1] == "RayJob" and is_queued:
        problems, goes_on = check_ray_job(manifest, versions)
        yield from problems
        if not goes_on:
            return
    elif key[1] == "RayCluster" and is_queued:
        yield from check_cluster(manifest, nested_map(manifest, "spec"), ("spec",), versions)
    yield from check_labels(manifest, kind, versions)
    if key[1] == "Job":
        yield from check_job(manifest)
    elif key == _POD:
        yield from check_pod(manifest)
    yield from check_topology(manifest, request)


_CHECKED_AS_PODS = frozenset({"Deployment", "StatefulSet"})
"""Kinds whose templates the webhooks accept, but not the pods that are made of them."""


def check_topology(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Yield the rejections of the templates' topology annotations."""
    key = kind_of(manifest)
    if key[1] == "AppWrapper":
        return  # the objects in it are checked when they are created
    if key == _TRAIN_JOB:
        yield from _check_train_job(manifest, request)
        return
    pod_sets = pod_sets_of(manifest)
    if key[1] in _CHECKED_AS_PODS:
        for pod_set in pod_sets:
            for problem in check_template(pod_set, request.versions, is_bounded=False):
                yield problem._replace(stage="pod")
        return
    for pod_set in pod_sets:
        yield from check_template(pod_set, request.versions, is_bounded=key != _POD)
    if KINDS[key].grouped:
        yield from check_groups(pod_sets)


def _check_train_job(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Check the templates of a TrainJob's runtime after its patches. A finding is at the patch, else at the runtime."""
    patched = _patched_annotations(manifest)
    base = kind_named(_TRAIN_JOB).runtime(manifest, request.related, request.versions)
    if base is None or base.assumed:
        yield from _check_patches(patched, request)
        return
    for pod_set in _train_job_pod_sets(manifest, request):
        for problem in check_template(pod_set, request.versions):
            path, _ = patched.get((pod_set.name, str(problem.path[-1])), (("spec", "runtimeRef", "name"), ""))
            help = f"{problem.help}, in runtimePatches or the runtime"
            yield _moved(problem, path)._replace(help=help, on_key=False)


def _check_patch_of_kueue(manifest: Json, versions: Versions) -> Iterator[Problem]:
    """Check that no patch has Kueue's manager: the mutating webhook adds one, and the CRD allows one of each."""
    if not has_feature("kueue-runtime-patches", versions):
        return
    for i, patch in indexed_mappings(nested_map(manifest, "spec").get("runtimePatches")):
        if patch.get("manager") == _MANAGER:
            path = ("spec", "runtimePatches", i, "manager")
            why = f'Duplicate value: {{"manager":"{_MANAGER}"}}'
            help = "remove this patch: Kueue adds its own when the TrainJob is created"
            yield rejection(path, why, help, name="webhook-refusal", field=field_path(path[:3]))


def _check_patches(patched: Mapping[tuple[str, str], tuple[Path, str]], request: KindContext) -> Iterator[Problem]:
    """Check each annotation of the patches alone, since no file has the runtime with the others."""
    for (role, name), (path, value) in patched.items():
        pod_set = PodSetTemplate(role, ("job", role), _annotated({name: value}), 1)
        for problem in check_template(pod_set, request.versions, is_bounded=False):
            if not problem.on_key:  # it is about the value, and not about a missing annotation
                yield _moved(problem, path)


def _moved(problem: Problem, path: Path) -> Problem:
    """Return a problem of a pod set of a TrainJob at the path in the file, with Kueue's name of the pod set."""
    _, role, *_ = problem.path
    message = problem.message.replace(field_path(("job", role, "metadata")), f"job[{role}]")
    return problem._replace(path=path, message=message)


def _train_job_pod_sets(manifest: Json, request: KindContext) -> Iterator[PodSetTemplate]:
    """Yield the pod sets of a TrainJob."""
    for role in expand(manifest, versions=request.versions, related=request.related).roles:
        template = _annotated(role.pod(0).annotations) if role.count else {}
        yield PodSetTemplate(role.name, ("job", role.name), template, role.count)


def _annotated(values: Mapping[str, str]) -> Json:
    """Return a pod template with these annotations."""
    return {"metadata": {"annotations": {**values}}}


def _patched_annotations(manifest: Json) -> dict[tuple[str, str], tuple[Path, str]]:
    """Return path and value of each annotation in runtimePatches by role and name; the last patch wins."""
    written: dict[tuple[str, str], tuple[Path, str]] = {}
    for i, patch in indexed_mappings(nested_map(manifest, "spec").get("runtimePatches")):
        jobs = nested_map(patch, "trainingRuntimeSpec", "template", "spec").get("replicatedJobs")
        for j, job in indexed_mappings(jobs):
            keys = ("template", "spec", "template", "metadata", "annotations")
            start = ("spec", "runtimePatches", i, "trainingRuntimeSpec", "template", "spec", "replicatedJobs", j)
            for name, value in string_map(nested_map(job, *keys)).items():
                written[as_string(job.get("name")), name] = ((*start, *keys, name), value)
    return written
