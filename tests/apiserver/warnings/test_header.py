"""How a warning of the server becomes a finding."""

from __future__ import annotations

import ptcompile
from ptcompile.apiserver.warnings.header import deprecated, ignored, repeated

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: main
    image: repo/img:1.0
    env:
    - {name: A, value: "1"}
    - {name: A, value: "2"}
    resources: {limits: {memory: 512m, cpu: 1}}
    ports: [{containerPort: 80}, {containerPort: 80}]
"""


def test_a_field_that_no_longer_works_is_more_severe_than_a_deprecated_one() -> None:
    works, removed = (
        deprecated(("a",), text, "x")
        for text in ("deprecated in v1.11", "non-functional in v1.26+")
    )
    assert (works.name, works.stage) == ("deprecated-field", "style")
    assert (removed.name, removed.stage) == ("ignored-field", "run")


def test_a_finding_from_a_header_is_a_warning() -> None:
    assert repeated(("a",), "x", "y").severity == ignored(("a",), "x", "y").severity == "warning"


def test_a_message_begins_with_the_path_unless_the_header_names_the_field() -> None:
    assert ignored(("a", 0), "x", "y").message == "a[0]: x"
    assert ignored(("a", 0), "x", "y", field="").message == "x"


def test_a_rule_and_the_server_find_the_same_once() -> None:
    findings = ptcompile.lint(POD).diagnostics
    names = [finding.name for finding in findings]
    assert (
        names.count("repeated-env")
        == names.count("fractional-bytes")
        == names.count("repeated-entry")
        == 1
    )
    messages = {finding.name: finding.message for finding in findings}
    assert (
        'hides previous definition of "A", which may be dropped when using apply'
        in messages["repeated-env"]
    )
    assert (
        'fractional byte value "512m" is invalid, must be an integer'
        in messages["fractional-bytes"]
    )


def test_a_warning_of_the_server_is_at_its_line() -> None:
    findings = ptcompile.lint(POD).diagnostics
    (repeat,) = [finding for finding in findings if finding.name == "repeated-entry"]
    assert (repeat.severity, repeat.stage, repeat.authority) == (
        "warning",
        "style",
        "kube-apiserver",
    )
    assert repeat.span is not None
    assert repeat.span.line == 12


def test_no_warning_where_the_server_rejects() -> None:
    text = POD.replace(
        "[{containerPort: 80}, {containerPort: 80}]",
        "[{containerPort: 80}, {containerPort: 80, hostPort: 0.5}]",
    )
    assert "repeated-entry" not in [finding.name for finding in ptcompile.lint(text).diagnostics]


def test_the_job_of_a_cron_job_is_reported_once() -> None:
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": -1,
        "containers": [{"name": "a", "image": "i:1"}],
    }
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "a"},
        "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}},
    }
    paths = [
        finding.path
        for finding in ptcompile.lint(cron).diagnostics
        if finding.name == "ignored-field"
    ]
    assert paths == [
        ("spec", "jobTemplate", "spec", "template", "spec", "terminationGracePeriodSeconds")
    ]


def test_an_option_ignores_a_warning() -> None:
    findings = ptcompile.lint(POD, ignore=["PTC852"]).diagnostics
    assert "repeated-entry" not in [finding.name for finding in findings]


def test_a_comment_ignores_a_warning() -> None:
    ignored_text = POD.replace(
        "{containerPort: 80}]", "{containerPort: 80}]  # ptcompile: ignore[repeated-entry] mirrored"
    )
    findings = ptcompile.lint(ignored_text).diagnostics
    assert "repeated-entry" not in [finding.name for finding in findings]


def test_the_warnings_about_the_manifests_of_a_spec_are_at_its_lines() -> None:
    spec = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {
            "image": "repo/img:1.0",
            "script": "train.py",
            "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        },
    }
    path = ("spec", "nodeSelector", "beta.kubernetes.io/os")
    for findings in (
        ptcompile.compile(spec, target="job").diagnostics,
        ptcompile.lint(spec).diagnostics,
    ):
        assert [finding.path for finding in findings if finding.name == "deprecated-field"] == [
            path
        ]
    assert "deprecated-field" not in [
        d.name for d in ptcompile.compile(spec, target="pytorchjob").diagnostics
    ]
