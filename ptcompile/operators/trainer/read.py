"""Spec fields read from a Kubeflow TrainJob (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.reading import (
    NOT_PASSED,
    Read,
    ReadRole,
    pod_count,
    restart_policy,
    without_empty,
)
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.merging import merge
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
    without_keys,
)
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.patches import MANAGER, NODE


def read(manifest: Json, related: Objects) -> Iterator[Read]:
    """Yield first a job whose pods the spec describes, if compile could have written it; then
    one over its runtime.
    """
    runtime, assumed = runtimes.find_runtime(manifest, related)
    jobs = runtimes.replicated_jobs(runtime)
    if any(runtime is item for item in related) and object_name(runtime) == object_name(manifest):
        yield from _read_own_runtime(manifest, runtime, jobs)
    elif (
        not assumed
        and nested_value(manifest, "spec", "trainer", "image")
        and any(item.get("name") == NODE for item in jobs)
    ):
        template = _trainjob_template(nested_map(manifest, "spec"))
        nodes = runtimes.node_count(manifest, runtime)
        yield Read(
            "trainjob", (_node_role(nodes, template),), {**_spec_fields(manifest), "nodes": nodes}
        )

    yield _read_over_runtime(manifest)


def read_with_runtime(manifest: Json, related: Objects) -> Read | None:
    """Return the job with its runtime merged in, or None if the runtime is unknown or has more than
    nodes.

    For operators without runtimes. Trainer passes each torchrun only its nodes and processes (torch
    policy, Trainer 2.3).
    """
    runtime, assumed = runtimes.find_runtime(manifest, related)
    jobs = runtimes.replicated_jobs(runtime)
    if assumed or len(jobs) != 1 or runtimes.policy_of(runtime) != "torch":
        return None
    (job,) = jobs
    if job.get("name") != NODE:
        return None

    template = merge(
        nested_map(job, "template", "spec", "template"),
        _trainjob_template(nested_map(manifest, "spec")),
    )
    nodes = runtimes.node_count(manifest, runtime)
    processes = runtimes.nproc_per_node(manifest, runtime)
    elastic = {
        "nprocPerNode": int(processes) if is_short_number(processes) else processes,
        "rdzvBackend": "static",
        **NOT_PASSED,
    }
    return Read(
        "trainjob",
        (_node_role(nodes, template),),
        {**_spec_fields(manifest), "nodes": nodes, "elastic": elastic},
    )


def _node_role(nodes: int, template: Json) -> ReadRole:
    return ReadRole(
        role=NODE,
        replicas=nodes,
        template=template,
        path=None,
        main=NODE,
        restart=restart_policy(template, "OnFailure"),
    )


def _spec_fields(manifest: Json) -> JsonDict:
    spec = nested_map(manifest, "spec")
    policy = without_empty(
        {field: spec.get(field) for field in ("activeDeadlineSeconds", "suspend")}
    )
    fields: JsonDict = {"runPolicy": policy}
    processes = nested_value(spec, "trainer", "numProcPerNode")
    if processes is not None:
        fields["elastic"] = {"nprocPerNode": processes}
    return fields


def _read_own_runtime(manifest: Json, runtime: Json, jobs: list[Json]) -> Iterator[Read]:
    """Yield a job with its own runtime, as compile writes if no existing runtime fits."""
    pods = [_runtime_role(manifest, runtime, index, item) for index, item in enumerate(jobs)]
    pods.sort(key=lambda item: not item.trains)
    first = next(iter(pods), None)
    if first is None or not first.trains:
        return
    fields = _spec_fields(manifest)
    deadline = nested_value(jobs[0], "template", "spec", "activeDeadlineSeconds")
    if deadline is not None:
        fields["runPolicy"]["activeDeadlineSeconds"] = deadline
    yield Read("trainjob", tuple(pods), {**fields, "nodes": first.replicas}, objects=(runtime,))


def _runtime_role(manifest: Json, runtime: Json, index: int, replicated: Json) -> ReadRole:
    job = nested_map(replicated, "template", "spec")
    name = nested_string(replicated, "name")
    template = nested_map(job, "template")
    path = (
        "spec",
        "template",
        "spec",
        "replicatedJobs",
        index,
        "template",
        "spec",
        "template",
    )
    if name != NODE:
        restart = restart_policy(template, "OnFailure")
        return ReadRole(
            name,
            pod_count(job.get("parallelism")),
            template,
            path,
            name,
            restart,
            trains=False,
            holder=1,
        )

    template = merge(template, _trainjob_template(nested_map(manifest, "spec")))
    nodes = runtimes.node_count(manifest, runtime)
    restart = restart_policy(template, "OnFailure")

    return ReadRole(NODE, nodes, template, path, NODE, restart, holder=1)


def _read_over_runtime(manifest: Json) -> Read:
    spec = nested_map(manifest, "spec")
    ref = nested_map(spec, "runtimeRef")
    nodes = nested_value(spec, "trainer", "numNodes")
    fields = {
        **_spec_fields(manifest),
        "runtimeRef": without_empty({"name": ref.get("name"), "kind": ref.get("kind")}),
    }
    if nodes is not None:
        fields["nodes"] = nodes
    pods = ReadRole(NODE, pod_count(nodes), _trainjob_template(spec), None, NODE, None)

    return Read("trainjob", (pods,), fields)


def _trainjob_template(spec: Json) -> JsonDict:
    """Return the pod template that the TrainJob itself sets: its trainer, and the patch that
    compile writes.
    """
    trainer = nested_map(spec, "trainer")
    fields = {field: trainer.get(field) for field in ("image", "command", "args", "env")}
    container = {
        "name": NODE,
        **without_empty({**fields, "resources": trainer.get("resourcesPerNode")}),
    }
    template: JsonDict = {"spec": {"containers": [container]}}
    for patch in nested_maps(spec, "runtimePatches"):
        if patch.get("manager") == MANAGER:
            for job in nested_maps(
                patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs"
            ):
                template = merge(template, nested_map(job, "template", "spec", "template"))

    for field in ("podTemplateOverrides", "podSpecOverrides"):
        for override in nested_maps(spec, field):
            body = without_keys(override, "targetJobs")
            template = merge(template, {"spec": body} if field == "podSpecOverrides" else body)

    return template
