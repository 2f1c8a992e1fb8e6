"""Findings of the spec reader: path, message and help, one per path, all reported at once.

Words of torchrun, Kubernetes and the operators are recognized, and the help names the right field.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiler.frontend.reader import decode_profile, decode_spec
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.spec.reader import CLUSTER, Block
from tests.making import compiled, smallest, text

PLACES = [
    ("nprocPerNode: 8", "use spec.elastic.nprocPerNode"),
    ("nproc_per_node: 8", "use spec.elastic.nprocPerNode"),
    ("maxRestarts: 3", "use spec.elastic.maxRestarts"),
    ("maxRestart: 3", "use spec.elastic.maxRestarts"),
    ("rdzvConfigs: {}", "use spec.elastic.rdzvConfigs"),
    ("gpu: 8", "use spec.resources.gpu"),
    ("gpus: 8", "use spec.resources.gpu"),
    ("cpu: 8", "use spec.resources.cpu"),
    ("backoffLimit: 3", "use spec.runPolicy.backoffLimit"),
    ("ttlSecondsAfterFinished: 3", "use spec.runPolicy.ttlSecondsAfterFinished"),
    ("name: train", "set metadata.name"),
    ("namespace: research", "set metadata.namespace"),
    ("labels: {}", "write spec.podLabels: for pods; metadata.labels for the objects"),
    ("initContainers: []", "move it to podTemplate.spec.initContainers"),
    ("hostPID: true", "move it to podTemplate.spec.hostPID"),
    ("livenessProbe: {}", "set podTemplate.spec.containers: [{name: pytorch, livenessProbe: ...}]"),
    ("replicas: 4", "did you mean nodes?"),
    ("environment: {}", "write spec.env: a mapping, NAME: value"),
    ("elastic: {gpu: 8}", "use spec.resources.gpu"),
    ("elastic: {script: t.py}", "use spec.script"),
    (
        "elastic: {role: trainer}",
        "write spec.command: [torchrun, --role=..., train.py] instead of script, or spec.env: {PET_ROLE: ...}",
    ),
    (
        "elastic: {signals-to-handle: x}",
        "write spec.command: [torchrun, --signals-to-handle=..., train.py] instead of "
        "script, or spec.env: {PET_SIGNALS_TO_HANDLE: ...}",
    ),
    (
        "elastic: {virtualLocalRank: true}",
        "write spec.command: [torchrun, --virtual-local-rank, train.py] instead of "
        'script, or spec.env: {PET_VIRTUAL_LOCAL_RANK: "1"}',
    ),
    (
        "elastic: {numaBinding: node}",
        "write spec.command: [torchrun, --numa-binding=..., train.py] instead of script",
    ),
    (
        "elastic: {logs_specs: x}",
        "write spec.command: [torchrun, --logs-specs=..., train.py] instead of script",
    ),
    (
        "elastic: {standalone: true}",
        "write spec.nodes: 1, which needs no rendezvous between nodes (nnodes is 1 then)",
    ),
    ("role: trainer", "did you mean serviceAccountName?"),
    ("worker: {gpu: 8}", "use spec.worker.resources.gpu"),
    ("env: {A: {valueFrom: {}}}", "omit valueFrom: A: {secretKeyRef: {name: ..., key: ...}}"),
    ("env: {A: {value: b}}", "write the value itself: A: value"),
    ("roles: {loader: {script: t.py}}", "write command: torchrun starts only the nodes of the job"),
    ("nods: 4", "did you mean nodes?"),
    ("frobnicate: 4", "run ptcompile explain spec to list its fields"),
    ("volcano: {frobnicate: m}", "use one of masterTask, workerTask"),
]


@pytest.mark.parametrize(("body", "help"), PLACES, ids=[body for body, _ in PLACES])
def test_the_help_names_the_right_field(body: str, help: str) -> None:
    (problem,) = compiled(smallest(body)).problems
    assert problem.name == "spec-unknown-field"
    assert problem.on_key
    assert problem.help == help


def first(source: str) -> Problem:
    return compiled(source).problems[0]


def test_fields_at_the_root_are_checked() -> None:
    assert first(smallest().replace("kind:", "image: a:1\nkind:")).help == "use spec.image"
    misspelt = smallest().replace("apiVersion:", "yamlapiVersion:")
    assert (first(misspelt).path, first(misspelt).help) == (
        ("yamlapiVersion",),
        "did you mean apiVersion?",
    )


@pytest.mark.parametrize(("key", "written"), [("apiVersion", "yamlapiVersion"), ("kind", "Kind")])
def test_lint_suggests_the_intended_key(key: str, written: str) -> None:
    """The first row is the output shown in reference document 003."""
    manifest: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
    }
    manifest[written] = manifest.pop(key)
    (diagnostic,) = ptcompile.lint(manifest).diagnostics
    assert (diagnostic.name, diagnostic.path, diagnostic.help) == (
        "required-value",
        (written,),
        f"did you mean {key}?",
    )


SHAPES: list[tuple[str, Path, str]] = [
    (
        "env: [{name: A, value: b}]",
        ("spec", "env"),
        "write a mapping, not a list of name and value: A: ...",
    ),
    (
        "master: {env: [A]}",
        ("spec", "master", "env"),
        "write a mapping, not a list of name and value: NAME: ...",
    ),
    ("args: --lr 0.1", ("spec", "args"), 'write a list, one word per item: ["--lr", "0.1"]'),
    (
        """args: --name 'a b'""",
        ("spec", "args"),
        'write a list, one word per item: ["--name", "a b"]',
    ),
    ("""args: --name "a""", ("spec", "args"), "write a list, one word per item"),
    (f"args: {'x' * 61}", ("spec", "args"), "write a list, one word per item"),
]


