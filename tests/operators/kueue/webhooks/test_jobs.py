"""Annotations of Jobs: partial admission, completions that follow the parallelism, elastic jobs."""

from __future__ import annotations

import pytest

from ptcompile.operators.kueue.webhooks.jobs import follows_parallelism
from tests.operators.kueue.webhooks.making import (
    JOB,
    JOBSET,
    PREFERRED,
    REQUIRED,
    UNCONSTRAINED,
    Json,
    K,
    labelled,
    problems_of,
    reasons,
    rejected,
    with_annotations,
)

MINIMUM, EQUAL, ELASTIC = (
    f"{K}job-min-parallelism",
    f"{K}job-completions-equal-parallelism",
    f"{K}elastic-job",
)


def with_pods(annotations: Json, **spec: object) -> Json:
    return labelled(
        {**JOB, "spec": {**JOB["spec"], "parallelism": 4, "completions": 4, **spec}},
        None,
        annotations,
    )


@pytest.mark.parametrize(
    ("least", "why"),
    [
        ("1", None),
        ("+3", None),
        ("4294967297", None),  # Go keeps its low 32 bits, which are 1
        ("4", "should be between 0 and 3"),
        ("0", "should be between 0 and 3"),
        ("two", "must be a whole number"),
    ],
)
def test_the_least_number_of_pods_is_checked(least: str, why: str | None) -> None:
    texts = [reason.rpartition(": ")[2] for reason in reasons(with_pods({MINIMUM: least}))]
    assert texts == ([] if why is None else [why])
    assert rejected(labelled(JOBSET, None, {MINIMUM: least})) == []


def test_fewer_completions_are_fewer_pods() -> None:
    assert rejected(with_pods({MINIMUM: "3"})) == []
    assert rejected(with_pods({MINIMUM: "3"}, completions=2))


def test_an_elastic_job_may_not_have_a_least_number_of_pods() -> None:
    why = "partial admission and elastic job cannot be used together"
    (problem,) = problems_of(with_pods({MINIMUM: "1", ELASTIC: "true"}))
    assert problem.message.endswith(f'Invalid value: "1": {why}')
    assert problem.on_key, "the value is right, the annotation is wrong"


@pytest.mark.parametrize(
    ("text", "spec", "paths"),
    [
        ("true", {"completionMode": "Indexed"}, []),
        ("false", {"completionMode": "NonIndexed", "completions": 9}, []),
        ("yes", {"completionMode": "Indexed"}, [EQUAL]),
        ("1", {"completionMode": None}, [EQUAL]),
        ("T", {"completionMode": "Indexed", "completions": 3}, ["completions"]),
        ("t", {"completionMode": "NonIndexed", "completions": None}, [EQUAL, "completions"]),
    ],
)
def test_completions_must_follow_the_parallelism(text: str, spec: Json, paths: list[str]) -> None:
    assert [path[-1] for _, path in rejected(with_pods({EQUAL: text}, **spec))] == paths


@pytest.mark.parametrize(
    ("text", "follows"),
    [("true", True), ("T", True), ("false", False), ("yes", False), (None, False)],
)
def test_an_annotation_lets_completions_follow_the_parallelism(
    text: str | None, follows: bool
) -> None:
    assert follows_parallelism(with_pods({} if text is None else {EQUAL: text})) is follows


def test_elastic_jobs_request_no_level() -> None:
    elastic = labelled(JOB, None, {ELASTIC: "true"})
    for name in (REQUIRED, PREFERRED):
        rejections = rejected(with_annotations(elastic, ("spec", "template"), {name: "rack"}))
        assert rejections == [
            ("refused-topology-request", ("spec", "template", "metadata", "annotations", name))
        ]
    assert rejected(with_annotations(elastic, ("spec", "template"), {UNCONSTRAINED: "true"})) == []
