"""Pods of a TrainJob: templates, launch options, expansion and behavior on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path
from ptcompile.kinds.model import KindContext, LostPod, Retry
from ptcompile.kinds.pods import Expansion, FieldOrigin, MadeObject, Place
from ptcompile.kinds.templates import Template, with_containers
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    get,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
    without_none,
)
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.jobset import pods
from ptcompile.operators.jobset.pods import describe_spec_failures, templates_of_spec
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.patches import (
    NODE,
    apply_runtime_patches,
    to_current_fields,
    with_env_merged,
)
from ptcompile.operators.trainer.plugins import (
    PLUGINS,
    TRAINER,
    Build,
    change_pod,
    container_path,
    with_pod_count,
)

_REPLICATED_JOBS: Path = ("spec", "replicatedJobs")
"""Path of the jobs in the JobSet."""
_INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Expand the JobSet that Trainer creates from the patched runtime."""
    runtime, assumed = runtimes.find_runtime(manifest, request.related, request.versions.trainer)
    notes = []
    if assumed:
        name = nested_string(manifest, "spec", "runtimeRef", "name")
        notes.append(
            f"runtime {name!r} is in no file and not built in: treated as a copy of "
            "torch-distributed"
        )

    build = _build(manifest, runtime, request.versions.trainer)
    if build.failure:
        return Expansion(notes=tuple(notes), refused=(build.failure,))

    spec = {**build.spec, "suspend": nested_value(manifest, "spec", "suspend") is True}
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": object_name(manifest), "namespace": namespace_of(manifest)},
        "spec": {**spec, "replicatedJobs": build.jobs},
    }
    expansion = pods.expand(jobset, request, main="node")

    return Expansion(
        roles=expansion.roles,
        services=expansion.services,
        jobs=expansion.jobs,
        configmaps_of=lambda: tuple(build.configmaps),
        pod_group=build.pod_group,
        notes=(*notes, *build.notes, *expansion.notes),
        made=MadeObject(jobset, build.origins),
    )


def _build(manifest: Json, runtime: Json, version: Version) -> Build:
    """Build the JobSet: patches first, then the policy's plugin, then the TrainJob's own fields."""
    reference = nested_map(manifest, "spec", "runtimeRef")
    writer = f"{runtimes.referenced_kind(reference)} {nested_string(reference, 'name')}"
    place = Place(runtime, ("spec", "template", *_REPLICATED_JOBS))
    # the origin of all that the TrainJob does not change
    origins = [(_REPLICATED_JOBS, FieldOrigin(("spec", "runtimeRef"), writer, place))]
    template = apply_runtime_patches(
        runtime, to_current_fields(manifest, version), origins, version
    )
    spec: JsonDict = dict(nested_map(template, "spec"))
    patched_runtime = {
        **runtime,
        "spec": {**nested_map(runtime, "spec"), "template": template},
    }
    build = Build(
        manifest,
        patched_runtime,
        spec,
        [_with_pod_counts(rj) for rj in nested_maps(spec, "replicatedJobs")],
        version,
        origins=origins,
    )
    policy = runtimes.policy_of(runtime)
    if policy is not None:
        PLUGINS[policy](build)
    runtime_jobs = build.jobs
    build.jobs = [
        _apply_initializer(_apply_trainer(rj, build, resources=policy is not None), build)
        for rj in build.jobs
    ]
    _add_pod_group(build, runtime_jobs)

    return build


def _with_pod_counts(replicated: Json) -> Json:
    """Return the replicatedJob as one Job whose completions equal its parallelism, as Trainer
    runs its steps.
    """
    if not runtimes.step_label(replicated):
        return replicated

    count = nested_value(replicated, "template", "spec", "parallelism")
    return {**with_pod_count(replicated, 1 if count is None else count), "replicas": 1}


def _with_container_fields(replicated: Json, name: str, **fields: Any) -> Json:
    """Return the replicatedJob with fields set on its container named `name`."""

    def change(container: Json) -> Json:
        if container.get("name") != name:
            return container
        return {**container, **fields}

    return change_pod(replicated, lambda pod: with_containers(pod, change))


def _apply_trainer(replicated: Json, build: Build, *, resources: bool) -> Json:
    """Apply `spec.trainer` to the container `node` of the trainer's job."""
    if runtimes.step_label(replicated) != "trainer":
        return replicated

    trainer = nested_value(build.manifest, "spec", "trainer")
    node = runtimes.find_container(replicated, NODE)
    if node is None or not isinstance(trainer, Mapping):
        return replicated

    fields: JsonDict = {}
    for key in ("image", "command", "args"):
        if trainer.get(key) is not None and key not in build.set_fields:
            fields[key] = trainer[key]
    if resources and isinstance(trainer.get("resourcesPerNode"), Mapping):
        fields["resources"] = _merge_resources(
            nested_map(node, "resources"), trainer["resourcesPerNode"], build.version
        )

    fields["env"] = with_env_merged(node, trainer.get("env")).get("env")
    path = container_path(replicated, NODE)
    renamed = {"resources": "resourcesPerNode"}
    for key in fields:
        build.origins.append(((*path, key), FieldOrigin((*TRAINER, renamed.get(key, key)))))

    return _with_container_fields(replicated, NODE, **without_none(fields))