@pytest.mark.parametrize(("body", "path", "help"), SHAPES, ids=[body for body, *_ in SHAPES])
def test_the_help_translates_a_value_of_another_system(body: str, path: Path, help: str) -> None:
    problem = first(smallest(body))
    assert (problem.name, problem.path, problem.help) == ("spec-wrong-type", path, help)


def test_a_list_of_variables_is_rewritten_with_its_sources() -> None:
    fix = first(
        smallest("env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: c}}}]")
    ).fix
    assert fix is not None
    assert fix.safe
    assert fix.edits[0].value == {"A": "b", "B": {"fieldRef": {"fieldPath": "c"}}}


@pytest.mark.parametrize(
    "env",
    [
        "[{name: A, value: 1}]",
        "[{name: A, value: b}, {name: A, value: c}]",
        "[{name: A, extra: b}]",
        "[A]",
        "[]",
    ],
)
def test_a_variable_whose_value_would_change_has_no_fix(env: str) -> None:
    assert first(smallest(f"env: {env}")).fix is None


def test_the_value_of_a_variable_is_not_repeated() -> None:
    problem = first(smallest("env: [{name: HF_TOKEN, value: hf_abcdefghijklmnop}]"))
    assert "hf_abc" not in f"{problem.message} {problem.help} {problem.fix and problem.fix.title}"


NAMES = [
    ("My_Job", "use a name such as 'my-job'"),
    ("train.v2", "use a name such as 'train-v2'"),
    ("-", "use a name such as 'llama-sft'"),
    ("Llama_" + "x" * 70, f"use a name such as 'llama-{'x' * 57}'"),
]


@pytest.mark.parametrize(("name", "help"), NAMES)
def test_the_help_for_a_bad_name_is_the_name_made_valid(name: str, help: str) -> None:
    problem = first(smallest(name=f"'{name}'"))
    assert (problem.path, problem.help) == (("metadata", "name"), help)


def test_a_name_that_is_too_long_does_not_hide_its_letters() -> None:
    message = first(smallest(name="Llama_" + "x" * 70)).message
    assert "no more than 63 characters (it has 76) and must have only lower case letters" in message


Row = tuple[str, tuple[Any, ...], str, str | None]

UNKNOWN: list[Row] = [
    ("nods: 4", ("spec", "nods"), "spec.nods: unknown field in spec", "did you mean nodes?"),
    ("Nodes: 4", ("spec", "Nodes"), "spec.Nodes: unknown field in spec", "did you mean nodes?"),
    ("enviroment: {}", ("spec", "enviroment"), "spec.enviroment: unknown field in spec", None),
    ("elastic: {nnode: 2}", ("spec", "elastic", "nnode"), "spec.elastic.nnode: unknown field in spec.elastic",
     "did you mean nnodes?"),
    ("elastic: {maxRestart: 2}", ("spec", "elastic", "maxRestart"), "unknown field in spec.elastic",
     "did you mean maxRestarts?"),
    ("resources: {memry: 2}", ("spec", "resources", "memry"), "unknown field in spec.resources",
     "did you mean memory?"),
    ("resources: {requests: {cpus: 2}}", ("spec", "resources", "requests", "cpus"),
     "unknown field in spec.resources.requests", "did you mean cpu?"),
    ("runPolicy: {cleanPodPolicyy: All}", ("spec", "runPolicy", "cleanPodPolicyy"), "unknown field in spec.runPolicy",
     "did you mean cleanPodPolicy?"),
    ("worker: {replica: 2}", ("spec", "worker", "replica"), "unknown field in spec.worker", "did you mean replicas?"),
    ("volcano: {master: m}", ("spec", "volcano", "master"), "unknown field in spec.volcano", None),
    ("env: {A: {secretKeyReff: {}}}", ("spec", "env", "A", "secretKeyReff"), "unknown field in spec.env.A",
     "did you mean secretKeyRef?"),
]  # fmt: skip

