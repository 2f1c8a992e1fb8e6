"""A Kubeflow TrainJob as the words of a spec (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.ir import pods as pod_template
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map, object_name
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.patches import MANAGER
from ptcompile.registry.reading import Read, ReadRole, count, restart_policy, without_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_NODE = "node"


def read(manifest: Json, others: tuple[Json, ...]) -> Iterator[Read]:
    """First as a job whose pods the spec describes, which compile may write so; then as what it is over its runtime."""
    runtime, assumed = runtimes.find_runtime(manifest, others)
    jobs = runtimes.replicated_jobs(runtime)
    if any(runtime is one for one in others) and object_name(runtime) == object_name(manifest):
        yield from _with_runtime(manifest, runtime, jobs)
    elif (
        not assumed
        and nested_map(manifest, "spec", "trainer").get("image")
        and any(one.get("name") == _NODE for one in jobs)
    ):
        template = _own_pods(nested_map(manifest, "spec"))
        nodes = runtimes.node_count(manifest, runtime)
        pods = ReadRole(_NODE, nodes, template, None, _NODE, restart_policy(template, "OnFailure"))
        yield Read("trainjob", (pods,), {**_words(manifest), "nodes": nodes})
    yield _over_runtime(manifest)


def folded(manifest: Json, others: tuple[Json, ...]) -> Read | None:
    """The job with its runtime in it, for operators without any; None where that is unknown, or more than nodes.

    Trainer tells every torchrun of its nodes and processes, and nothing else (torch policy, Trainer 2.3).
    """
    runtime, assumed = runtimes.find_runtime(manifest, others)
    jobs = runtimes.replicated_jobs(runtime)
    if assumed or len(jobs) != 1 or runtimes.policy_of(runtime) != "torch" or jobs[0].get("name") != _NODE:
        return None
    template = pod_template.merge(
        nested_map(jobs[0], "template", "spec", "template"), _own_pods(nested_map(manifest, "spec"))
    )
    nodes, said = runtimes.node_count(manifest, runtime), runtimes.nproc_per_node(manifest, runtime)
    untold = {"monitorInterval": None, "rdzvId": None, "rdzvConfigs": {"timeout": None, "join_timeout": None}}
    elastic = {"nprocPerNode": int(said) if said.isdigit() else said, "rdzvBackend": "static", **untold}
    pods = ReadRole(_NODE, nodes, template, None, _NODE, restart_policy(template, "OnFailure"))
    return Read("trainjob", (pods,), {**_words(manifest), "nodes": nodes, "elastic": elastic})


def _words(manifest: Json) -> dict[str, Any]:
    spec = nested_map(manifest, "spec")
    policy = without_empty({word: spec.get(word) for word in ("activeDeadlineSeconds", "suspend")})
    words: dict[str, Any] = {"runPolicy": policy}
    processes = nested_map(spec, "trainer").get("numProcPerNode")
    if processes is not None:
        words["elastic"] = {"nprocPerNode": processes}
    return words


def _with_runtime(manifest: Json, runtime: Json, jobs: list[Json]) -> Iterator[Read]:
    """A job that brings its own runtime, as compile writes where no other does what the job says."""
    pods = [_of_runtime(manifest, runtime, place, one) for place, one in enumerate(jobs)]
    pods.sort(key=lambda one: not one.trains)
    if not pods or not pods[0].trains:
        return
    words = _words(manifest)
    deadline = nested_map(jobs[0], "template", "spec").get("activeDeadlineSeconds")
    if deadline is not None:
        words["runPolicy"]["activeDeadlineSeconds"] = deadline
    yield Read("trainjob", tuple(pods), {**words, "nodes": pods[0].replicas}, objects=(runtime,))


def _of_runtime(manifest: Json, runtime: Json, place: int, replicated: Json) -> ReadRole:
    job, name = nested_map(replicated, "template", "spec"), as_string(replicated.get("name"))
    template = nested_map(job, "template")
    path: Path = ("spec", "template", "spec", "replicatedJobs", place, "template", "spec", "template")
    if name != _NODE:
        restart = restart_policy(template, "OnFailure")
        return ReadRole(name, count(job.get("parallelism")), template, path, name, restart, trains=False, holder=1)
    template = pod_template.merge(template, _own_pods(nested_map(manifest, "spec")))
    nodes, restart = runtimes.node_count(manifest, runtime), restart_policy(template, "OnFailure")
    return ReadRole(_NODE, nodes, template, path, _NODE, restart, holder=1)


def _over_runtime(manifest: Json) -> Read:
    spec = nested_map(manifest, "spec")
    ref = nested_map(spec, "runtimeRef")
    nodes = nested_map(spec, "trainer").get("numNodes")
    words = {**_words(manifest), "runtimeRef": without_empty({"name": ref.get("name"), "kind": ref.get("kind")})}
    if nodes is not None:
        words["nodes"] = nodes
    pods = ReadRole(_NODE, count(nodes), _own_pods(spec), None, _NODE, None)
    return Read("trainjob", (pods,), words)


def _own_pods(spec: Json) -> dict[str, Any]:
    """What the TrainJob itself says of its nodes: its trainer, and the patch that compile writes."""
    trainer = nested_map(spec, "trainer")
    fields = {word: trainer.get(word) for word in ("image", "command", "args", "env")}
    container = {"name": _NODE, **without_empty({**fields, "resources": trainer.get("resourcesPerNode")})}
    template: dict[str, Any] = {"spec": {"containers": [container]}}
    for patch in as_mappings(spec.get("runtimePatches")):
        if patch.get("manager") == MANAGER:
            for job in as_mappings(nested_map(patch, "trainingRuntimeSpec", "template", "spec").get("replicatedJobs")):
                template = pod_template.merge(template, nested_map(job, "template", "spec", "template"))
    for word in ("podTemplateOverrides", "podSpecOverrides"):
        for one in as_mappings(spec.get(word)):
            body = {key: value for key, value in one.items() if key != "targetJobs"}
            template = pod_template.merge(template, {"spec": body} if word == "podSpecOverrides" else body)
    return template
