"""Rules declared in configuration: their findings, and the errors for wrong tables."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from tests.cli.running import here
from tests.extending.installing import ran

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - {name: fetch, image: "docker.io/fetch:1", command: [fetch]}
      containers:
      - name: main
        image: registry.acme.example/train:1
        command: [python, train.py]
"""
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: train
spec:
  image: docker.io/train:1
  script: train.py
"""
COST: dict[str, Any] = {
    "code": "ACME101",
    "name": "cost-center",
    "kind": ["Job", "TrainingJob"],
    "path": "metadata.labels",
    "expression": "'cost-center' in self",
    "message": "every job has the label cost-center",
}
IMAGE: dict[str, Any] = {
    "code": "ACME102",
    "name": "own-registry",
    "each": "container",
    "path": "image",
    "expression": "self.startsWith('registry.acme.example/')",
    "message": "images come from registry.acme.example",
    "help": "push it there",
    "severity": "error",
}


def findings_of(text: str, *rules: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...], str]]:
    report = ptcompile.lint(text, extensions=ptcompile.extensions(rules=rules))
    return [
        (diagnostic.code, diagnostic.path, diagnostic.severity) for diagnostic in report.diagnostics
    ]


def test_a_missing_label_is_found_where_labels_would_be() -> None:
    assert findings_of(JOB, COST) == [("ACME101", ("metadata", "labels"), "warning")]
    assert (
        findings_of(
            JOB.replace("name: train\n", "name: train\n  labels: {cost-center: x}\n", 1), COST
        )
        == []
    )
    assert (
        findings_of(JOB.replace("name: train\n", "name: train\n  labels: {team: x}\n", 1), COST)
        != []
    )
    assert findings_of(JOB, {**COST, "kind": "Pod"}) == []
    assert findings_of(JOB, {**COST, "kind": "batch/v1/Job"}) == findings_of(JOB, COST)


def test_every_container_is_checked_at_its_line() -> None:
    report = ptcompile.lint(JOB, extensions=ptcompile.extensions(rules=[IMAGE]))
    (diagnostic,) = report.diagnostics
    assert (diagnostic.code, diagnostic.name, diagnostic.severity, diagnostic.stage) == (
        "ACME102",
        "own-registry",
        "error",
        "style",
    )
    assert diagnostic.path == ("spec", "template", "spec", "initContainers", 0, "image")
    assert diagnostic.message.endswith(
        "initContainers[0].image: images come from registry.acme.example"
    )
    assert diagnostic.span is not None
    assert diagnostic.span.line == 10
    assert diagnostic.help == "push it there"
    assert not report.ok


@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano", "jobset", "trainjob", "pod"])
def test_a_container_rule_runs_on_every_kind(target: str) -> None:
    manifests = ptcompile.compile(SPEC, target=target).yaml()
    assert {code for code, _, _ in findings_of(manifests, IMAGE)} == {"ACME102"}
    result = ptcompile.compile(SPEC, target=target, extensions=ptcompile.extensions(rules=[IMAGE]))
    assert [(diagnostic.code, diagnostic.path) for diagnostic in result.diagnostics] == [
        ("ACME102", ("spec", "image"))
    ]
    assert not result.manifests


def test_a_finding_in_a_spec_is_reported_once() -> None:
    report = ptcompile.lint(SPEC, extensions=ptcompile.extensions(rules=[COST]))
    assert [(diagnostic.code, diagnostic.path) for diagnostic in report.diagnostics] == [
        ("ACME101", ("metadata", "labels"))
    ]


@pytest.mark.parametrize(
    ("path", "expression", "paths"),
    [
        ("metadata.labels.team", "self != null", [("metadata", "labels", "team")]),
        ("metadata", "self.name == 'train'", []),
        (
            "metadata",
            "self.name == object.spec.name",
            [("metadata",)],
        ),  # nothing at the path: false
        ("spec.template.spec.containers[main].image", "self == 'x'", ["containers", 0, "image"]),
        (
            "spec.template.spec.containers[*].command[*]",
            "self != 'train.py'",
            ["containers", 0, "command", 1],
        ),
        ("spec.template.spec.volumes[*].name", "false", []),
        ("metadata[*]", "self == ''", [("metadata", "name")]),
        ("kind", "self == 'Job' && size(object.spec.template.spec.containers) == 1", []),
    ],
)
def test_a_finding_is_at_each_place_of_the_path(
    path: str, expression: str, paths: list[Any]
) -> None:
    wanted = (
        [("spec", "template", "spec", *paths)] if paths and isinstance(paths[0], str) else paths
    )
    assert [
        at
        for _, at, _ in findings_of(
            JOB, {**COST, "kind": [], "path": path, "expression": expression}
        )
    ] == wanted


def test_a_rule_for_pods_looks_into_templates() -> None:
    rule = {
        **COST,
        "each": "pod",
        "path": "spec.serviceAccountName",
        "expression": "self == 'train'",
    }
    assert findings_of(JOB, rule)[0][1] == ("spec", "template", "spec", "serviceAccountName")


def test_jobs_inside_other_objects_are_checked_at_their_path() -> None:
    inner: dict[str, Any] = {"spec": {"template": {"spec": {}}}, "metadata": {}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {
            "schedule": "@daily",
            "jobTemplate": {key: inner[key] for key in ("metadata", "spec")},
        },
    }
    report = ptcompile.lint(cron, extensions=ptcompile.extensions(rules=[COST]))
    own = [diagnostic.path for diagnostic in report.diagnostics if diagnostic.code == "ACME101"]
    assert own == [("spec", "jobTemplate", "metadata", "labels")]


def test_an_expression_that_fails_on_its_values_is_false() -> None:
    rule = {**COST, "path": "metadata.name", "expression": "int(self) > 0"}
    (diagnostic,) = ptcompile.lint(JOB, extensions=ptcompile.extensions(rules=[rule])).diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("ACME101", "warning")
    assert diagnostic.message.endswith(
        "has the label cost-center (type conversion error from 'string' to 'int')"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "[0,1,2,3,4,5,6,7,8,9].all(x, " * 10 + "true" + ")" * 10,
        "[" * 9 + "'a'" + f"].map(x, {'+'.join(['x'] * 16)})[0]" * 9 + ".size() > 0",
    ],
)
def test_an_expression_over_its_budget_is_a_finding(expression: str) -> None:
    rule = {**COST, "path": "metadata.name", "expression": expression}
    rules = [rule, {**rule, "code": "ACME102", "name": "no-name", "expression": "self == ''"}]
    failed, other = ptcompile.lint(JOB, extensions=ptcompile.extensions(rules=rules)).diagnostics
    assert (failed.code, failed.name, failed.severity) == ("PTC903", "extension-failed", "error")
    assert "ACME101 (cost-center)" in failed.message
    assert other.code == "ACME102", "the other rules are still checked"


def test_many_rules_share_the_budget_of_an_object() -> None:
    labels = "".join(f"    a{n}: x\n" for n in range(2000))
    text = JOB.replace("name: train\n", f"name: train\n  labels:\n{labels}", 1)
    rules = [
        {
            **COST,
            "code": f"ACME{n}",
            "name": f"rule-n{n}",
            "expression": "self.all(k, self[k] == 'x')",
        }
        for n in range(100, 400)
    ]
    started = time.process_time()
    diagnostics = ptcompile.lint(text, extensions=ptcompile.extensions(rules=rules)).diagnostics
    assert {diagnostic.code for diagnostic in diagnostics} == {"PTC903"}
    assert time.process_time() - started < 10  # about half a second


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"code": "PTC101"}, "such as ACME101, not 'PTC101'"),
        ({"code": "ACME1"}, "such as ACME101, not 'ACME1'"),
        ({"name": "Cost"}, "such as cost-center, not 'Cost'"),
        ({"name": "missing-shm"}, "missing-shm is already used by ptcompile"),
        ({"path": "metadata["}, "path 'metadata['"),
        ({"expression": "self ==="}, "expression: "),
        ({"severity": "fatal"}, "severity must be one of error, warning, note, not 'fatal'"),
        ({"stage": "later"}, "stage must be one of apply"),
        ({"each": "node"}, "each must be one of object, pod, container, not 'node'"),
        ({"kind": 3}, "kind must be a kind or a list"),
        ({"message": ""}, "message must be a non-empty string"),
        ({"serverity": "error"}, "unknown key 'serverity'; did you mean severity?"),
    ],
)
def test_a_wrong_table_is_explained(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"rule\[0\]( \(.*\))?: ") as raised:
        ptcompile.extensions(rules=[{**COST, **changed}])
    assert message in str(raised.value)


def test_equal_codes_and_missing_keys() -> None:
    with pytest.raises(
        ValueError, match=r"rule\[1\] \(ACME101\): ACME101 is already used by rule\[0\]"
    ):
        ptcompile.extensions(rules=[COST, COST])
    with pytest.raises(
        ValueError, match=r"rule\[0\]: missing code, name, path, expression, message"
    ):
        ptcompile.extensions(rules=[{}])


def test_a_string_is_not_a_list_of_plugins() -> None:
    with pytest.raises(TypeError, match="plugins must be a list of names"):
        ptcompile.extensions("acme")


TOML = """
ignore = ["ACME101"]
[[rule]]
code = "ACME101"
name = "cost-center"
path = "metadata.labels"
expression = "'cost-center' in self"
message = "every job has the label cost-center"
[[rule]]
code = "ACME102"
name = "own-registry"
each = "container"
path = "image"
expression = "self.startsWith('registry.acme.example/')"
message = "images come from registry.acme.example"
severity = "error"
"""


def test_the_configuration_declares_rules(tmp_path: Path) -> None:
    (tmp_path / "ptcompile.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    done = ran(None, tmp_path, "lint", "job.yaml", "--output-format", "json")
    assert (
        done.returncode,
        [diagnostic["code"] for diagnostic in json.loads(done.stdout)["diagnostics"]],
    ) == (
        1,
        ["ACME102"],
    )
    assert "owner" not in json.loads(done.stdout)["diagnostics"][0]
    assert "  = rule of ptcompile.toml\n" in ran(None, tmp_path, "lint", "job.yaml").stdout
    done = ran(None, tmp_path, "lint", "job.yaml", "--ignore", "own-registry")
    assert (done.returncode, done.stdout) == (0, "")
    commented = JOB.replace(
        "command: [fetch]}", "command: [fetch]}  # ptcompile: ignore[ACME102] a mirror"
    )
    (tmp_path / "job.yaml").write_text(commented, encoding="utf-8")
    done = ran(None, tmp_path, "lint", "job.yaml")
    assert done.returncode == 0, done.stderr
    assert ", 2 ignored" in done.stderr, done.stderr
    assert "own-registry" in ran(None, tmp_path, "rules").stdout
    assert "images come from" in ran(None, tmp_path, "explain", "ACME102").stdout
    (tmp_path / "ptcompile.toml").write_text(TOML.replace("ACME101", "ACME9", 1), encoding="utf-8")
    done = ran(None, tmp_path, "lint", "job.yaml")
    assert done.returncode == 2
    assert "ignore: no rule 'ACME9'" in done.stderr


def test_an_ignore_comment_for_a_missing_rule_is_reported(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB + "# ptcompile: ignore[ACME102]\n", encoding="utf-8")
    done = ran(None, tmp_path, "lint", "job.yaml", "--isolated", "--output-format", "concise")
    assert "no rule 'ACME102'; no configured plugin defines it" in done.stdout


@pytest.mark.parametrize("key", ["['a.b/c']", '["a.b/c"]', "[a.b/c]", ".'a.b/c'"])
def test_a_path_may_have_a_key_in_quotes(key: str) -> None:
    rule = {**COST, "path": f"metadata.labels{key}", "expression": "self == 'x'"}
    assert (
        findings_of(JOB.replace("name: train\n", "name: train\n  labels: {a.b/c: x}\n", 1), rule)
        == []
    )
    assert findings_of(JOB, rule) == [("ACME101", ("metadata", "labels", "a.b/c"), "warning")]


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        ("PytorchJob", "PyTorchJob"),
        ("Jobb", "Job"),
        ("batch/v1/job", "batch/v1/Job"),
        ("Trainingjob", "TrainingJob"),
    ],
)
def test_a_kind_that_no_object_has_is_an_error(kind: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"no object is a '{kind}'; did you mean {meant}\\?"):
        ptcompile.extensions(rules=[{**COST, "kind": [kind]}])


@pytest.mark.parametrize(
    "kind", ["TFJob", "JAXJob", "kubeflow.org/v1/TFJob", "acme.io/v1/PytorchJob", "Widget"]
)
def test_kinds_of_others_are_taken(kind: str) -> None:
    assert findings_of(JOB, {**COST, "kind": [kind]}) == []


@pytest.mark.parametrize("expression", ["size(self)", "'x'", "object.metadata", "null"])
def test_an_expression_that_is_not_a_boolean_is_a_finding(expression: str) -> None:
    rule = {**COST, "path": "metadata.name", "expression": expression}
    (failure,) = ptcompile.lint(JOB, extensions=ptcompile.extensions(rules=[rule])).diagnostics
    assert (failure.code, failure.help) == ("PTC903", "correct its expression")
    assert failure.message.endswith("the expression is neither true nor false")


@pytest.mark.parametrize("url", ["https://wiki.acme.example/a", None])
def test_reports_link_to_the_own_page_or_to_none(
    url: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = COST | ({} if url is None else {"url": url})
    (diagnostic,) = ptcompile.lint(JOB, extensions=ptcompile.extensions(rules=[rule])).diagnostics
    assert (diagnostic.url, diagnostic.to_dict()["url"]) == (url, url)
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
    (tmp_path / "ptcompile.toml").write_text(f"[[rule]]\n{lines}")
    (tmp_path / "job.yaml").write_text(JOB)
    for output_format in ("full", "json", "sarif", "markdown"):
        options = (
            "--select=ACME",
            f"--config={tmp_path / 'ptcompile.toml'}",
            f"--output-format={output_format}",
        )
        done = here(capsys, "lint", tmp_path / "job.yaml", *options)
        assert "codes/ACME101" not in done.out + done.err
        assert (url is None) or url in done.out + done.err


def test_an_invalid_address_is_an_error() -> None:
    with pytest.raises(ValueError, match="url must be an address"):
        ptcompile.extensions(rules=[{**COST, "url": "wiki/a"}])