WRONG: list[Row] = [
    ("nodes: four", ("spec", "nodes"), "spec.nodes: 'four' is not a whole number", None),
    ("nodes: 1.5", ("spec", "nodes"), "spec.nodes: 1.5 is not a whole number", None),
    ("nodes: true", ("spec", "nodes"), "spec.nodes: true is not a whole number", None),
    ("spot: 1", ("spec", "spot"), "spec.spot: 1 is not true or false", None),
    ("spot: 'true'", ("spec", "spot"), "spec.spot: 'true' is not true or false", "write true, without quotes"),
    ("nodes: '2'", ("spec", "nodes"), "spec.nodes: '2' is not a whole number", "write 2, without quotes"),
    ("args: --x", ("spec", "args"), "spec.args: '--x' is not a list", None),
    ("args: [1]", ("spec", "args", 0), "spec.args[0]: 1 is not a string", 'write it in quotes: "1"'),
    ("env: [A]", ("spec", "env"), "spec.env: a list is not a mapping", None),
    ("env: {A: 1}", ("spec", "env", "A"), "spec.env.A: 1 is not a string or a mapping", 'write it in quotes: "1"'),
    ("env: {A: true}", ("spec", "env", "A"), "spec.env.A: true is not a string", "write it in quotes"),
    ("elastic: []", ("spec", "elastic"), "spec.elastic: a list is not a mapping", None),
    ("resources: 8", ("spec", "resources"), "spec.resources: 8 is not a mapping", None),
    ("resources: {cpu: [1]}", ("spec", "resources", "cpu"), "spec.resources.cpu: a list is not", None),
    ("podTemplate: []", ("spec", "podTemplate"), "spec.podTemplate: a list is not a mapping", None),
    ("volumes: [x]", ("spec", "volumes", 0), "spec.volumes[0]: 'x' is not a mapping", None),
    ("nodeSelector: {a: 1}", ("spec", "nodeSelector", "a"), "1 is not a string", 'write it in quotes: "1"'),
    ("podLabels: {a.b/c: true}", ("spec", "podLabels", "a.b/c"), "spec.podLabels[a.b/c]: true is not a string",
     'write it in quotes'),
    ("sharedMemory: {}", ("spec", "sharedMemory"), "spec.sharedMemory: a mapping is not", None),
]  # fmt: skip

INVALID: list[Row] = [
    ("restartPolicy: always", ("spec", "restartPolicy"), "Always, OnFailure, Never, ExitCode", "did you mean Always?"),
    ("imagePullPolicy: IfNotPresnt", ("spec", "imagePullPolicy"), "is not one of", "did you mean IfNotPresent?"),
    ("runPolicy: {cleanPodPolicy: none}", ("spec", "runPolicy", "cleanPodPolicy"), "None, All, Running",
     "did you mean None?"),
    ("elastic: {startMethod: thread}", ("spec", "elastic", "startMethod"), "spawn, fork, forkserver", None),
    ("elastic: {nprocPerNode: all}", ("spec", "elastic", "nprocPerNode"), "a whole number, auto, cpu, gpu, xpu", None),
    ("elastic: {nprocPerNode: 0}", ("spec", "elastic", "nprocPerNode"), "greater than or equal to 1", None),
    ("elastic: {maxRestarts: -1}", ("spec", "elastic", "maxRestarts"), "greater than or equal to 0", None),
    ("elastic: {monitorInterval: 0}", ("spec", "elastic", "monitorInterval"), "above 0", None),
    ("elastic: {monitorInterval: .inf}", ("spec", "elastic", "monitorInterval"), "finite", None),
    ("elastic: {monitorInterval: '5'}", ("spec", "elastic", "monitorInterval"), "a number of seconds", None),
    ("elastic: {monitorInterval: true}", ("spec", "elastic", "monitorInterval"), "a number of seconds", None),
    ("nodes: 0", ("spec", "nodes"), "greater than or equal to 1", None),
    ("masterPort: 70000", ("spec", "masterPort"), "less than or equal to 65535", None),
    ("masterPort: 0", ("spec", "masterPort"), "greater than or equal to 1", None),
    ("runPolicy: {ttlSecondsAfterFinished: -1}", ("spec", "runPolicy", "ttlSecondsAfterFinished"),
     "greater than or equal to 0", None),
    ("runPolicy: {activeDeadlineSeconds: 0}", ("spec", "runPolicy", "activeDeadlineSeconds"),
     "greater than or equal to 1", None),
    ("worker: {replicas: -3}", ("spec", "worker", "replicas"), "greater than or equal to 0", None),
]  # fmt: skip


