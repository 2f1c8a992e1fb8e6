"""Paths of findings in generated manifests: the spec field nearest to the cause.

A rejected manifest is reported at the role's line if the role sets the field, and at the job's line otherwise.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiler.location import (
    PlacedProblem,
    _first_per_path,
    _prefer_located,
    likely_cause,
    locate,
    spec_path_of,
)
from ptcompile.compiler.pipeline import compile_document
from ptcompile.diagnostics import Problem
from tests import making
from tests.making import compiled, error_paths, profile, smallest, text, traced
from tests.places import places
from tests.recordings import AGAIN, RECORDINGS, recorded

NPROC = ("spec", "elastic", "nprocPerNode")
CASES: list[tuple[str, str, str, tuple[str, ...]]] = [
    (
        "script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}",
        "job",
        "host-core-processes",
        NPROC,
    ),
    (
        "script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}",
        "pytorchjob",
        "host-core-processes",
        NPROC,
    ),
    (
        "script: t.py\nelastic: {nprocPerNode: cpu}\nresources: {cpu: 4}",
        "trainjob",
        "host-core-processes",
        NPROC,
    ),
    ("script: t.py\nelastic: {nprocPerNode: 1}\nresources: {gpu: 8}", "job", "idle-gpus", NPROC),
    (
        "script: t.py\nsharedMemory: false\nresources: {gpu: 8}",
        "jobset",
        "missing-shm",
        ("spec", "sharedMemory"),
    ),
]


@pytest.mark.parametrize(("body", "target", "name", "path"), CASES)
def test_lint_reports_the_spec_field(
    body: str, target: str, name: str, path: tuple[str, ...]
) -> None:
    gpus = "" if "resources" in body else "\nresources: {gpu: 2, cpu: 4, memory: 8Gi}"
    diagnostics = [
        d
        for d in ptcompile.lint(text(f"image: i:1\ntarget: {target}\n{body}{gpus}")).diagnostics
        if d.name == name
    ]
    assert {d.path for d in diagnostics} == {path}
    assert all(d.message.startswith(".".join(path) + ": ") for d in diagnostics)


def test_two_findings_at_one_field_are_both_reported() -> None:
    data = yaml.safe_load(text("image: i:1\ntarget: job\ncommand: [torchrun, t.py]\nnodes: 2"))
    done = compile_document(data, making.DEFAULT_CLUSTER)
    assert done.trace is not None
    variables = done.manifests[-1]["spec"]["template"]["spec"]["containers"][0]["env"]
    found = [
        (
            len(done.manifests) - 1,
            Problem(
                "env-that-torchrun-sets",
                ("spec", "template", "spec", "containers", 0, "env", i),
                variable["name"],
                None,
            ),
        )
        for i, variable in enumerate(variables)
        if variable["name"] in {"WORLD_SIZE", "RANK"}
    ]
    located = locate([PlacedProblem(problem, index) for index, problem in found], data, done.trace)
    assert [problem.path for problem in located] == [("spec", "command")] * 2
    assert [problem.message.split()[-1] for problem in located] == [
        problem.message for _, problem in found
    ]


RULES = [  # problem's name, target, path in the manifest, spec, path of the finding below `spec`
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
    ("x", "job", ("spec", "template", "spec", "tolerations", 0), "resources: {gpu: 1}", ()),  # from the profile
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
def test_a_problem_is_at_the_nearest_spec_field(
    name: str, target: str, path: tuple[Any, ...], body: str, wanted: tuple[str, ...]
) -> None:
    source = smallest(body)
    trace, data, _ = traced(source, target)
    assert likely_cause(Problem(name, path, "m"), trace, len(trace.manifests) - 1, data) == (
        "spec",
        *wanted,
    )


@pytest.mark.parametrize("tail", [(), ("value",)])
def test_omp_num_threads_is_attributed_to_the_script(tail: tuple[str, ...]) -> None:
    """The pass `env` adds OMP_NUM_THREADS; its other variables come from the profile."""
    source = smallest("elastic: {nprocPerNode: 8}\nresources: {gpu: 8}")
    trace, data, _ = traced(source, "job")
    variables = trace.manifests[-1]["spec"]["template"]["spec"]["containers"][0]["env"]
    (index,) = (i for i, variable in enumerate(variables) if variable["name"] == "OMP_NUM_THREADS")
    path: tuple[Any, ...] = ("spec", "template", "spec", "containers", 0, "env", index, *tail)
    assert likely_cause(Problem("x", path, "m"), trace, len(trace.manifests) - 1, data) == (
        "spec",
        "script",
    )


def test_a_finding_in_a_profile_default_is_reported_at_spec() -> None:
    cluster = "kind: ClusterProfile\nspec: {defaults: {env: {NCCL_DEBG: INFO}}}\n"
    (diagnostic,) = ptcompile.lint(
        smallest("resources: {cpu: 1, memory: 1Gi}"), cluster=cluster
    ).diagnostics
    assert (diagnostic.name, diagnostic.path) == ("misspelt-env", ("spec",))
    assert diagnostic.message.startswith("spec.containers[0].env[0]")


def test_a_rejected_profile_default_is_reported_at_spec() -> None:
    template = {"spec": {"containers": [{"name": "pytorch", "env": [{"value": "x"}]}]}}
    (problem,) = compiled(
        smallest(), "pod", making.profile({"defaults": {"podTemplate": template}})
    ).problems
    assert (problem.path, problem.message) == (
        ("spec",),
        "spec.containers[0].env[0].name: Required value",
    )


@pytest.mark.parametrize("target", ["pod", "job", "pytorchjob", "volcano", "trainjob", "jobset"])
def test_likely_cause_gives_a_spec_path_for_any_path(target: str) -> None:
    several = "" if target == "pod" else "\nelastic: {nnodes: '2:4', nprocPerNode: 2}"
    data = yaml.safe_load(smallest(f"resources: {{gpu: 2}}{several}"))
    trace, _, _ = traced(yaml.safe_dump(data), target)
    for index, manifest in enumerate(trace.manifests):
        for path in ((), *places(manifest)):
            for tail in ((), ("nowhere",), (7,)):
                place: Any = data
                for part in likely_cause(Problem("x", (*path, *tail), "m"), trace, index, data):
                    place = place[part]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("nodes: 2", ("spec", "nodes")),
        ("elastic: {nnodes: 2}", ("spec", "elastic", "nnodes")),
        ("master: {}\nworker: {replicas: 1}", ("spec", "worker")),
    ],
)
def test_several_nodes_for_a_pod_are_reported_at_their_field(
    body: str, path: tuple[str, ...]
) -> None:
    problems = [p for p in compiled(smallest(body), "pod").problems if "one node" in p.message]
    assert [p.path for p in problems] == [path]


MAIN = "podTemplate: {spec: {containers: [{name: pytorch, %s}]}}"
ROLES = "master: {}\nworker: {replicas: 2, %s}"

AT_JOB: list[tuple[str, tuple[Any, ...]]] = [
    ("podLabels: {app: 'a b'}", ("spec", "podLabels", "app")),
    ("podAnnotations: {'a b': x}", ("spec", "podAnnotations", "a b")),
    ("nodeSelector: {'a b': x}", ("spec", "nodeSelector", "a b")),
    ("volumes: [{name: Data, emptyDir: {}}]", ("spec", "volumes", 0)),
    ("volumes: [{name: ok, emptyDir: {}}, {name: Data, emptyDir: {}}]", ("spec", "volumes", 1)),
    ("volumes: [{name: v, emptyDir: {}, hostPath: {path: /x}}]", ("spec", "volumes", 0)),
    ("volumeMounts: [{name: nowhere, mountPath: /x}]", ("spec", "volumeMounts", 0)),
    ("tolerations: [{operator: Equal, key: k}, {operator: Foo, key: x}]", ("spec", "tolerations", 1)),
    ("serviceAccountName: 'A B'", ("spec", "serviceAccountName")),
    ("priorityClassName: 'A B'", ("spec", "priorityClassName")),
    ("securityContext: {runAsUser: -1}", ("spec", "securityContext", "runAsUser")),
    ("podSecurityContext: {fsGroup: -1}", ("spec", "podSecurityContext", "fsGroup")),
    ("envFrom: [{secretRef: {name: 'A B'}}]", ("spec", "envFrom", 0)),
    ("env: {A: {fieldRef: {fieldPath: metadata.nam}}}", ("spec", "env", "A")),
    ("env: {A: {secretKeyRef: {name: s}}}", ("spec", "env", "A")),
    ("env: {A: {fieldRef: {fieldPath: x}}}\n" + MAIN % "env: [{name: B, value: b}]", ("spec", "env", "A")),
    ("image: ' x'", ("spec", "image")),
    ("resources: {devices: {foo: 1}}", ("spec", "resources")),
    (MAIN % "livenessProbe: {exec: {command: [x]}, periodSeconds: -1}",
     ("spec", "podTemplate", "spec", "containers", 0, "livenessProbe")),
    (MAIN % "env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]",
     ("spec", "podTemplate", "spec", "containers", 0)),
    ("podTemplate: {spec: {containers: [{name: side, image: s, ports: [{containerPort: 0}]}]}}",
     ("spec", "podTemplate", "spec", "containers", 0, "ports")),
    ("podTemplate: {spec: {initContainers: [{name: Bad, image: s}]}}",
     ("spec", "podTemplate", "spec", "initContainers", 0)),
    ("podTemplate: {spec: {dnsPolicy: None}}", ("spec", "podTemplate", "spec")),
]  # fmt: skip

AT_ROLE: list[tuple[str, tuple[Any, ...]]] = [
    ("podLabels: {app: 'a b'}", ("spec", "worker", "podLabels", "app")),
    ("volumes: [{name: Data, emptyDir: {}}]", ("spec", "worker", "volumes", 0)),
    ("nodeSelector: {'a b': x}", ("spec", "worker", "nodeSelector", "a b")),
    ("tolerations: [{operator: Foo, key: x}]", ("spec", "worker", "tolerations", 0)),
    ("env: {A: {fieldRef: {fieldPath: metadata.nam}}}", ("spec", "worker", "env", "A")),
    ("securityContext: {runAsUser: -1}", ("spec", "worker", "securityContext", "runAsUser")),
    ("podTemplate: {spec: {initContainers: [{name: Bad, image: s}]}}",
     ("spec", "worker", "podTemplate", "spec", "initContainers", 0)),
]  # fmt: skip

BODIES = {"image: ' x'": "script: train.py\nimage: ' x'"}


@pytest.mark.parametrize("target", ["pod", "job", "pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "path"), AT_JOB)
def test_an_error_is_at_the_job_s_own_line(body: str, path: tuple[Any, ...], target: str) -> None:
    source = (
        smallest(body).replace("image: img:1\n  ", "") if "image: ' x'" in body else smallest(body)
    )
    paths = error_paths(source, target)
    assert len(paths) == 1, paths
    assert paths[0][: len(path)] == path


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "path"), AT_ROLE)
def test_a_finding_of_a_role_is_at_the_role_s_line(
    body: str, path: tuple[Any, ...], target: str
) -> None:
    paths = error_paths(smallest(ROLES % body), target)
    assert len(paths) == 1, paths
    assert paths[0][: len(path)] == path


def test_one_bad_value_of_a_job_is_one_finding_for_all_its_roles() -> None:
    paths = error_paths(
        smallest("podLabels: {app: 'a b'}\nmaster: {}\nworker: {replicas: 2}"), "pytorchjob"
    )
    assert paths == [("spec", "podLabels", "app")]


def test_the_same_mistake_in_two_roles_is_two_findings() -> None:
    body = "master: {podLabels: {app: 'a b'}}\nworker: {podLabels: {app: 'a b'}}"
    wanted = [("spec", role, "podLabels", "app") for role in ("master", "worker")]
    assert sorted(error_paths(smallest(body), "pytorchjob")) == wanted


def test_metadata_is_reported_at_its_path() -> None:
    source = smallest().replace("{name: train}", "{name: train, labels: {app: 'a b'}}")
    assert error_paths(source, "pod") == [("metadata", "labels", "app")]
    assert error_paths(source.replace("labels", "annotations").replace("app", "'a b'"), "pod")[0][
        :2
    ] == (
        "metadata",
        "annotations",
    )


def test_an_invalid_namespace_is_reported_at_its_path() -> None:
    source = smallest("nodes: 2").replace("{name: train}", "{name: train, namespace: A_B}")
    assert error_paths(source, "job") == [("metadata", "namespace")]


LINES = [
    ("podLabels:\n  ok: x\n  app: a b", 9, 8),
    ("volumes:\n- name: ok\n  emptyDir: {}\n- name: Data\n  emptyDir: {}", 10, 5),
    ("podTemplate:\n  spec:\n    nodeSelectr: {}", 9, 7),
    ("worker:\n  replicas: 2\n  podLabels:\n    app: a b", 10, 12),
]


@pytest.mark.parametrize(("body", "line", "column"), LINES)
def test_the_span_points_at_the_field(body: str, line: int, column: int) -> None:
    (diagnostic,) = ptcompile.compile(
        smallest(body), target="volcano", filename="x.yaml"
    ).diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.line == line
    assert diagnostic.span.column >= column
    assert diagnostic.filename == "x.yaml"


def test_spec_path_of_gives_a_spec_path_for_any_path() -> None:
    """Every path of every manifest maps to a spec path, and unknown paths raise nothing."""
    source = smallest(
        "nodes: 2\nresources: {gpu: 1}\npodLabels: {a: b}\nvolumes: [{name: v, emptyDir: {}}]"
    )
    data = yaml.safe_load(source)
    before = copy.deepcopy(data)
    for target in ("job", "pytorchjob", "volcano"):
        trace, _, _ = traced(source, target)
        for index, manifest in enumerate(trace.manifests):
            for path in ((), *places(manifest)):
                for tail in ((), ("nowhere",), (7,)):
                    place: Any = data
                    for part in spec_path_of(trace, index, (*path, *tail), data):
                        if isinstance(place, dict) and part in place:
                            place = place[part]
    assert data == before


def test_origins_are_as_recorded() -> None:
    assert RECORDINGS["compiler/origins.txt"]() == recorded("compiler/origins.txt"), AGAIN


def test_a_fabric_that_a_namespace_s_pod_security_rejects_is_named() -> None:
    body = "podSecurity: restricted\nfabric: rdma-vf\nnodes: 2\nresources: {gpu: 8}"
    diagnostics = ptcompile.compile(
        smallest(body), target="job", cluster=profile({"cloud": "oke"})
    ).diagnostics
    secured = [diagnostic for diagnostic in diagnostics if diagnostic.name == "pod-security"]
    assert {(tuple(one.path), one.help) for one in secured} == {
        (
            ("spec", "fabric"),
            "the fabric rdma-vf needs a namespace of the level privileged: set podSecurity: privileged",
        )
    }


def test_a_generated_name_is_shown_without_its_end() -> None:
    spec = smallest().replace("name: train", "generateName: Train-")
    (diagnostic,) = ptcompile.compile(spec, target="job").diagnostics
    assert tuple(diagnostic.path) == ("metadata", "generateName")
    assert diagnostic.message.startswith(
        "metadata.generateName: a name that begins with 'Train-' must have only lower case letters"
    )
    assert diagnostic.help == "use a beginning such as 'train-'"


def test_the_same_mistake_of_two_layers_is_reported_once() -> None:
    mistakes = [Problem("a", ("spec", "x"), "1"), Problem("b", ("spec", "x"), "2"), Problem("c", ("spec",), "3"),
                Problem("d", ("spec",), "4")]  # fmt: skip
    assert [problem.message for problem in _first_per_path(mistakes, {})] == ["1", "3", "4"]


def test_violations_of_pod_security_with_a_line_come_alone() -> None:
    located = Problem("pod-security", ("spec", "hostNetwork"), "1")
    derived, other = Problem("pod-security", ("spec",), "2"), Problem("quota", ("spec",), "3")
    assert list(_prefer_located([derived, located, other], {})) == [located, other]
    assert list(_prefer_located([derived, other], {})) == [derived, other]
