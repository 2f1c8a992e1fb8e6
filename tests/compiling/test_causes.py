"""A finding in what a pass or a target wrote stands at the word of the spec that is nearest to its cause."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiling.causes import cause
from ptcompile.compiling.compiler import compile_document
from ptcompile.compiling.location import Finding, locate
from ptcompile.findings.diagnostics import Problem
from tests import making
from tests.making import compiled, smallest, text, traced
from tests.places import places

NPROC = ("spec", "elastic", "nprocPerNode")
CASES: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}", "job", "host-core-processes", NPROC),
    ("script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}", "pytorchjob", "host-core-processes", NPROC),
    ("script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}", "trainjob", "host-core-processes", NPROC),
    ("script: t.py\nelastic: {}\nresources: {gpu: 8}", "job", "idle-gpus", NPROC),
    ("script: t.py\nsharedMemory: false\nresources: {gpu: 8}", "jobset", "missing-shm", ("spec", "sharedMemory")),
]


@pytest.mark.parametrize(("body", "target", "name", "path"), CASES)
def test_where_lint_says_it(body: str, target: str, name: str, path: tuple[str, ...]) -> None:
    gpus = "" if "resources" in body else "\nresources: {gpu: 2, cpu: 4, memory: 8Gi}"
    found = [
        d for d in ptcompile.lint(text(f"image: i:1\ntarget: {target}\n{body}{gpus}")).diagnostics if d.name == name
    ]
    assert {d.path for d in found} == {path}
    assert all(d.message.startswith(".".join(path) + ": ") for d in found)


def test_two_findings_near_one_word_are_two() -> None:
    data = yaml.safe_load(text("image: i:1\ntarget: job\ncommand: [torchrun, t.py]\nnodes: 2"))
    done = compile_document(data, making.DEFAULT_CLUSTER)
    assert done.trace is not None
    variables = done.manifests[-1]["spec"]["template"]["spec"]["containers"][0]["env"]
    found = [
        (
            len(done.manifests) - 1,
            Problem(
                "env-that-torchrun-sets", ("spec", "template", "spec", "containers", 0, "env", i), one["name"], None
            ),
        )
        for i, one in enumerate(variables)
        if one["name"] in {"WORLD_SIZE", "RANK"}
    ]
    told = locate([Finding(problem, index) for index, problem in found], data, done.trace)
    assert [problem.path for problem in told] == [("spec", "command")] * 2
    assert [problem.message.split()[-1] for problem in told] == [problem.message for _, problem in found]


RULES = [  # a rule's name, or none; where in the manifest of the target; what a spec has; where it is said
    ("x", "pytorchjob", ("spec", "pytorchReplicaSpecs", "Worker", "replicas"), "nodes: 3", ("nodes",)),
    ("x", "pytorchjob", ("spec", "pytorchReplicaSpecs", "Worker", "replicas"), "worker: {replicas: 2}",
     ("worker", "replicas")),
    ("x", "pytorchjob", ("spec", "elasticPolicy", "rdzvConf"), "elastic: {nnodes: '2:3', rdzvConfigs: {a: b}}",
     ("elastic", "rdzvConfigs")),
    ("x", "pytorchjob", ("spec", "elasticPolicy", "maxReplicas"), "elastic: {nnodes: '2:3'}", ("elastic", "nnodes")),
    ("x", "pytorchjob", ("spec", "elasticPolicy", "rdzvId"), "elastic: {nnodes: '2:3'}", ("elastic",)),
    ("x", "volcano", ("spec", "queue"), "queue: q", ("queue",)),
    ("x", "jobset", ("spec", "failurePolicy"), "runPolicy: {onPodFailure: RestartJob}", ("runPolicy",)),
    ("x", "job", ("spec", "template", "spec", "volumes", 0), "sharedMemory: 1Gi", ("sharedMemory",)),
    ("x", "job", ("spec", "template", "spec", "tolerations", 0), "resources: {gpu: 1}", ()),  # the profile's
    ("x", "job", ("spec", "template", "spec"), "", ()),
    ("x", "job", ("spec", "template", "spec", "containers", 0, "resources", "limits"), "resources: {gpu: 1}",
     ("resources",)),
    ("x", "job", ("spec", "template", "spec", "containers", 0, "volumeMounts", 0), "sharedMemory: 1Gi",
     ("sharedMemory",)),
    ("x", "job", ("spec", "template", "spec", "containers", 0), "", ("script",)),
    ("x", "job", ("spec", "template", "spec", "containers", 0, "command", 99), "", ("script",)),
    ("x", "job", ("spec", "completionMode"), "", ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "path", "body", "wanted"), RULES)
def test_the_word_that_is_nearest(
    name: str, target: str, path: tuple[Any, ...], body: str, wanted: tuple[str, ...]
) -> None:
    source = smallest(body)
    trace, data, _ = traced(source, target)
    assert cause(Problem(name, path, "m"), trace, len(trace.manifests) - 1, data) == ("spec", *wanted)


@pytest.mark.parametrize("tail", [(), ("value",)])
def test_the_threads_of_several_processes_come_from_what_starts_them(tail: tuple[str, ...]) -> None:
    """The pass env sets OMP_NUM_THREADS; its other variables are the profile's."""
    source = smallest("elastic: {nprocPerNode: 8}\nresources: {gpu: 8}")
    trace, data, _ = traced(source, "job")
    variables = trace.manifests[-1]["spec"]["template"]["spec"]["containers"][0]["env"]
    (index,) = (i for i, variable in enumerate(variables) if variable["name"] == "OMP_NUM_THREADS")
    path: tuple[Any, ...] = ("spec", "template", "spec", "containers", 0, "env", index, *tail)
    assert cause(Problem("x", path, "m"), trace, len(trace.manifests) - 1, data) == ("spec", "script")