def _merge_resources(runtime: Json, user_resources: Json, version: Version) -> Json:
    """Merge requests and limits by name (2.3; older releases replace the runtime's). Claims are
    dropped.
    """
    if version < (2, 3):
        runtime = {}
    kinds = ("limits", "requests")
    return {
        k: {**nested_map(runtime, k), **nested_map(user_resources, k)}
        for k in kinds
        if runtime.get(k) or user_resources.get(k)
    }


def _apply_initializer(replicated: Json, build: Build) -> Json:
    """Apply `spec.initializer` to the initializer's container."""
    name = runtimes.step_label(replicated)
    path = ("spec", "initializer", _INITIALIZERS.get(name, ""))
    config = get(build.manifest, path)
    container = runtimes.find_container(replicated, name)
    if not isinstance(config, Mapping) or container is None:
        return replicated

    env: list[Any] = [*nested_maps(config, "env")]
    if config.get("storageUri") is not None:
        env.insert(0, {"name": "STORAGE_URI", "value": nested_string(config, "storageUri")})
    fields = {"env": with_env_merged(container, env).get("env", [])}
    env_path = (*container_path(replicated, name), "env")
    build.origins += [
        ((*env_path, "STORAGE_URI"), FieldOrigin((*path, "storageUri"), "Trainer")),
        (env_path, FieldOrigin((*path, "env"))),
    ]
    if isinstance(config.get("secretRef"), Mapping):
        fields["envFrom"] = [
            *nested_maps(container, "envFrom"),
            {"secretRef": config["secretRef"]},
        ]

    return _with_container_fields(replicated, name, **fields)


def _add_pod_group(build: Build, runtime_jobs: Sequence[Json]) -> None:
    """Set the PodGroup of all pods, including the initializers'.

    Before Trainer 2.2 it requests the resources of the runtime's pods, not the TrainJob's
    (kubeflow/trainer#2980).
    """
    policy = nested_map(build.runtime, "spec", "podGroupPolicy")
    scheduler = next(
        (name for name in ("coscheduling", "volcano") if isinstance(policy.get(name), Mapping)),
        None,
    )
    if scheduler is None:
        return

    counts = [nested_map(rj, "template", "spec").get("parallelism", 1) for rj in build.jobs]
    total = sum(count for count in counts if isinstance(count, int))
    group: JsonDict = {"name": build.name, "scheduler": scheduler, "minMember": total}
    build.pod_group = group
    if build.version < (2, 2):
        specs = [nested_map(job, "template", "spec", "template", "spec") for job in runtime_jobs]
        requests = [amounts.pod_requests(spec, defaulted=False) for spec in specs]
        group["minResources"] = amounts.as_text(
            amounts.total(zip(requests, map(as_int, counts), strict=True))
        )
        build.notes.append(
            "before Trainer 2.2 minResources are what the runtime requests, not resourcesPerNode"
        )

    build.notes.append(
        "the PodGroup has no effect unless the runtime's pod template sets schedulerName"
    )


_GANG_SCHEDULERS = {"volcano": "volcano", "coscheduling": "scheduler-plugins"}


def gang_scheduler(manifest: Json, related: Sequence[Json]) -> str:
    """Return the scheduler that the runtime's podGroupPolicy is for, or "" without one (Trainer
    2.3).
    """
    policy = nested_map(runtimes.find_runtime(manifest, related).source, "spec", "podGroupPolicy")
    return next((scheduler for field, scheduler in _GANG_SCHEDULERS.items() if field in policy), "")


def runtime_templates(manifest: Json) -> Iterator[Template]:
    """Yield the pod templates of a TrainingRuntime or ClusterTrainingRuntime."""
    for template in templates_of_spec(
        nested_map(manifest, "spec", "template", "spec"), ("spec", "template", "spec")
    ):
        yield template._replace(main=NODE) if template.role == NODE else template


def _jobset_spec(manifest: Json, related: Sequence[Json]) -> Json:
    """Return the JobSet's spec in a TrainJob's runtime."""
    runtime = runtimes.find_runtime(manifest, related).source
    return nested_map(runtime, "spec", "template", "spec")


def lost_pod(manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
    """Return what the JobSet of a TrainJob's runtime does about a lost pod."""
    return pods.lost_pod(_jobset_spec(manifest, related), role)


def restarts(
    manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
) -> tuple[Retry, ...]:
    """Return what answers a failed pod of the JobSet of a TrainJob's runtime."""
    return pods.restarts(_jobset_spec(manifest, related), role, exit_code)


def describe_failures(manifest: Json, related: Sequence[Json]) -> Iterator[str]:
    """Yield sentences about what a TrainJob does on failure and at its end."""
    yield from describe_spec_failures(_jobset_spec(manifest, related))
    deadline = nested_value(manifest, "spec", "activeDeadlineSeconds")
    if deadline is not None:
        yield (
            f"activeDeadlineSeconds {deadline}: then the TrainJob fails and its JobSet is deleted "
            "with its pods; Trainer creates it again with new pods, and deletes those at once"
        )
