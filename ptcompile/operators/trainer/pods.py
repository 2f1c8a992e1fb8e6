"""The pods of a TrainJob: templates, launch options, expansion, and what happens on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, namespace_of, nested_map, object_name
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.jobset import pods
from ptcompile.operators.jobset.pods import describe_spec_failures, templates_of_spec
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.patches import env_over, patched, today
from ptcompile.operators.trainer.plugins import PLUGINS, Build
from ptcompile.registry.model import KindContext
from ptcompile.registry.pods import Expansion
from ptcompile.registry.templates import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


_INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}


def expand(manifest: Json, request: KindContext) -> Expansion:
    """The runtime, patched and filled in, as a JobSet, and that JobSet's pods."""
    runtime, assumed = runtimes.find_runtime(manifest, request.others, request.versions.trainer)
    notes = []
    if assumed:
        name = as_string(nested_map(manifest, "spec", "runtimeRef").get("name"))
        notes.append(f"runtime {name!r} is in no file and not built in: treated as a copy of torch-distributed")
    build = _build(manifest, runtime, request.versions.trainer)
    if build.failure:
        return Expansion(notes=tuple(notes), refused=(build.failure,))
    spec = {**build.spec, "suspend": nested_map(manifest, "spec").get("suspend") is True}
    made = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": object_name(manifest), "namespace": namespace_of(manifest)},
        "spec": {**spec, "replicatedJobs": build.jobs},
    }
    world = pods.expand(made, request, main="node")
    return Expansion(
        roles=world.roles,
        services=world.services,
        jobs=world.jobs,
        configmaps_of=lambda: tuple(build.configmaps),
        pod_group=build.pod_group,
        notes=(*notes, *build.notes, *world.notes),
    )


def _build(manifest: Json, runtime: Json, version: Version) -> Build:
    """The JobSet's spec: patches first, then the policy's plugin, then what the TrainJob says itself."""
    template = patched(runtime, today(manifest, version))
    spec: dict[str, Any] = dict(nested_map(template, "spec"))
    whole = {**runtime, "spec": {**nested_map(runtime, "spec"), "template": template}}
    build = Build(manifest, whole, spec, [_counted(rj) for rj in as_mappings(spec.get("replicatedJobs"))], version)
    policy = runtimes.policy_of(runtime)
    if policy is not None:
        PLUGINS[policy](build)
    build.jobs = [_initializer(_trainer(rj, build, resources=policy is not None), manifest) for rj in build.jobs]
    _pod_group(build)
    return build


def _counted(replicated: Json) -> Json:
    """Trainer and initializer jobs run once: parallelism and completions are the number of their pods."""
    if not runtimes.step_label(replicated):
        return replicated
    job = nested_map(replicated, "template", "spec")
    count = job.get("parallelism") if job.get("parallelism") is not None else 1
    counted = {**job, "parallelism": count, "completions": count}
    return {**replicated, "replicas": 1, "template": {**nested_map(replicated, "template"), "spec": counted}}


def _change(replicated: Json, name: str, **fields: Any) -> Json:
    """The replicatedJob with fields set on its container of this name."""
    template, job = nested_map(replicated, "template"), nested_map(replicated, "template", "spec")
    pod_template, pod = nested_map(job, "template"), nested_map(job, "template", "spec")
    if not as_mappings(pod.get("containers")):
        return replicated
    changed = [{**c, **fields} if c.get("name") == name else c for c in as_mappings(pod.get("containers"))]
    pod_template = {**pod_template, "spec": {**pod, "containers": changed}}
    return {**replicated, "template": {**template, "spec": {**job, "template": pod_template}}}


def _trainer(replicated: Json, build: Build, *, resources: bool) -> Json:
    """What `spec.trainer` says, on the container `node` of the trainer's job."""
    trainer = nested_map(build.manifest, "spec").get("trainer")
    node = runtimes.find_container(replicated, "node")
    if runtimes.step_label(replicated) != "trainer" or node is None or not isinstance(trainer, Mapping):
        return replicated
    fields: dict[str, Any] = {}
    for key in ("image", "command", "args"):
        if trainer.get(key) is not None and key not in build.own:
            fields[key] = trainer[key]
    if resources and isinstance(trainer.get("resourcesPerNode"), Mapping):
        fields["resources"] = _resources(nested_map(node, "resources"), trainer["resourcesPerNode"], build.version)
    fields["env"] = env_over(node, trainer.get("env")).get("env")
    return _change(replicated, "node", **{k: v for k, v in fields.items() if v is not None})


def _resources(runtime: Json, given: Json, version: Version) -> Json:
    """Requests and limits merged by name (2.3; older ones replaced the runtime's); claims are dropped on the way."""
    runtime = runtime if version >= (2, 3) else {}
    kinds = ("limits", "requests")
    return {
        k: {**as_mapping(runtime.get(k)), **as_mapping(given.get(k))} for k in kinds if runtime.get(k) or given.get(k)
    }


def _initializer(replicated: Json, manifest: Json) -> Json:
    """What `spec.initializer` says, on the initializer's container."""
    name = runtimes.step_label(replicated)
    config = nested_map(manifest, "spec", "initializer").get(_INITIALIZERS.get(name, ""))
    container = runtimes.find_container(replicated, name)
    if not isinstance(config, Mapping) or container is None:
        return replicated
    env: list[Any] = [*as_mappings(config.get("env"))]
    if config.get("storageUri") is not None:
        env.insert(0, {"name": "STORAGE_URI", "value": as_string(config.get("storageUri"))})
    fields = {"env": env_over(container, env).get("env", [])}
    if isinstance(config.get("secretRef"), Mapping):
        fields["envFrom"] = [*as_mappings(container.get("envFrom")), {"secretRef": config["secretRef"]}]
    return _change(replicated, name, **fields)


def _pod_group(build: Build) -> None:
    """The gang over all pods, the initializers' too (2.7)."""
    policy = nested_map(build.runtime, "spec", "podGroupPolicy")
    kind = next((k for k in ("coscheduling", "volcano") if isinstance(policy.get(k), Mapping)), None)
    if kind is None:
        return
    counts = [nested_map(rj, "template", "spec").get("parallelism", 1) for rj in build.jobs]
    total = sum(c for c in counts if isinstance(c, int))
    build.pod_group = {"name": object_name(build.manifest), "scheduler": kind, "minMember": total}
    build.notes.append("the PodGroup has no effect unless the runtime's pod template sets schedulerName")


NODE = "node"
"""What Trainer calls the replicatedJob that trains, and its container."""


def of_runtime(manifest: Json) -> Iterator[Template]:
    """The templates of a TrainingRuntime or ClusterTrainingRuntime."""
    for one in templates_of_spec(nested_map(manifest, "spec", "template", "spec"), ("spec", "template", "spec")):
        yield one._replace(main=NODE) if one.role == NODE else one


def sentences(manifest: Json, others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a TrainJob."""
    runtime = runtimes.find_runtime(manifest, others)[0]
    yield from describe_spec_failures(nested_map(runtime, "spec", "template", "spec"))
    deadline = nested_map(manifest, "spec").get("activeDeadlineSeconds")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: then the TrainJob fails and its pods are deleted"
