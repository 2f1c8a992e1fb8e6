"""The checks of TrainJobs, whose pod sets are those of their runtime, with the patches of the
TrainJob.

Source: Kueue 0.19, pkg/controller/jobs/trainjob/trainjob_webhook.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Path, Problem, Problems, field_path
from ptcompile.kinds.model import KindContext
from ptcompile.kinds.templates import indexed_mappings, with_items
from ptcompile.kubernetes.unstructured import (
    Json,
    may_mention,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    string_map,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import PREFIX
from ptcompile.operators.kueue.webhooks.labels import rejection
from ptcompile.operators.kueue.webhooks.pod_sets import PodSetTemplate
from ptcompile.operators.kueue.webhooks.topology import check_template
from ptcompile.operators.table import expand, has_feature, record_of

_MANAGER = "kueue.x-k8s.io/manager"
"""Kueue's name in runtimePatches."""


def check_train_job(manifest: Json, request: KindContext) -> Problems:
    """Check the templates of a TrainJob's runtime after its patches. A finding is at the patch,
    else at the runtime.
    """
    patched = _patched_annotations(manifest)
    base = record_of(manifest).runtime(manifest, request.related, request.versions)
    if base is None or base.assumed:
        yield from _check_patches(patched, request)
        return
    if not any(may_mention(part, PREFIX) for part in (manifest, base.source)):
        return

    for role in expand(manifest, versions=request.versions, related=request.related).roles:
        template = _annotated_template(role.pod(0).annotations) if role.count else {}
        pod_set = PodSetTemplate(role.name, ("job", role.name), template, role.count)
        for problem in check_template(pod_set, request.versions):
            path, _ = patched.get(
                (pod_set.name, str(problem.path[-1])), (("spec", "runtimeRef", "name"), "")
            )
            yield _at_written_path(problem, path)._replace(
                help=f"{problem.help}, in runtimePatches or the runtime", on_key=False
            )


def with_patch_of_kueue(manifest: Json, versions: Versions) -> Json:
    """Return a TrainJob with the empty patch that Kueue fills when it admits the job."""
    spec = nested_map(manifest, "spec")
    managers = [patch.get("manager") for patch in nested_maps(spec, "runtimePatches")]
    if _MANAGER in managers or not has_feature("kueue-runtime-patches", versions):
        return manifest
    patch = {
        "manager": _MANAGER,
        "trainingRuntimeSpec": {"template": {"spec": {}}},
    }
    return {**manifest, "spec": with_items(spec, "runtimePatches", [patch])}


def check_patch_of_kueue(manifest: Json, versions: Versions) -> Problems:
    """Check that no patch has Kueue's manager: the mutating webhook adds one, and the CRD allows
    one patch for each manager.
    """
    if not has_feature("kueue-runtime-patches", versions):
        return
    for i, patch in indexed_mappings(nested_value(manifest, "spec", "runtimePatches")):
        if patch.get("manager") == _MANAGER:
            path = ("spec", "runtimePatches", i, "manager")
            yield rejection(
                path,
                f'Duplicate value: {{"manager":"{_MANAGER}"}}',
                "remove this patch: Kueue adds its own when the TrainJob is created",
                name="webhook-refusal",
                field=field_path(path[:3]),
            )


def _check_patches(
    patched: Mapping[tuple[str, str], tuple[Path, str]], request: KindContext
) -> Problems:
    """Check each annotation of the patches alone, since no file has the runtime with the others."""
    for (role, name), (path, value) in patched.items():
        pod_set = PodSetTemplate(role, ("job", role), _annotated_template({name: value}), 1)
        for problem in check_template(pod_set, request.versions, is_bounded=False):
            # a problem on the key is about a missing annotation, which the runtime may have
            if not problem.on_key:
                yield _at_written_path(problem, path)


def _at_written_path(problem: Problem, path: Path) -> Problem:
    """Return a problem of a pod set of a TrainJob at the path in the file, with Kueue's name of
    the pod set.
    """
    _, role, *_ = problem.path
    field = problem.start.replace(field_path(("job", role, "metadata")), f"job[{role}]")
    return problem._replace(path=path, field=field)


def _annotated_template(values: Mapping[str, str]) -> Json:
    """Return a pod template with these annotations."""
    return {"metadata": {"annotations": {**values}}}


def _patched_annotations(manifest: Json) -> dict[tuple[str, str], tuple[Path, str]]:
    """Return path and value of each annotation in runtimePatches by role and name; the last
    patch wins.
    """
    patched: dict[tuple[str, str], tuple[Path, str]] = {}
    in_patch = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    in_job = ("template", "spec", "template", "metadata", "annotations")
    for i, patch in indexed_mappings(nested_value(manifest, "spec", "runtimePatches")):
        for j, job in indexed_mappings(nested_value(patch, *in_patch)):
            path = ("spec", "runtimePatches", i, *in_patch, j, *in_job)
            for name, value in string_map(nested_map(job, *in_job)).items():
                patched[nested_string(job, "name"), name] = ((*path, name), value)

    return patched