def check(row: Row, name: str) -> None:
    body, path, message, help = row
    (problem,) = compiled(smallest(body)).problems
    assert (problem.path, problem.name) == (path, name)
    assert problem.message.startswith(field_path(path) + ": ")
    assert message in problem.message
    assert help is None or problem.help == help
    assert "pydantic" not in f"{problem.message}{problem.help}".lower()


@pytest.mark.parametrize("row", UNKNOWN, ids=lambda row: row[0])
def test_an_unknown_field_has_a_help(row: Row) -> None:
    check(row, "spec-unknown-field")
    (problem,) = compiled(smallest(row[0])).problems
    assert problem.on_key
    assert problem.help


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row[0])
def test_a_wrong_type_is_reported_at_its_path(row: Row) -> None:
    check(row, "spec-wrong-type")


@pytest.mark.parametrize("row", INVALID, ids=lambda row: row[0])
def test_a_value_out_of_its_bounds(row: Row) -> None:
    check(row, "spec-invalid-value")


NNODES = [
    ("0", "at least one"),
    ("'0'", "at least one"),
    ("'0:2'", "at least one"),
    ("-1", "neither a number of nodes nor a range"),
    ("'4:2'", "more nodes as its minimum (4) than as its maximum (2)"),
    ("'2:'", "neither a number of nodes nor a range"),
    ("':2'", "neither a number of nodes nor a range"),
    ("'1:2:3'", "neither a number of nodes nor a range"),
    ("two", "neither a number of nodes nor a range"),
    ("'٣'", "neither a number of nodes nor a range"),
    ("''", "neither a number of nodes nor a range"),
    ("true", "a number of nodes or a range"),
    ("[2, 4]", "a number of nodes or a range"),
    ("1.5", "a number of nodes or a range"),
    ("99999999999", "neither a number of nodes nor a range"),
]


@pytest.mark.parametrize(("value", "reason"), NNODES)
def test_invalid_nnodes_have_a_reason(value: str, reason: str) -> None:
    """torchrun asserts 0 < MIN <= MAX.

    Source: docs/facts/torchrun.md#options-and-variables.
    """
    check(
        (f"elastic: {{nnodes: {value}}}", ("spec", "elastic", "nnodes"), reason, None),
        "spec-invalid-value",
    )


QUANTITIES = [
    ("5x", None), ("8GB", "8G"), ("8gib", "8Gi"), ("8 Gi", "8Gi"), ("''", None), ("-1", None), (".inf", None),
    ("1e", None), ("abc", None), ("250x", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "meant"), QUANTITIES)
def test_a_bad_quantity_gets_a_suggestion(value: str, meant: str | None) -> None:
    """In Flyte, bad quantities only fail in the backend.

    Source: docs/facts/flyte.md#cases 22, #units-and-names.
    """
    (problem,) = compiled(smallest(f"resources: {{memory: {value}}}")).problems
    assert (problem.name, problem.path) == ("spec-invalid-value", ("spec", "resources", "memory"))
    assert (
        meant is None
        or meant in f"{problem.message} {problem.help}".split()
        or f"{meant}?" in f"{problem.help}"
    )


@pytest.mark.parametrize(
    "field",
    ["sharedMemory: 5x", "resources: {devices: {a/b: 5x}}", "resources: {limits: {gpu: x}}"],
)
def test_quantities_are_checked_in_other_fields(field: str) -> None:
    (problem,) = compiled(smallest(field)).problems
    assert problem.name == "spec-invalid-value"


def test_all_mistakes_are_reported_once() -> None:
    body = "nods: 4\nrestartPolicy: always\nenv: {A: 1}\nelastic: {nnodes: '4:2', nproc: 1}\nresources: {cpu: 5x}"
    paths = [problem.path for problem in compiled(smallest(body)).problems]
    assert sorted(paths) == sorted(
        [("spec", "nods"), ("spec", "restartPolicy"), ("spec", "env", "A"), ("spec", "elastic", "nnodes"),
         ("spec", "elastic", "nproc"), ("spec", "resources", "cpu")]
    )  # fmt: skip


