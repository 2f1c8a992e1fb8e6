"""Compilation of one document: its stages, and the findings that stop each of them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler import passes, pipeline
from ptcompile.compiler.reader import read_profile
from ptcompile.extending import Extensions
from ptcompile.operators.targets import TARGETS, target_named
from tests.making import DEFAULT_CLUSTER, compiled, documents, profile, smallest

NOT_OURS: list[tuple[Any, str]] = [
    ({}, "start it with"),
    ({"kind": "Pod", "apiVersion": "v1"}, "use ptcompile lint"),
    ({"kind": "ClusterProfile", "apiVersion": "ptcompile/v1"}, "--cluster FILE"),
    ({"kind": 5}, ""),
    ({"kind": None, "apiVersion": None}, "start it with"),
    ([], "start it with"),
    (None, "start it with"),
    ("x", "start it with"),
]


@pytest.mark.parametrize(("data", "help"), NOT_OURS)
def test_other_kinds_are_rejected(data: Any, help: str) -> None:
    done = pipeline.compile_document(data, DEFAULT_CLUSTER)
    (problem,) = done.problems
    assert (problem.name, done.manifests, done.target) == ("unknown-kind", (), None)
    assert help in f"{problem.help}"


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "TrainingJob"},
        {"apiVersion": "ptcompile/v1"},
        {"apiVersion": "ptcompile/v1", "kind": "TrainingJbo"},
    ],
)
def test_incomplete_documents_are_not_an_unknown_kind(data: dict[str, Any]) -> None:
    names = {problem.name for problem in pipeline.compile_document(data, DEFAULT_CLUSTER).problems}
    assert names
    assert "unknown-kind" not in names


def test_a_spec_in_place_of_the_profile_is_one_problem() -> None:
    profile, (problem,) = read_profile(
        {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "spec": {"image": "a:1"}}
    )
    assert profile is None
    assert (problem.name, problem.message) == (
        "unknown-kind",
        "TrainingJob is not a ClusterProfile",
    )
    assert "kind ClusterProfile" in f"{problem.help}"


def test_a_misspelled_kind_does_not_hide_the_other_mistakes_of_a_profile() -> None:
    _, problems = read_profile(
        {"apiVersion": "ptcompile/v1", "kind": "ClusterProfil", "spec": {"clod": "gke"}}
    )
    assert [problem.path for problem in problems] == [("kind",), ("spec", "clod")]


def test_an_unknown_field_of_a_profile_names_the_list_of_the_profile_s_fields() -> None:
    _, (problem,) = read_profile(
        {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"frobnicate": 1}}
    )
    assert problem.help == "run ptcompile explain ClusterProfile.spec to list its fields"


def test_a_valid_job_has_a_target_and_its_build() -> None:
    done = compiled(smallest("nodes: 2"))
    assert done.target is target_named("job")
    assert done.built is not None
    assert done.built.passes == passes.PASSES
    assert done.built.manifests == done.manifests
    assert done.problems == ()


def test_a_wrong_target_does_not_hide_the_other_mistakes() -> None:
    names = sorted(
        p.name
        for p in compiled(
            smallest("target: nowhere\nresources: {cpu: 2, requests: {cpu: 4}}")
        ).problems
    )
    assert names == ["request-above-limit", "unknown-target"]


@pytest.mark.parametrize(
    "body",
    [
        "nods: 1",
        "resources: {cpu: 2, requests: {cpu: 4}}",
        "nodes: 2\ntarget: pod",
        "podLabels: {a: 'b c'}",
    ],
)
def test_an_error_at_any_stage_gives_no_manifest(body: str) -> None:
    done = compiled(smallest(body))
    assert done.manifests == ()
    assert any(problem.severity == "error" for problem in done.problems)


def test_a_warning_gives_manifests() -> None:
    done = compiled(smallest("spot: true"), None, profile({"spot": {}}))
    assert done.manifests
    assert [problem.severity for problem in done.problems] == ["warning"]


@pytest.mark.parametrize("target", TARGETS)
def test_compiled_manifests_have_no_findings(target: str) -> None:
    """CONTRIBUTING.md#laws 1: compiled manifests have no findings."""
    nodes = 1 if target == "pod" else 3
    body = f"nodes: {nodes}\nresources: {{cpu: 4, memory: 8Gi, gpu: 2}}\nenv: {{A: b}}\nqueue: q\nhostNetwork: true"
    done = compiled(smallest(body), target)
    assert done.problems == ()
    assert done.manifests


def test_a_plugin_s_target_is_chosen_by_its_name() -> None:
    extensions = Extensions(targets={"mine": target_named("jobset")._replace(name="mine")})
    (data,) = documents(smallest("nodes: 2"))
    for name, expected in (("mine", "mine"), ("job", "job"), (None, "job")):
        target = pipeline.compile_document(data, DEFAULT_CLUSTER, name, extensions).target
        assert target is not None
        assert target.name == expected
    unknown = pipeline.compile_document(data, DEFAULT_CLUSTER, "other", extensions)
    assert [problem.name for problem in unknown.problems] == ["unknown-target"]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("nods: 1", None),
        ("resources: {cpu: 2, requests: {cpu: 4}}", None),
        ("nods: 2\nnodes: 2\ntarget: pod", None),
        ("nodes: 2\ntarget: pod", "pod"),  # the target rejects a valid spec
        ("nodes: 2\npodTemplate: {spec: {subdomain: null}}", "job"),
        ("podLabels: {a: 'b c'}", "pod"),
    ],
)
def test_a_document_has_a_target_once_its_spec_is_valid(body: str, target: str | None) -> None:
    done = compiled(smallest(body))
    assert done.manifests == ()
    assert (done.target and done.target.name) == target
