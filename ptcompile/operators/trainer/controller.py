"""Rejections of the JobSet that Trainer's controller creates.

Lists are merged by name and objects field by field, so no field is reported as missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.env import check_env, why_not_env
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels
from ptcompile.apiserver.validation.resources import check_amounts
from ptcompile.apiserver.validation.scheduling import (
    check_node_selector,
    check_scheduling_gates,
    check_tolerations,
)
from ptcompile.apiserver.webhooks import check_longest_name, child_rejection, controller_failure
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.operators.jobset.admission import check_replicated_jobs
from ptcompile.operators.trainer import runtimes


def controller_errors(manifest: Json, request: KindContext) -> Problems:
    """Yield rejections of the created JobSet (long names, patches without a target) and
    controller panics.
    """
    runtime, assumed = runtimes.find_runtime(manifest, request.related)
    if assumed:
        return

    trainer = nested_value(manifest, "spec", "trainer")
    lacks_nodes = isinstance(trainer, Mapping) and trainer.get("numNodes") is None
    if lacks_nodes and runtimes.policy_of(runtime) == "flux":
        yield controller_failure(
            "trainer",
            ("spec", "trainer", "numNodes"),
            "Required value: a flux runtime's controller panics without it (Trainer 2.3)",
            "say how many nodes",
        )

    yield from _check_pod_names(manifest, runtime)
    yield from _check_node(as_mapping(trainer), runtime)
    for i, patch in enumerate(nested_maps(manifest, "spec", "runtimePatches")):
        yield from _check_patch_targets(patch, ("spec", "runtimePatches", i), runtime)


def _check_node(trainer: Json, runtime: Json) -> Problems:
    """Check the nodes' Job for an empty image and for devices that are requested without a
    limit.
    """
    path = ("spec", "trainer")
    if trainer.get("image") == "":
        yield child_rejection(
            (*path, "image"),
            "Required value: it replaces the runtime's image",
            "name an image, or remove it",
        )

    resources = nested_map(trainer, "resourcesPerNode")
    limits = {*nested_map(resources, "limits")}
    for node in runtimes.trainer_nodes(runtime):
        limits.update(nested_map(node, "resources", "limits"))

    for name in nested_map(resources, "requests"):
        if "/" in name and name not in limits:
            yield child_rejection(
                (*path, "resourcesPerNode", "requests", name),
                "Required value: a requested device needs a limit of the same amount",
                "write it under limits as well",
            )


def _check_pod_names(manifest: Json, runtime: Json) -> Problems:
    name = object_name(manifest)
    count = runtimes.node_count(manifest, runtime)
    mpi = runtimes.policy_of(runtime) == "mpi"
    suffixes = []
    for job in runtimes.replicated_jobs(runtime):
        job_name = nested_string(job, "name")
        is_scaled = job_name == "node" if mpi else runtimes.step_label(job) == "trainer"
        scaled_pods = max(1, count - 1) if mpi else count
        pods = scaled_pods if is_scaled else 1
        suffixes.append(f"-{job_name}-0-{pods - 1}-xxxxx")

    yield from check_longest_name(name, suffixes, "pod", "no JobSet is created")


def _check_patch_targets(patch: Json, path: Path, runtime: Json) -> Problems:
    """Reject a patch of a job or container that the runtime lacks: it would add one without an
    image (Trainer 2.3).
    """
    runtime_jobs = {nested_string(j, "name"): j for j in runtimes.replicated_jobs(runtime)}
    spec = nested_map(patch, "trainingRuntimeSpec", "template", "spec")
    base = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for i, job in enumerate(nested_maps(spec, "replicatedJobs")):
        name = nested_string(job, "name")
        if name not in runtime_jobs:
            yield child_rejection(
                (*base, i, "name"),
                f'Not found: "{name}": the runtime has no such job',
                _name_help(name, runtime_jobs),
            )
            continue

        runtime_pod = nested_map(runtime_jobs[name], "template", "spec", "template", "spec")
        pod = nested_map(job, "template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            existing = [nested_string(c, "name") for c in nested_maps(runtime_pod, key)]
            for j, container in enumerate(nested_maps(pod, key)):
                missing = nested_string(container, "name")
                if missing not in existing:
                    yield child_rejection(
                        (*base, i, "template", "spec", "template", "spec", key, j, "name"),
                        f'Not found: "{missing}": the runtime\'s job {name} has no such container',
                        _name_help(missing, existing),
                    )


def _name_help(name: str, names: Json | Sequence[str]) -> str:
    suggestion = closest_match(name, names)
    if suggestion:
        return f'did you mean "{suggestion}"?'
    return "name one of the job's: a patch cannot add one, since it has no image"


def check_trainer(spec: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check `spec.trainer` and `spec.initializer`; each replaces parts of one container."""
    fields = FieldValue(spec, ("spec",), CheckScope(context, problems))
    trainer = fields["trainer"]
    image = trainer["image"]
    check_env(trainer["env"], trainer.mapping)
    if trainer["resourcesPerNode"].is_mapping:
        check_amounts(trainer["resourcesPerNode"], partial=True)
    if image.is_text and image.value != image.value.strip():
        image.invalid("must not have leading or trailing whitespace", "remove the whitespace")

    for _, part in fields["initializer"].entries():
        check_env(part["env"], part.mapping)