@pytest.mark.parametrize("body", ["env: {A: {secretKeyRef: 5}}", "elastic: {nprocPerNode: {a: 1}}",
                                  "elastic: {rdzvConfigs: {timeout: {x: 1}}}", "sharedMemory: [1]"])  # fmt: skip
def test_paths_exist_in_the_file(body: str) -> None:
    """Paths do not contain pydantic's union tags."""
    (problem,) = compiled(smallest(body)).problems
    assert set(problem.path) <= {"spec", "env", "A", "secretKeyRef", "elastic", "nprocPerNode", "rdzvConfigs",
                                 "timeout", "sharedMemory", "x"}  # fmt: skip


MISSING = [
    ("apiVersion: ptcompile/v1\nkind: TrainingJob\nspec: {image: i, script: t}", ("metadata",)),
    (
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {}\nspec: {image: i}",
        ("metadata", "name"),
    ),
    ("apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: j}", ("spec",)),
]


@pytest.mark.parametrize(("source", "path"), MISSING)
def test_a_missing_field_is_reported(source: str, path: tuple[str, ...]) -> None:
    (problem,) = compiled(source).problems
    assert (problem.name, problem.path) == ("spec-missing-field", path)
    assert problem.help == f"add {path[-1]}"


def test_a_missing_image_is_reported_at_its_path() -> None:
    (problem,) = compiled(text("script: t.py")).problems
    assert (problem.name, problem.path) == ("spec-missing-field", ("spec", "image"))


def test_an_unknown_api_version_is_reported() -> None:
    (problem,) = compiled(smallest().replace("ptcompile/v1", "ptcompile/v2")).problems
    assert problem.path == ("apiVersion",)
    assert "ptcompile/v1" in f"{problem.message}{problem.help}"


def test_a_misspelled_kind_gets_a_suggestion() -> None:
    (problem,) = compiled(smallest().replace("TrainingJob", "TrainingJobs")).problems
    assert (problem.path, problem.help) == (("kind",), "did you mean TrainingJob?")


@pytest.mark.parametrize("value", [None, [], "x", 5, True])
def test_a_body_that_is_not_a_mapping_is_reported(value: Any) -> None:
    data = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "j"},
        "spec": value,
    }
    spec, problems = decode_spec(data)
    assert spec is None
    assert [problem.path for problem in problems] == [("spec",)]


def test_mistakes_in_a_profile_are_reported_likewise() -> None:
    data = {
        "kind": "ClusterProfile",
        "spec": {"accelerators": {"a": {"nodeLabel": {}}}, "gpu": {"resourceName": 5}},
    }
    profile, problems = decode_profile(data)
    assert profile is None
    paths = {problem.path: problem for problem in problems}
    assert paths[("spec", "accelerators", "a", "nodeLabel")].help == "did you mean nodeLabels?"
    assert paths[("spec", "gpu", "resourceName")].name == "spec-wrong-type"


def test_a_long_value_is_truncated() -> None:
    (problem,) = compiled(smallest(f"nodes: {'x' * 5000}")).problems
    assert len(problem.message) < 200


def test_a_resource_outside_of_devices_has_its_place() -> None:
    (problem,) = compiled(smallest("worker: {replicas: 1, resources: {a.b/c: 1}}")).problems
    assert problem.help == "write spec.worker.resources.devices: {a.b/c: 1}"


@pytest.mark.parametrize(
    ("body", "message", "help"),
    [
        (
            "podSecurity: strict",
            "spec.podSecurity: 'strict' is not a Pod Security level",
            "such as baseline:v1.34",
        ),
        (
            "versions: {kubernetes: v1.34}",
            "spec.versions.kubernetes: 'v1.34' is not a minor release",
            "such as 1.34",
        ),
        *(
            (
                f"versions: {{{name}: latest}}",
                f"spec.versions.{name}: 'latest' is not a release",
                "such as 2.5",
            )
            for name in sorted(
                Block(CLUSTER.file, "OperatorVersions").fields.keys() - {"kubernetes"}
            )
        ),
    ],
)
def test_a_pattern_is_described(body: str, message: str, help: str) -> None:
    (problem,) = decode_profile(
        yaml.safe_load(f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{{body}}}")
    )[1]
    assert problem.message.startswith(message)
    assert help in (problem.help or "")


def test_a_pattern_of_the_spec_is_described() -> None:
    (problem,) = decode_spec(yaml.safe_load(smallest("podSecurity: strict")))[1]
    assert "pattern" not in problem.message
