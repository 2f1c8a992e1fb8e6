"""Specs with several mistakes: one run reports them all, without findings that only follow from another mistake."""

from __future__ import annotations

from itertools import combinations
from textwrap import indent
from typing import Any

import pytest

import ptcompile
from ptcompile.compiler import pipeline
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.pipeline import compile_document
from ptcompile.compiler.recovery import without_mistakes
from ptcompile.diagnostics import Problem
from tests.making import DEFAULT_CLUSTER, documents, smallest, text

ALONE = {
    "shape: unknown": "workngDir: /app",
    "shape: elsewhere": "gpu: 8",
    "shape: a type": "args: --lr 1",
    "shape: a bound": "runPolicy: {backoffLimit: -1}",
    "shape: an amount": "resources: {cpu: 4x}",
    "an image": "podTemplate: {spec: {initContainers: [{name: get, image: 'a:1:2'}]}}",
    "contradiction": "elastic: {rdzvBackend: static, nnodes: '2:4'}",
    "an invalid queue name": "queue: Team_A",
    "Kubernetes' structure": "tolerations: [{operatr: Exists}]",
    "the API server, of a name": "volumes: [{name: Cache, emptyDir: {}}]",
    "the API server, of a reference": "volumeMounts: [{name: dta, mountPath: /data}]",
    "the API server, of a label": "nodeSelector: {a b: c}",
}
"""Single mistakes, reported by four different layers."""


def messages_of(*bodies: str) -> set[tuple[str, str]]:
    """Return the codes and messages of a spec with these lines."""
    diagnostics = ptcompile.compile(smallest("\n".join(bodies))).diagnostics
    assert len({(diagnostic.code, diagnostic.path) for diagnostic in diagnostics}) == len(
        diagnostics
    )
    return {(diagnostic.code, diagnostic.message) for diagnostic in diagnostics}


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE)
def test_one_mistake_is_one_finding(body: str) -> None:
    assert len(messages_of(body)) == 1


@pytest.mark.parametrize(("one", "other"), list(combinations(ALONE, 2)))
def test_two_mistakes_do_not_hide_each_other(one: str, other: str) -> None:
    assert messages_of(ALONE[one], ALONE[other]) == messages_of(ALONE[one]) | messages_of(
        ALONE[other]
    )


def test_all_mistakes_are_reported_together() -> None:
    bodies = [body for name, body in ALONE.items() if name != "the API server, of a reference"]
    assert messages_of(*bodies) == set().union(*(messages_of(body) for body in bodies))


def test_a_bad_name_hides_nothing_and_is_not_hidden() -> None:
    result = ptcompile.compile(
        smallest("nods: 4\nvolumeMounts: [{name: dta, mountPath: /data}]", name="My_Job")
    )
    paths = [("metadata", "name"), ("spec", "nods"), ("spec", "volumeMounts", 0, "name")]
    assert sorted(diagnostic.path for diagnostic in result.diagnostics) == sorted(paths)


COMPARED = {
    "a command line": "script: train.py --fsdp full",
    "more processes than GPUs": "script: t.py\nresources: {gpu: 8}\nelastic: {nprocPerNode: 9}",
    "a request above its limit": "script: t.py\nresources: {requests: {cpu: 8}, limits: {cpu: 4}}",
    "a path as a volume": "script: t.py\nvolumes: [{name: data, hostPath: /scratch}]",
    "what a target lacks": "script: t.py\ntarget: pod\nnodes: 2",
}
"""Mistakes of several values."""
BESIDE = [
    "workngDir: /app",
    "tolerations: [{operatr: Exists}]",
    "imagePullSecrets: [gar]",
    "volumeMounts: [/scratch]",
]


def messages_alone(body: str) -> set[tuple[str, str]]:
    return {
        (diagnostic.code, diagnostic.message)
        for diagnostic in ptcompile.compile(text(f"image: a:1\n{body}")).diagnostics
    }


@pytest.mark.parametrize("body", COMPARED.values(), ids=COMPARED)
def test_mistakes_of_several_values_are_not_hidden_by_others(body: str) -> None:
    errors = messages_alone(body)
    assert len(errors) == 1
    for beside in BESIDE:
        assert messages_alone(f"{body}\n{beside}") == errors | messages_alone(
            f"script: t.py\n{beside}"
        ), beside


