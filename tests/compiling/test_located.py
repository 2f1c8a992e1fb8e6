"""A refusal of the manifest is reported at the spec's own line: the role's where the role said it, else the job's."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiling.located import located
from tests.making import compiled, smallest, traced
from tests.places import places

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


def errors(source: str, target: str) -> list[tuple[Any, ...]]:
    return [problem.path for problem in compiled(source, target).problems if problem.severity == "error"]


@pytest.mark.parametrize("target", ["pod", "job", "pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "path"), AT_JOB)
def test_the_job_s_own_line(body: str, path: tuple[Any, ...], target: str) -> None:
    source = smallest(body).replace("image: img:1\n  ", "") if "image: ' x'" in body else smallest(body)
    found = errors(source, target)
    assert len(found) == 1, found
    assert found[0][: len(path)] == path


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "path"), AT_ROLE)
def test_the_role_s_line(body: str, path: tuple[Any, ...], target: str) -> None:
    found = errors(smallest(ROLES % body), target)
    assert len(found) == 1, found
    assert found[0][: len(path)] == path


def test_one_bad_value_of_a_job_is_one_finding_for_all_its_roles() -> None:
    found = errors(smallest("podLabels: {app: 'a b'}\nmaster: {}\nworker: {replicas: 2}"), "pytorchjob")
    assert found == [("spec", "podLabels", "app")]


def test_the_same_mistake_in_two_roles_is_two_findings() -> None:
    body = "master: {podLabels: {app: 'a b'}}\nworker: {podLabels: {app: 'a b'}}"
    wanted = [("spec", role, "podLabels", "app") for role in ("master", "worker")]
    assert sorted(errors(smallest(body), "pytorchjob")) == wanted


def test_metadata_is_where_it_is() -> None:
    source = smallest().replace("{name: train}", "{name: train, labels: {app: 'a b'}}")
    assert errors(source, "pod") == [("metadata", "labels", "app")]
    assert errors(source.replace("labels", "annotations").replace("app", "'a b'"), "pod")[0][:2] == (
        "metadata",
        "annotations",
    )


def test_a_namespace_that_cannot_be() -> None:
    source = smallest("nodes: 2").replace("{name: train}", "{name: train, namespace: A_B}")
    assert errors(source, "job") == [("metadata", "namespace")]


LINES = [
    ("podLabels:\n  ok: x\n  app: a b", 9, 8),
    ("volumes:\n- name: ok\n  emptyDir: {}\n- name: Data\n  emptyDir: {}", 10, 5),
    ("podTemplate:\n  spec:\n    nodeSelectr: {}", 9, 7),
    ("worker:\n  replicas: 2\n  podLabels:\n    app: a b", 10, 12),
]


@pytest.mark.parametrize(("body", "line", "column"), LINES)
def test_the_caret_stands_under_it(body: str, line: int, column: int) -> None:
    (found,) = ptcompile.compile(smallest(body), target="volcano", filename="x.yaml").diagnostics
    assert found.span is not None
    assert found.span.line == line
    assert found.span.column >= column
    assert found.filename == "x.yaml"


def test_locating_is_total_and_gives_a_place_of_the_spec() -> None:
    """Every path of every manifest has a place; nothing raises for one that no line gives."""
    source = smallest("nodes: 2\nresources: {gpu: 1}\npodLabels: {a: b}\nvolumes: [{name: v, emptyDir: {}}]")
    data = yaml.safe_load(source)
    before = copy.deepcopy(data)
    for target in ("job", "pytorchjob", "volcano"):
        trace, _, _ = traced(source, target)
        for index, manifest in enumerate(trace.manifests):
            for path in ((), *places(manifest)):
                for tail in ((), ("nowhere",), (7,)):
                    place: Any = data
                    for part in located(trace, index, (*path, *tail), data):
                        if isinstance(place, dict) and part in place:
                            place = place[part]
    assert data == before
