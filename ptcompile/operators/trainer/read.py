"""A Kubeflow TrainJob as the words of a spec (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptcompile import podtemplate, trainruntimes
from ptcompile.operators.common.read import Pods, Read, count, given, restart_policy
from ptcompile.plain import Json, at, items, object_name, text
from ptcompile.targets.trainjob_patch import MANAGER

_NODE = "node"


def read(manifest: Json, others: tuple[Json, ...]) -> Iterator[Read]:
    """First as a job whose pods the spec describes, which compile may write so; then as what it is over its runtime."""
    runtime, assumed = trainruntimes.find(manifest, others)
    node = next((one for one in trainruntimes.replicated_jobs(runtime) if one.get("name") == _NODE), None)
    if not assumed and node is not None:
        yield _whole(manifest, runtime, node)
    yield _over_runtime(manifest)


def _words(manifest: Json) -> dict[str, Any]:
    spec = at(manifest, "spec")
    policy = given({word: spec.get(word) for word in ("activeDeadlineSeconds", "suspend")})
    words: dict[str, Any] = {"runPolicy": policy}
    processes = at(spec, "trainer").get("numProcPerNode")
    if processes is not None:
        words["elastic"] = {"nprocPerNode": processes}
    return words


def _whole(manifest: Json, runtime: Json, node: Json) -> Read:
    spec = at(manifest, "spec")
    own = text(at(spec, "runtimeRef").get("name")) == object_name(manifest)
    child = at(node, "template", "spec")
    template: Json = at(child, "template") if own else {}
    template = podtemplate.merge(template, _own_pods(spec))
    pods = Pods(
        _NODE, trainruntimes.nodes(manifest, runtime), template, None, _NODE, restart_policy(template, "OnFailure")
    )
    beside = [
        Pods(text(one.get("name")), count(at(one, "template", "spec").get("parallelism")),
             at(one, "template", "spec", "template"), None, text(one.get("name")),
             restart_policy(at(one, "template", "spec", "template"), "OnFailure"), trains=False)
        for one in trainruntimes.replicated_jobs(runtime)
        if own and one is not node
    ]  # fmt: skip
    words = _words(manifest)
    deadline = child.get("activeDeadlineSeconds") if own else None
    if deadline is not None:
        words["runPolicy"]["activeDeadlineSeconds"] = deadline
    return Read("trainjob", (pods, *beside), {"nodes": pods.replicas, **words})


def _over_runtime(manifest: Json) -> Read:
    spec = at(manifest, "spec")
    ref = at(spec, "runtimeRef")
    nodes = at(spec, "trainer").get("numNodes")
    words = {**_words(manifest), "runtimeRef": given({"name": ref.get("name"), "kind": ref.get("kind")})}
    if nodes is not None:
        words["nodes"] = nodes
    pods = Pods(_NODE, count(nodes), _own_pods(spec), None, _NODE, None)
    return Read("trainjob", (pods,), words)


def _own_pods(spec: Json) -> dict[str, Any]:
    """What the TrainJob itself says of its nodes: its trainer, and the patch that compile writes."""
    trainer = at(spec, "trainer")
    fields = {word: trainer.get(word) for word in ("image", "command", "args", "env")}
    container = {"name": _NODE, **given({**fields, "resources": trainer.get("resourcesPerNode")})}
    template: dict[str, Any] = {"spec": {"containers": [container]}}
    for patch in items(spec.get("runtimePatches")):
        if patch.get("manager") == MANAGER:
            for job in items(at(patch, "trainingRuntimeSpec", "template", "spec").get("replicatedJobs")):
                template = podtemplate.merge(template, at(job, "template", "spec", "template"))
    for word in ("podTemplateOverrides", "podSpecOverrides"):
        for one in items(spec.get(word)):
            body = {key: value for key, value in one.items() if key != "targetJobs"}
            template = podtemplate.merge(template, {"spec": body} if word == "podSpecOverrides" else body)
    return template