def test_what_the_profile_gives_is_no_word_of_the_spec_s() -> None:
    cluster = "kind: ClusterProfile\nspec: {defaults: {env: {NCCL_DEBG: INFO}}}\n"
    (found,) = ptcompile.lint(smallest("resources: {cpu: 1, memory: 1Gi}"), cluster=cluster).diagnostics
    assert (found.name, found.path) == ("misspelt-env", ("spec",))
    assert found.message.startswith("spec.containers[0].env[0]")


def test_a_refusal_of_what_the_profile_gives_blames_no_word_of_the_spec() -> None:
    template = {"spec": {"containers": [{"name": "pytorch", "env": [{"value": "x"}]}]}}
    (problem,) = compiled(smallest(), "pod", making.profile({"defaults": {"podTemplate": template}})).problems
    assert (problem.path, problem.message) == (("spec",), "spec.containers[0].env[0].name: Required value")


@pytest.mark.parametrize("target", ["pod", "job", "pytorchjob", "volcano", "trainjob", "jobset"])
def test_it_is_total_and_gives_a_place_of_the_spec(target: str) -> None:
    several = "" if target == "pod" else "\nelastic: {nnodes: '2:4', nprocPerNode: 2}"
    data = yaml.safe_load(smallest(f"resources: {{gpu: 2}}{several}"))
    trace, _, _ = traced(yaml.safe_dump(data), target)
    for index, manifest in enumerate(trace.manifests):
        for path in ((), *places(manifest)):
            for tail in ((), ("nowhere",), (7,)):
                place: Any = data
                for part in cause(Problem("x", (*path, *tail), "m"), trace, index, data):
                    place = place[part]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("nodes: 2", ("spec", "nodes")),
        ("elastic: {nnodes: 2}", ("spec", "elastic", "nnodes")),
        ("master: {}\nworker: {replicas: 1}", ("spec", "worker")),
    ],
)
def test_several_nodes_for_a_pod_are_said_where_they_are_asked_for(body: str, path: tuple[str, ...]) -> None:
    problems = [p for p in compiled(smallest(body), "pod").problems if "one node" in p.message]
    assert [p.path for p in problems] == [path]