def test_all_mistakes_of_a_file_are_reported_in_one_run() -> None:
    """The first files of three new users, together."""
    body = """\
script: train.py --fsdp full_shard
args: [--lr, 3e-4]
nodes: "4"
gpus_per_node: 8
gpu_type: a100
mem: 256G
resources: {memory: 256GB, gpu: 8}
activeDeadlineSeconds: 24
volumeMounts: [/scratch]
imagePullSecrets: [gar]
hostPath: /scratch
env: {EPOCHS: 3, HF_TOKEN: {secret: hf}}
volumes: [{name: data, hostPath: /scratch}, {name: big, emptyDir: {sizeLimit: 10GB}}]
runPolicy: {backoffLimit: -1, cleanPodPolicy: Runing, ttlSecondsAfterFinished: 10m}
elastic: {nprocPerNode: 9, maxRestarts: three}
tolerations: [{key: a, operator: Exist}]
nodeSelector: {a b: c}
sharedMemory: yes please
"""
    diagnostics = ptcompile.compile(
        smallest("", name="A_B").replace("  script: train.py\n", "") + indent(body, "  ")
    ).diagnostics
    assert {diagnostic.path[:3] for diagnostic in diagnostics} >= {
        ("spec", "script"),
        ("spec", "volumes", 0),
        ("spec", "volumes", 1),
    }
    assert len({diagnostic.path for diagnostic in diagnostics}) >= 23


FOLLOWING = [
    ("an invalid volume", "volumes: [x]\nvolumeMounts: [{name: data, mountPath: /data}]"),
    ("a misspelled script", "elastic: {nnodes: 2, scrpt: t.py}"),
    ("a field of a volume", "volumes: [{name: a, persistentVolumeClaim: {claim: a}}]"),
    ("a wrong number of nodes", "nodes: four\nelastic: {nprocPerNode: 1}"),
    ("a wrong patch", "podTemplate: []"),
    ("a wrong list of arguments", "args: 1"),
    (
        "a wrong number of GPUs",
        "accelerator: nvidia-h100-80gb\nresources: {devices: {nvidia.com/gpu: abc}}",
    ),
    ("resources that are not a mapping", "accelerator: nvidia-h100-80gb\nresources: 5"),
]


@pytest.mark.parametrize(
    "body", [body for _, body in FOLLOWING], ids=[name for name, _ in FOLLOWING]
)
def test_consequences_of_a_mistake_are_not_reported(body: str) -> None:
    assert len(messages_of(body)) == 1


def test_an_invalid_script_is_not_reported_as_missing() -> None:
    for start in ("script: 5", "scrpt: t.py", "elastic: {script: t.py}"):
        diagnostics = ptcompile.compile(text(f"image: a:1\n{start}")).diagnostics
        assert len(diagnostics) == 1, start


def test_other_kinds_are_not_checked() -> None:
    data = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "A_B"},
        "spec": {"nods": 1},
    }
    assert [problem.name for problem in compile_document(data, DEFAULT_CLUSTER).problems] == [
        "unknown-kind"
    ]


def test_the_document_is_not_changed() -> None:
    data = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "A_B"},
        "spec": {"nods": [1]},
    }
    before = repr(data)
    compile_document(data, DEFAULT_CLUSTER)
    assert repr(data) == before


def test_generate_name_with_a_mistake_is_not_a_missing_name() -> None:
    source = smallest("master: {replicas: 2}").replace("name: train", "generateName: train-")
    assert [diagnostic.path for diagnostic in ptcompile.compile(source).diagnostics] == [
        ("spec", "master", "replicas")
    ]


@pytest.mark.parametrize("target", [None, "job", "trainjob"])
def test_mistakes_at_every_stage_cost_one_build(
    target: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[object] = []

    def counted(*given: Any) -> Built:
        built.append(given)
        return build(*given)

    monkeypatch.setattr(pipeline, "build", counted)
    bodies = "\n".join(
        ALONE[name] for name in ("shape: unknown", "contradiction", "the API server, of a label")
    )
    data = documents(smallest(bodies))[0]
    compiled = compile_document(data, DEFAULT_CLUSTER, target)
    assert {problem.path[1] for problem in compiled.problems} == {
        "workngDir",
        "elastic",
        "nodeSelector",
    }
    assert (compiled.manifests, compiled.target, compiled.built, len(built)) == ((), None, None, 1)


def test_a_copy_without_mistakes_is_not_larger_than_its_text() -> None:
    """Aliases share their values: expanded, these would be 2**60."""
    value: list[Any] = ["lol"]
    for _ in range(60):
        value = [value, value]
    data = {
        "apiVersion": "ptcompile/v1",
        "metadata": {"name": "a"},
        "x": value,
        "spec": {"nods": 1, "image": "a:1"},
    }
    mistake = Problem("spec-unknown-field", ("spec", "nods"), "unknown field", on_key=True)
    remaining, removed = without_mistakes(data, [mistake])
    assert remaining is not None
    assert remaining["spec"] == {"image": "a:1"}
    assert removed == {"spec", "nods"}
    assert data["spec"] == {"nods": 1, "image": "a:1"}
