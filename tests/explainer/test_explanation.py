"""The trace matches the passes: undoing a step restores the job before it."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.compiler import passes
from ptcompile.compiler.passes import PASSES, PassRun
from ptcompile.compiler.pipeline import compile_document
from ptcompile.explainer.explanation import closest_path, explain_passes, job_view
from ptcompile.ir.pods import unshared
from ptcompile.kubernetes.unstructured import MISSING
from ptcompile.source.secrets.scanner import without_secrets
from tests.conftest import ABLE, Case, pair_name, thinned
from tests.explainer.cases import explained
from tests.making import profile, smallest
from tests.recordings import AGAIN, RECORDINGS, recorded


@pytest.mark.parametrize(("case", "target"), thinned(ABLE, 5), ids=pair_name)
def test_an_undone_step_gives_the_job_before_it(case: Case, target: str) -> None:
    data, cluster, explanation = explained(case, target)
    built = compile_document(data, cluster, target).built
    assert built is not None
    steps = passes.pass_runs(built.lowered, built.context, built.passes)
    assert explanation.jobs[0].steps == explain_passes(steps, [])
    assert [one.name for one in explain_passes(steps, [])] == [one.__name__ for one in PASSES]
    for step in steps:
        before = _without_empty(without_secrets(job_view(step.before)))
        assert before == _without_empty(_taken_back(step)), step.name


def _taken_back(step: PassRun) -> Any:
    data: Any = unshared(without_secrets(job_view(step.after)))
    (told,) = explain_passes([step], [])
    places = [(("roles", role, *one.path), one) for one in told.changes for role in one.roles]
    places += [(("job", *one.path), one) for one in told.changes if not one.roles]
    for path, change in reversed(places):
        holder = data
        for part in path[:-1]:
            holder = holder[part]
        if change.after is MISSING:
            assert path[-1] not in holder
        else:
            assert holder[path[-1]] == change.after
        if change.before is MISSING:
            del holder[path[-1]]
        else:
            holder[path[-1]] = change.before
    return data


def _without_empty(data: Any) -> Any:
    """Remove empty mappings and lists, which undoing a change part by part leaves behind."""
    if isinstance(data, dict):
        inner = {key: _without_empty(value) for key, value in data.items()}
        return {key: value for key, value in inner.items() if value not in ({}, [])}
    if isinstance(data, list):
        return [value for value in map(_without_empty, data) if value not in ({}, [])]
    return data


def test_the_same_change_in_two_roles_is_reported_once() -> None:
    steps = (
        ptcompile.explain(smallest("master: {}\nworker: {env: {A: a}}"), target="pytorchjob")
        .jobs[0]
        .steps
    )
    shm = next(step for step in steps if step.name == "shm")
    assert [(change.roles, change.kind, change.shown) for change in shm.changes] == [
        (("master", "worker"), "added", "spec.containers[pytorch].volumeMounts"),
        (("master", "worker"), "added", "spec.volumes"),
    ]


def test_only_the_changed_part_of_a_value_is_reported() -> None:
    cluster = profile({"accelerators": {"a": {"nodeLabels": {"card": "a"}}}})
    affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}"
    body = f"{affinity}\naccelerator: a\nresources: {{gpu: 1}}"
    steps = ptcompile.explain(smallest(body), target="pod", cluster=cluster).jobs[0].steps
    placement = next(step for step in steps if step.name == "placement")
    assert [(change.kind, change.path[-1]) for change in placement.changes] == [
        ("added", "matchExpressions")
    ]
    assert not next(step for step in steps if step.name == "metadata").changes


def test_secrets_are_masked() -> None:
    cluster = profile({"defaults": {"env": {"HF_TOKEN": "hunter2", "X": "y"}}})
    explanation = ptcompile.explain(smallest(""), target="pod", cluster=cluster)
    assert "hunter2" in repr(explanation.manifests)
    assert "hunter2" not in explanation.text() + repr(explanation.to_dict()) + repr(
        explanation.causes
    )
    assert "HF_TOKEN" in explanation.text()


def test_explanations_of_a_job_are_as_recorded() -> None:
    assert RECORDINGS["explainer/job.txt"]() == recorded("explainer/job.txt"), AGAIN


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("spec.completion", "spec.completions"),
        ("completons", "spec.completions"),  # by its last part
        ("metadata.nme", "metadata.name"),
        ("spec.template.spec.subdomian", "spec.template.spec.subdomain"),
        ("[0].completons", "spec.completions"),
        ("banana", None),
        ("", None),
    ],
)
def test_a_typed_path_finds_the_closest_one(query: str, expected: str | None) -> None:
    job = [
        cause
        for cause in ptcompile.explain(smallest("nodes: 2"), target="job").causes
        if cause.manifest == 1
    ]
    assert closest_path(query, job) == expected


def test_a_stream_without_a_document_is_an_error() -> None:
    for text in ("", "# nothing\n"):
        explanation = ptcompile.explain(text)
        assert [(d.name, d.severity) for d in explanation.diagnostics] == [
            ("no-documents", "error")
        ]
        assert explanation.causes == ()
