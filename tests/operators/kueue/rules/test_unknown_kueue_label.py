"""Misspelled labels and annotations of Kueue, wherever they are."""

from __future__ import annotations

import pytest

import ptcompile
from tests.operators.kueue.webhooks.making import (
    JOB,
    POD,
    TEMPLATE,
    Json,
    K,
    labelled,
    leader_worker_set,
    ray_cluster,
    ray_job,
    serving,
    template,
    with_annotations,
)


def reported(manifest: Json) -> list[tuple[str, str | None]]:
    """Return the key and the help of each finding of the rule."""
    diagnostics = [
        problem
        for problem in ptcompile.lint(manifest).diagnostics
        if problem.name == "unknown-kueue-label"
    ]
    assert all(
        (problem.code, problem.severity, problem.stage) == ("PTC490", "warning", "run")
        for problem in diagnostics
    )
    return [(str(problem.path[-1]).removeprefix(K), problem.help) for problem in diagnostics]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("queue-name", None),
        ("multikueue-origin-uid", None),
        ("queue_name", "queue-name"),
        ("queueName", "queue-name"),
        ("queue", "queue-name"),
        ("local-queue", "queue-name"),
        ("priorityclass", "priority-class"),
        ("podset-required-topolgy", "podset-required-topology"),
        ("job-min-paralelism", "job-min-parallelism"),
        ("", None),
        ("of-a-newer-release", None),
    ],
)
def test_a_misspelled_key_has_a_suggestion(word: str, meant: str | None) -> None:
    expected = [] if meant is None else [(word, f"did you mean {K}{meant}?")]
    assert reported(labelled(JOB, {K + word: "a"})) == expected
    assert reported(labelled(POD, None, {K + word: "a"})) == expected


def test_pod_templates_of_every_kind_are_judged() -> None:
    bad = template(podset_preferred_toplogy="rack")
    for manifest in (
        with_annotations(JOB, ("spec", "template"), bad["metadata"]["annotations"]),
        leader_worker_set(TEMPLATE, bad),
        ray_job(ray_cluster({"template": bad})),
    ):
        assert reported(manifest) == [
            ("podset-preferred-toplogy", f"did you mean {K}podset-preferred-topology?")
        ]


def test_keys_of_other_projects_are_accepted() -> None:
    assert reported(labelled(JOB, {"acme.io/queue_name": "a", "kueue.x-k8s.io": "b"})) == []


def test_the_fix_renames_the_key() -> None:
    manifest = labelled(serving("Deployment"), {f"{K}queue_name": "a"})
    [finding] = [
        problem
        for problem in ptcompile.lint(manifest).diagnostics
        if problem.name == "unknown-kueue-label"
    ]
    assert finding.fix is not None
    assert finding.fix.edits[0].value == f"{K}queue-name"
    both = labelled(serving("Deployment"), {f"{K}queue_name": "a", f"{K}queue-name": "b"})
    [finding] = [
        problem
        for problem in ptcompile.lint(both).diagnostics
        if problem.name == "unknown-kueue-label"
    ]
    assert finding.fix is None


@pytest.mark.parametrize(
    ("labels", "annotations", "message", "has_fix"),
    [
        (
            {K + "queue-nam": "a"},
            {},
            "Kueue does not know this label, so the job is in no queue",
            True,
        ),
        ({K + "priority-clas": "a"}, {}, "Kueue does not know this label, and ignores it", True),
        (
            {},
            {K + "podset-required-topolgy": "a"},
            "Kueue does not know this annotation, and ignores it",
            True,
        ),
        (
            {K + "queue-nam": "a", K + "queue-name": "b"},
            {},
            "Kueue does not know this label",
            False,
        ),
    ],
)
def test_an_unknown_label_has_its_consequence_and_fix(
    labels: Json, annotations: Json, message: str, has_fix: bool
) -> None:
    findings = ptcompile.lint(labelled(JOB, labels, annotations)).diagnostics
    (problem,) = [problem for problem in findings if problem.name == "unknown-kueue-label"]
    assert message in problem.message
    assert (problem.fix is not None) is has_fix
    assert problem.fix is None or not problem.fix.safe
