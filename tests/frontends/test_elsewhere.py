"""Words of torchrun, Kubernetes and the operators, written where a spec has no such field: each is told its place."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.findings.diagnostics import Path, Problem
from tests.making import compiled, smallest

PLACES = [
    ("nprocPerNode: 8", "it is spec.elastic.nprocPerNode"),
    ("nproc_per_node: 8", "it is spec.elastic.nprocPerNode"),
    ("maxRestarts: 3", "it is spec.elastic.maxRestarts"),
    ("maxRestart: 3", "did you mean spec.elastic.maxRestarts?"),
    ("rdzvConfigs: {}", "it is spec.elastic.rdzvConfigs"),
    ("gpu: 8", "it is spec.resources.gpu"),
    ("gpus: 8", "did you mean spec.resources.gpu?"),
    ("cpu: 8", "it is spec.resources.cpu"),
    ("backoffLimit: 3", "it is spec.runPolicy.backoffLimit"),
    ("ttlSecondsAfterFinished: 3", "it is spec.runPolicy.ttlSecondsAfterFinished"),
    ("name: train", "it is metadata.name"),
    ("namespace: research", "it is metadata.namespace"),
    ("labels: {}", "the objects' labels are metadata.labels, the pods' spec.podLabels"),
    ("initContainers: []", "they go into podTemplate.spec.initContainers"),
    ("hostPID: true", "it goes into podTemplate.spec.hostPID"),
    ("livenessProbe: {}", "it goes into podTemplate.spec.containers: [{name: pytorch, livenessProbe: ...}]"),
    ("replicas: 4", "write nodes: the number of pods that train"),
    ("environment: {}", "it is env, a mapping: NAME: value"),
    ("elastic: {gpu: 8}", "it is spec.resources.gpu"),
    ("elastic: {script: t.py}", "it is spec.script"),
    ("worker: {gpu: 8}", "it is spec.worker.resources.gpu"),
    ("env: {A: {valueFrom: {}}}", "omit valueFrom: A: {secretKeyRef: {name: ..., key: ...}}"),
    ("env: {A: {value: b}}", "write the value itself: A: value"),
    ("roles: {loader: {script: t.py}}", "write command: torchrun starts only the nodes of the job"),
    ("nods: 4", "did you mean nodes?"),
    ("frobnicate: 4", "ptcompile schema spec lists the fields of spec"),
    ("volcano: {frobnicate: m}", "the fields are masterTask, workerTask"),
]


@pytest.mark.parametrize(("body", "help"), PLACES, ids=[body for body, _ in PLACES])
def test_where_it_belongs(body: str, help: str) -> None:
    (problem,) = compiled(smallest(body)).problems
    assert (problem.name, problem.on_key, problem.help) == ("spec-unknown-field", True, help)


def first(source: str) -> Problem:
    return compiled(source).problems[0]


def test_at_the_root() -> None:
    assert first(smallest().replace("kind:", "image: a:1\nkind:")).help == "it is spec.image"
    misspelt = smallest().replace("apiVersion:", "yamlapiVersion:")
    assert (first(misspelt).path, first(misspelt).help) == (("yamlapiVersion",), "did you mean apiVersion?")


@pytest.mark.parametrize(("key", "written"), [("apiVersion", "yamlapiVersion"), ("kind", "Kind")])
def test_lint_names_the_key_that_was_meant(key: str, written: str) -> None:
    """The first is how reference document 003 is printed."""
    manifest: dict[str, object] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    manifest[written] = manifest.pop(key)
    (found,) = ptcompile.lint(manifest).diagnostics
    assert (found.name, found.path, found.help) == ("required-value", (written,), f"did you mean {key}?")


SHAPES: list[tuple[str, Path, str]] = [
    ("env: [{name: A, value: b}]", ("spec", "env"), "write a mapping, not a list of name and value: A: ..."),
    ("master: {env: [A]}", ("spec", "master", "env"), "write a mapping, not a list of name and value: NAME: ..."),
    ("args: --lr 0.1", ("spec", "args"), 'write a list, one word per item: ["--lr", "0.1"]'),
    ("""args: --name 'a b'""", ("spec", "args"), 'write a list, one word per item: ["--name", "a b"]'),
    ("""args: --name "a""", ("spec", "args"), "write a list, one word per item"),
    (f"args: {'x' * 61}", ("spec", "args"), "write a list, one word per item"),
]


@pytest.mark.parametrize(("body", "path", "help"), SHAPES, ids=[body for body, *_ in SHAPES])
def test_a_value_in_the_shape_of_another_system(body: str, path: Path, help: str) -> None:
    problem = first(smallest(body))
    assert (problem.name, problem.path, problem.help) == ("spec-wrong-type", path, help)


def test_a_list_of_variables_is_rewritten_with_its_sources() -> None:
    fix = first(smallest("env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: c}}}]")).fix
    assert fix is not None
    assert fix.safe
    assert fix.edits[0].value == {"A": "b", "B": {"fieldRef": {"fieldPath": "c"}}}


@pytest.mark.parametrize(
    "env",
    ["[{name: A, value: 1}]", "[{name: A, value: b}, {name: A, value: c}]", "[{name: A, extra: b}]", "[A]", "[]"],
)
def test_what_would_change_by_it_is_left_to_people(env: str) -> None:
    assert first(smallest(f"env: {env}")).fix is None


def test_the_value_of_a_variable_is_not_repeated() -> None:
    problem = first(smallest("env: [{name: HF_TOKEN, value: hf_abcdefghijklmnop}]"))
    assert "hf_abc" not in f"{problem.message} {problem.help} {problem.fix and problem.fix.title}"


NAMES = [
    ("My_Job", "such as 'my-job'"),
    ("train.v2", "such as 'train-v2'"),
    ("-", "such as 'llama-sft'"),
    ("Llama_" + "x" * 70, f"such as 'llama-{'x' * 57}'"),
]


@pytest.mark.parametrize(("name", "help"), NAMES)
def test_a_bad_name_s_help_is_the_user_s_own_made_valid(name: str, help: str) -> None:
    problem = first(smallest(name=f"'{name}'"))
    assert (problem.path, problem.help) == (("metadata", "name"), help)


def test_a_name_that_is_too_long_does_not_hide_its_letters() -> None:
    message = first(smallest(name="Llama_" + "x" * 70)).message
    assert "no more than 63 characters (it has 76) and must have only lower case letters" in message