def check_runtime_patches(
    patches: Any, path: Path, context: ApiServer, problems: FieldErrors
) -> None:
    """Check `spec.runtimePatches`: partial pod templates per replicatedJob."""
    for index, patch in indexed_mappings(patches):
        template = nested_map(patch, "trainingRuntimeSpec", "template")
        template_path = (*path, index, "trainingRuntimeSpec", "template")
        _check_metadata(template.get("metadata"), (*template_path, "metadata"), problems)
        for number, job in indexed_mappings(nested_value(template, "spec", "replicatedJobs")):
            job_path = (*template_path, "spec", "replicatedJobs", number, "template")
            child = nested_map(job, "template")
            _check_metadata(child.get("metadata"), (*job_path, "metadata"), problems)

            pods = nested_map(child, "spec", "template")
            _check_metadata(
                pods.get("metadata"), (*job_path, "spec", "template", "metadata"), problems
            )
            _check_pod(
                nested_map(pods, "spec"), (*job_path, "spec", "template", "spec"), context, problems
            )


def _check_metadata(meta: Any, path: Path, problems: FieldErrors) -> None:
    if type(meta) is dict:
        check_labels(meta.get("labels"), (*path, "labels"), problems)
        check_annotations(meta.get("annotations"), (*path, "annotations"), problems)


def _check_pod(spec: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    pod = FieldValue(spec, path, CheckScope(context, problems, spec))
    check_node_selector(pod["nodeSelector"])
    check_tolerations(pod["tolerations"])
    check_scheduling_gates(pod["schedulingGates"])
    pod["serviceAccountName"].check_optional_text(names.why_not_dns_subdomain)
    for key in ("volumes", "containers", "initContainers"):
        for item in pod[key].objects():
            item["name"].check_optional_text(names.why_not_dns_label)
            for entry in item["env"].objects():
                entry["name"].check_optional_text(partial(why_not_env, context=context))


def check_train_job(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the fields that a TrainJob adds to its runtime's pods."""
    spec = nested_map(manifest, "spec")
    check_trainer(spec, context, problems)
    check_runtime_patches(spec.get("runtimePatches"), ("spec", "runtimePatches"), context, problems)


_ADDED_VOLUMES = {
    "mpi": ("mpi-ssh-auth", "mpi-hostfile"),
    "flux": ("flux-install", "flux-config"),
}
"""Volumes that a policy's plugin adds to the pods, so a container may mount them (Trainer 2.3,
mpi.go and flux.go).
"""


def check_runtime(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the JobSet of a runtime; with an mlPolicy Trainer sets its counts, and some policies
    add volumes.
    """
    spec = nested_map(manifest, "spec")
    jobs = nested_map(spec, "template", "spec")
    counted = type(spec.get("mlPolicy")) is dict
    policy = nested_map(spec, "mlPolicy")
    volumes: set[str] = set()
    for key, added in _ADDED_VOLUMES.items():
        if policy.get(key) is not None:
            volumes.update(added)
    check_replicated_jobs(
        jobs, ("spec", "template", "spec"), None, counted, context, problems, frozenset(volumes)
    )
