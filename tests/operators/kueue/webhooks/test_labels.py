"""Labels and annotations that Kueue's webhooks reject on an object, and where they look for none."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.linter import run
from tests.operators.kueue.webhooks.making import (
    JOB,
    JOBS,
    JOBSET,
    QUEUE,
    SERVING,
    TRAINJOB,
    Json,
    K,
    labelled,
    problems_of,
    queued,
    reasons,
    rejected,
    with_annotations,
)

ALL = (*JOBS, *SERVING)


@pytest.mark.parametrize("manifest", ALL, ids=lambda manifest: manifest["kind"])
def test_labels_of_every_kind_are_checked(manifest: Json) -> None:
    assert rejected(manifest) == rejected(labelled(manifest, QUEUE)) == []
    rejections = rejected(
        labelled(manifest, {f"{K}queue-name": "My_Queue", f"{K}max-exec-time-seconds": "1h"})
    )
    queue = ("refused-queue-label", ("metadata", "labels", f"{K}queue-name"))
    seconds = ("refused-queue-label", ("metadata", "labels", f"{K}max-exec-time-seconds"))
    assert rejections == ([queue] if manifest in SERVING else [queue, seconds])


@pytest.mark.parametrize("space", ["kube-system", "kueue-system"])
def test_the_webhooks_skip_some_namespaces(space: str) -> None:
    bad = labelled(JOB, {f"{K}queue-name": "My_Queue"})
    assert rejected(bad)
    assert rejected({**bad, "metadata": {**bad["metadata"], "namespace": space}}) == []


def test_volcano_jobs_are_not_checked() -> None:
    manifest = queued("batch.volcano.sh/v1alpha1", "Job", {})
    assert rejected(labelled(manifest, {f"{K}queue-name": "My_Queue"})) == []


QUEUES = [("", True), ("a..b", True), ("a" * 63, False), ("1q", False)]


@pytest.mark.parametrize(("name", "is_rejected"), QUEUES)
def test_names_of_queues_must_be_dns_names(name: str, is_rejected: bool) -> None:
    assert bool(rejected(labelled(JOB, {f"{K}queue-name": name}))) is is_rejected


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        ("60", None),
        ("007", None),
        ("9223372036854775807", None),
        ("0", "should be greater than 0"),
        ("1_000", "must be a whole number"),
        ("99999999999999999999", "must be a whole number"),
        ("", "must be a whole number"),
    ],
)
def test_the_execution_time_must_be_positive_seconds(seconds: str, why: str | None) -> None:
    reported = reasons(labelled(JOBSET, {f"{K}max-exec-time-seconds": seconds}))
    assert [reason.rpartition(": ")[2] for reason in reported] == ([] if why is None else [why])


def test_prebuilt_workload_in_the_annotation_wins() -> None:
    name = f"{K}prebuilt-workload-name"
    assert rejected(labelled(JOB, {name: "wl-1"}, {name: ""})) == []
    assert rejected(labelled(JOB, {name: "Bad"}, {name: "wl-1"})) == []
    assert rejected(labelled(JOB, {name: "wl-1"}, {name: "Bad"}))[0][1][1] == "annotations"
    assert rejected(labelled(JOB, {name: ""}))[0][1][1] == "labels"


def test_only_jax_jobs_reject_a_prebuilt_workload() -> None:
    labels = {f"{K}prebuilt-workload-name": "wl-1"}
    by_kind = {manifest["kind"]: reasons(labelled(manifest, labels)) for manifest in ALL}
    assert {kind: why for kind, why in by_kind.items() if why} == {
        "JAXJob": ['Forbidden: Is not supported for "kubeflow.org/v1, Kind=JAXJob"']
    }


def test_only_some_kinds_may_be_elastic() -> None:
    by_kind = {m["kind"]: rejected(labelled(m, None, {f"{K}elastic-job": "true"})) for m in ALL}
    elastic = [kind for kind, problems in by_kind.items() if not problems]
    assert elastic == ["Job", "RayCluster", "RayJob"]
    assert by_kind["TrainJob"] == [
        ("unsupported-by-kueue", ("metadata", "annotations", f"{K}elastic-job"))
    ]
    assert rejected(labelled(TRAINJOB, None, {f"{K}elastic-job": "True"})) == [], (
        "only the word true switches it on"
    )


GATES = [
    ("", None),
    (" example.com/a ", None),
    ("example.com/a, example.com/b", None),
    (f"example.com/{'g' * 51}", None),
    (f"example.com/{'g' * 52}", "may not be more than 63 bytes"),
    (",", "cannot contain empty gate names"),
    ("example.com/a,example.com/a", "duplicate gate name: example.com/a"),
    ("a", "must be a domain and a path (such as acme.io/foo)"),
    ("Example.com/a", "and each part must"),
    ("example.com/a b", "only characters of a URL path"),
]


@pytest.mark.parametrize(("gates", "why"), GATES)
def test_wrong_gates_are_rejected(gates: str, why: str | None) -> None:
    for manifest in (JOB, SERVING[0]):
        reported = reasons(labelled(manifest, None, {f"{K}admission-gated-by": gates}))
        assert (why is None) == (not reported)
        assert all((why or "") in reason for reason in reported)
    assert rejected(labelled(JOB, None, {f"{K}admission-gated-by": gates}), (0, 18)) == []


def test_suspend_is_a_boolean_in_a_kind_without_schema() -> None:
    jaxjob = next(manifest for manifest in JOBS if manifest["kind"] == "JAXJob")
    jaxjob = {**jaxjob, "spec": {**jaxjob["spec"], "runPolicy": {"suspend": "true"}}}
    assert rejected(jaxjob) == [("webhook-refusal", ("spec", "runPolicy", "suspend"))]


def test_problems_are_those_of_a_webhook() -> None:
    bad = labelled(JOB, {f"{K}queue-name": "My_Queue"})
    assert [d.code for d in ptcompile.lint(bad).diagnostics if d.authority == "kueue"] == ["PTC229"]
    assert [
        d for d in ptcompile.lint(bad, webhooks=False).diagnostics if d.authority == "kueue"
    ] == []
    assert [
        d.code for d in ptcompile.lint(bad, select=["PTC3"]).diagnostics if d.authority == "kueue"
    ] == ["PTC229"]
    assert not [problem for problem in run(bad) if problem.name == "refused-queue-label"], (
        "it is no rule"
    )


def test_kinds_without_a_schema_are_checked_and_counted() -> None:
    wrapper = labelled(JOBS[-1], {f"{K}queue-name": "My_Queue"})
    report = ptcompile.lint(wrapper)
    assert [d.code for d in report.diagnostics] == [
        "PTC229",
        "PTC483",
    ]  # the second is about the job inside
    assert report.unchecked == (f"{wrapper['apiVersion']} AppWrapper/a",)
    assert [d.code for d in ptcompile.lint(wrapper, webhooks=False).diagnostics] == ["PTC483"]
    spaced = ptcompile.lint(labelled(JOBS[-1], {"team": "a b"})).diagnostics
    assert [(d.authority, d.path[-1]) for d in spaced if d.code != "PTC483"] == [
        ("kube-apiserver", "team")
    ]


@pytest.mark.parametrize(
    "value", [None, [], "x", 1, {"labels": 1}, {"labels": {f"{K}queue-name": 5}, "annotations": []}]
)
def test_any_data_raises_nothing(value: Any) -> None:
    for manifest in ALL:
        for key in ("metadata", "spec"):
            [*problems_of({**manifest, key: value, "extra": {f"{K}x": 1}})]


def test_annotation_of_wrong_type_is_rejected_once() -> None:
    """A number where a string is required is the only problem; the annotation is not also reported as missing."""
    slices = {f"{K}podset-slice-required-topology": "rack", f"{K}podset-slice-size": 1}
    bad = with_annotations(labelled(JOB, QUEUE), ("spec", "template"), slices)
    assert [
        problem.name for problem in ptcompile.lint(bad).diagnostics if problem.severity == "error"
    ] == ["wrong-type"]
