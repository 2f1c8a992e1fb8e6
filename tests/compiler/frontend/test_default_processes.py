"""The default of `elastic.nprocPerNode`: one process per accelerator, regardless of the other fields of `elastic`."""

from __future__ import annotations

import json
import re

import pytest
import yaml

import ptcompile
from ptcompile.diagnostics import Diagnostic
from ptcompile.operators.targets import TARGETS
from tests import making
from tests.conftest import ROOT
from tests.making import smallest, text

ELASTIC = [
    "{}",
    "{maxRestarts: 3}",
    '{nnodes: "2:4"}',
    "{nnodes: 2}",
    "{rdzvConfigs: {timeout: 60}}",
]
TRAINIUM = making.profile({"cloud": "eks"})


def processes(source: str, target: str | None = None) -> set[str]:
    """Return the processes per node in the manifests: launcher options, variables and operator fields."""
    result = ptcompile.compile(source, target=target)
    assert result.ok, result.diagnostics
    written = re.findall(
        r"(?:--nproc-per-node=|n(?:um)?ProcPerNode: |nprocPerNode: |NPROC_PER_NODE\n *value: )\"?(\w+)",
        result.yaml(),
    )
    return set(written)


def errors(source: str) -> list[Diagnostic]:
    return [
        diagnostic
        for diagnostic in ptcompile.compile(source).diagnostics
        if diagnostic.severity == "error"
    ]


@pytest.mark.parametrize(
    ("elastic", "target"),
    [
        (elastic, target)
        for elastic in ELASTIC
        for target in TARGETS
        if target != "pod"
        and not (target == "trainjob" and ":4" in elastic)  # a TrainJob has a fixed number of nodes
    ],
)
def test_each_gpu_gets_one_process(elastic: str, target: str) -> None:
    assert processes(smallest(f"elastic: {elastic}\nresources: {{gpu: 8}}"), target) == {"8"}


@pytest.mark.parametrize("elastic", ELASTIC)
def test_a_node_without_accelerators_runs_one_process(elastic: str) -> None:
    assert processes(smallest(f"elastic: {elastic}\nresources: {{cpu: 8}}")) == {"1"}


@pytest.mark.parametrize(
    ("nproc", "count"), [("1", "1"), ("4", "4"), ("gpu", "gpu"), ("null", "8")]
)
def test_an_explicit_number_is_kept(nproc: str, count: str) -> None:
    source = smallest(f"elastic: {{nprocPerNode: {nproc}, maxRestarts: 3}}\nresources: {{gpu: 8}}")
    assert processes(source, "job") == {count}


def test_a_command_that_starts_torchrun_gets_the_default() -> None:
    body = "image: i\ncommand: [bash, -c, torchrun train.py]\nelastic: {maxRestarts: 3}\nresources: {gpu: 8}"
    assert processes(text(body), "job") == {"8"}


def test_a_device_with_several_cores_runs_a_process_on_each() -> None:
    source = smallest("elastic: {maxRestarts: 1}\naccelerator: aws-trainium1\nresources: {gpu: 16}")
    assert "--nproc-per-node=32" in ptcompile.compile(source, cluster=TRAINIUM, target="job").yaml()


@pytest.mark.parametrize("start", ["script: t.py", "command: [bash, -c, torchrun t.py]"])
def test_roles_with_different_numbers_need_an_explicit_value(start: str) -> None:
    body = f"image: i\n{start}\nelastic: {{maxRestarts: 3}}\nmaster: {{resources: {{gpu: 4}}}}\n"
    body += "worker: {replicas: 1, resources: {gpu: 8}}"
    assert [(diagnostic.code, diagnostic.path) for diagnostic in errors(text(body))] == [
        ("PTC103", ("spec", "master", "resources"))
    ]
    assert errors(text(body.replace("maxRestarts: 3", "nprocPerNode: 4"))) == []


@pytest.mark.parametrize(
    "start", ["elastic: {maxRestarts: 3}", "script: train.py", "module: a\nelastic: {}"]
)
def test_a_runtime_s_default_is_not_overridden(start: str) -> None:
    body = f"nodes: 2\nruntimeRef: {{name: torch-distributed}}\n{start}"
    assert processes(text(body), "trainjob") == set()
    assert processes(text(f"{body}\nresources: {{gpu: 8}}"), "trainjob") == {"8"}


def test_the_published_schema_names_no_number() -> None:
    schema = json.loads((ROOT / "schemas/spec.schema.json").read_text("utf-8"))
    field = schema["$defs"]["Elastic"]["properties"]["nprocPerNode"]
    assert field["default"] is None
    assert "one per accelerator" in field["description"]


@pytest.mark.parametrize(
    "target", [target for target in TARGETS if target not in {"pod", "trainjob"}]
)
@pytest.mark.parametrize("nproc", ["", "nprocPerNode: 1, ", "nprocPerNode: 8, "])
def test_import_only_omits_the_default(nproc: str, target: str) -> None:
    source = smallest(
        f'elastic: {{{nproc}nnodes: "2:4", maxRestarts: 3}}\nresources: {{gpu: 8, cpu: 8, memory: 8Gi}}'
    )
    manifests = list(ptcompile.compile(source, target=target).unwrap())
    done = ptcompile.import_manifests(manifests)
    (spec,) = done.specs
    assert list(ptcompile.compile({**spec}).unwrap()) == manifests
    elastic = yaml.safe_load(yaml.safe_dump(spec))["spec"]["elastic"]
    assert elastic.get("nprocPerNode") == (1 if "1" in nproc else None)
