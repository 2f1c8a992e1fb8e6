"""Paths of findings in the pods of an auxiliary role: the role's lines, or the job's for inherited fields."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.location import spec_path_of
from tests.making import compiled, smallest, traced

AT_ROLE: list[tuple[str, tuple[Any, ...]]] = [
    ("podLabels: {app: 'a b'}", ("podLabels", "app")),
    ("volumes: [{name: Data, emptyDir: {}}]", ("volumes", 0)),
    ("nodeSelector: {'a b': x}", ("nodeSelector", "a b")),
    ("env: {A: {fieldRef: {fieldPath: metadata.nam}}}", ("env", "A")),
    ("image: ' x'", ("image",)),
    ("resources: {devices: {foo: 1}}", ("resources",)),
    ("podTemplate: {spec: {containers: [{name: loader, ports: [{containerPort: 0}]}]}}",
     ("podTemplate", "spec", "containers", 0, "ports")),
    ("podTemplate: {spec: {initContainers: [{name: Bad, image: s}]}}",
     ("podTemplate", "spec", "initContainers", 0)),
    ("podTemplate: {spec: {dnsPolicy: None}}", ("podTemplate", "spec")),
]  # fmt: skip


@pytest.mark.parametrize("target", ["volcano", "trainjob", "jobset"])
@pytest.mark.parametrize(("body", "path"), AT_ROLE)
def test_a_rejected_pod_is_reported_at_the_role(
    body: str, path: tuple[Any, ...], target: str
) -> None:
    source = smallest(f"roles:\n  loader:\n    {body}")
    paths = [
        problem.path for problem in compiled(source, target).problems if problem.severity == "error"
    ]
    assert len(paths) == 1, paths
    assert paths[0][: len(path) + 3] == ("spec", "roles", "loader", *path), paths


@pytest.mark.parametrize("target", ["volcano", "trainjob", "jobset"])
def test_a_rejected_inherited_field_is_reported_at_the_job(target: str) -> None:
    """Reported once, though the pods of both roles are rejected."""
    problems = compiled(smallest("nodeSelector: {'a b': x}\nroles: {loader: {}}"), target).problems
    assert [problem.path for problem in problems] == [("spec", "nodeSelector", "a b")]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "network", "subdomain"), ("spec",)),
        (("spec", "replicatedJobs"), ("spec",)),
        (("spec", "replicatedJobs", 0, "name"), ("spec",)),
        (("spec", "replicatedJobs", 1, "name"), ("spec", "roles", "loader")),
        (("spec", "replicatedJobs", 1, "template", "spec", "backoffLimit"), ("spec", "roles", "loader")),
        (("spec", "replicatedJobs", 1, "template", "spec", "template", "spec", "containers", 0, "resources", "limits"),
         ("spec", "roles", "loader")),
        (("spec", "replicatedJobs", 1, "template", "spec", "template", "spec", "containers", 0, "image"),
         ("spec", "image")),
    ],
)  # fmt: skip
def test_defaults_of_a_role_are_reported_at_the_role(
    path: tuple[Any, ...], expected: tuple[Any, ...]
) -> None:
    """The path is only the job's if the role inherits the field."""
    source = smallest("resources: {cpu: 1}\nroles: {loader: {}}")
    trace, data, index = traced(source, "jobset")
    assert spec_path_of(trace, index, path, data) == expected
