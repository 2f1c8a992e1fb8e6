"""Documents that no API server accepts are counted but not checked; a template gets one note per
file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Problem
from ptcompile.linter.unrendered import is_about_written_text
from ptcompile.source.templates import find_placeholder, may_be_template
from tests.cli.running import here


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (
            "AWSTemplateFormatVersion: x\nResources: {A: {V: !Ref B, W: !Sub c}}\n",
            "a CloudFormation template",
        ),
        ("resources: [job.yaml]\nnamePrefix: a-\n", "a kustomization"),
        ("apiVersion: v2\nname: chart\nversion: 0.1.0\n", "a Helm chart"),
        ("services: {web: {image: nginx}}\n", "a compose file"),
        ("repos: [{repo: local, hooks: []}]\n", "a pre-commit configuration"),
        ("image: {tag: 1, tag: 2}\n", "a document without apiVersion and kind"),
        ("- op: remove\n  path: /spec\n", "a list"),
        ("apiVersion: v1\nkind: Pod\nspec: {tolerations: [{key: a}]}\n", "a pod template"),
    ],
)
def test_foreign_documents_are_counted_and_not_checked(text: str, counted: str) -> None:
    report = ptcompile.lint(text)
    assert (report.diagnostics, report.unchecked) == ((), (counted,))


def test_a_list_of_a_text_that_cannot_be_read_is_not_counted() -> None:
    report = ptcompile.lint('{"apiVersion": v1\n---\n- a\n')
    assert [finding.name for finding in report.diagnostics] == ["yaml-syntax"]
    assert report.unchecked == ()


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_no_input_is_no_clean_result(text: str) -> None:
    (finding,) = ptcompile.lint(text).diagnostics
    assert (finding.name, finding.severity) == ("no-documents", "error")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "metadata: {name: a}\nspec: {containers: []}\n",
            "required-value",
        ),  # an object that lacks apiVersion and kind
        ("kind: Pod\nmetadata: {name: a}\n", "required-value"),
        ("hello\n", "not-a-mapping"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
            "required-value",
        ),  # it has a name, so it is a manifest
    ],
)
def test_some_documents_with_placeholders_are_still_an_error(text: str, name: str) -> None:
    assert (name, "error") in {(d.name, d.severity) for d in ptcompile.lint(text).diagnostics}


def test_duplicate_keys_reject_only_a_spec() -> None:
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: b}\nspec: {containers: [{name: a, "
        "image: 'a:1'}]}\n"
    )
    (diagnostic,) = ptcompile.lint(pod).diagnostics
    assert (diagnostic.name, diagnostic.severity, diagnostic.stage) == (
        "duplicate-key",
        "warning",
        "run",
    )
    spec = (
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a, name: b}\nspec: "
        "{script: t.py}\n"
    )
    assert ("duplicate-key", "error") in {
        (d.name, d.severity) for d in ptcompile.lint(spec).diagnostics
    }


TEMPLATE = """\
apiVersion: batch/v1
kind: Job
metadata: {name: "%s"}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: a:1
          command: [python, train.py, "--data=${DATA}"]
          env: [{name: DATA, value: /data}]
          resources: {limits: {memory: 512m}}
"""


@pytest.mark.parametrize(
    "name", ["${NAME}", "__NAME__", "<name>", "$NAME", "train-${ID}", "${NAME:-train}"]
)
def test_a_template_gets_one_note_and_its_placeholders_are_not_checked(name: str) -> None:
    diagnostics = ptcompile.lint(TEMPLATE % name + "---\n" + TEMPLATE % name).diagnostics
    assert [(d.name, d.severity) for d in diagnostics if d.name == "unrendered-template"] == [
        ("unrendered-template", "note")
    ]
    assert {d.name for d in diagnostics} == {"unrendered-template", "fractional-bytes"}


def test_a_shell_variable_is_not_a_placeholder() -> None:
    names = {d.name for d in ptcompile.lint(TEMPLATE % "train").diagnostics}
    assert names == {"shell-variable-without-shell", "fractional-bytes"}


def test_placeholders_in_a_mapping_are_values() -> None:
    """An object that a caller passes has no file to render, so its placeholders are values."""
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "${NAME}"},
        "spec": {"containers": []},
    }
    assert any(
        d.path == ("metadata", "name") and d.severity == "error"
        for d in ptcompile.lint(manifest).diagnostics
    )


def test_no_rule_checks_a_rejected_value() -> None:
    """An unreadable number of pods is rejected once; no rule checks whether it is enough."""
    text = TEMPLATE.replace(
        "[python, train.py", "[torchrun, --nnodes=4, --master-addr=a.b, train.py"
    ).replace(
        "spec:\n  template",
        "spec:\n  completionMode: Indexed\n  parallelism: %s\n  completions: %s\n  template",
        1,
    )
    few = {d.name for d in ptcompile.lint(text % ("train", 2, 2)).diagnostics}
    assert "too-few-pods" in few
    unread = {d.name for d in ptcompile.lint(text % ("train", "two", 2)).diagnostics}
    assert "wrong-type" in unread
    assert not {"too-few-pods", "same-node-rank", "too-little-parallelism"} & unread


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        ("args: [$(RANK)]", False),
        ("name: a__b", False),
        ("name: $NAME", True),
        ("name: ${NAME}", True),
        ("name: __NAME__", True),
        ("name: <name>", True),
        ("args: [$(RANK), '{{ name }}']", True),
        ('args: [$(RANK), "\\u003cname>"]', True),
    ],
)
def test_most_files_are_recognized_as_no_template_without_a_walk(text: str, may_be: bool) -> None:
    assert may_be_template(text) is may_be


def test_a_reference_in_a_schema_is_not_a_placeholder() -> None:
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
        "a.b}\nspec: {$ref: x}\n"
    )
    assert "unrendered-template" not in {d.name for d in ptcompile.lint(crd).diagnostics}


@pytest.mark.parametrize(
    ("value", "placeholder"),
    [
        ("${X}", "${X}"), ("a-${X:-b}", "${X:-b}"), ("$X", "$X"), ("a$X", None), ("__X__", "__X__"), ("a__x__", None),
        ("<name>", "<name>"), ("a<b>c", "<b>"), ("{{ .x }}", "{{ .x }}"), ("$$", None), ("", None), ("plain", None),
        (3, None), ("REPLACE_ME", "REPLACE_ME"), ("PLACEHOLDER_HF_TOKEN", "PLACEHOLDER_HF_TOKEN"), ("replace-me", None),
        ("a:YOUR_TAG", "YOUR_TAG"), ("CHANGEME", "CHANGEME"), ("CHANGELOG", None), ("REPLACEMENT", None),
    ],
)  # fmt: skip
def test_placeholders_of_other_tools_are_found(value: object, placeholder: str | None) -> None:
    assert find_placeholder(value) == placeholder


@pytest.mark.parametrize(
    ("name", "path", "data", "expected"),
    [
        ("unknown-field", ("spec", "x"), {"spec": {"x": "a"}}, True),
        ("unknown-field", ("spec", "x"), {"spec": {"x": "${A}"}}, False),
        ("unknown-field", ("spec", "${A}"), {"spec": {"${A}": "a"}}, False),
        ("unknown-field", ("spec", "$ref"), {"spec": {"$ref": "a"}}, True),
        ("unknown-field", ("spec", "x", "y"), {"spec": {"x": "a"}}, True),
        ("unknown-field", ("list", 1), {"list": ["${A}", "a"]}, True),
        ("unknown-field", ("list", 0), {"list": ["${A}", "a"]}, False),
        ("unknown-field", ("list", 2), {"list": ["${A}"]}, True),
        ("shell-variable-in-env", ("spec", "x"), {"spec": {"x": "a"}}, False),
    ],
)
def test_a_finding_about_written_text_is_recognized(
    name: str, path: Any, data: Any, expected: bool
) -> None:
    assert is_about_written_text(Problem(name, path, "m", "h"), data) is expected


PLACEHOLDERS = ("${V}", "$V", "<taint>", "__V__", "PLACEHOLDER", "REPLACE_ME", "PLACEHOLDER_V")
HANGING = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  parallelism: "@"
  completions: 2
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Equal, key: a, value: "@"}, {operator: Exists, key: a, value: "@"}]
      containers:
        - {name: main, image: "a:1", imagePullPolicy: Allways, volumeMounts: [{name: "@", mountPath: /x}]}
"""


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_no_error_rests_on_a_placeholder(placeholder: str) -> None:
    """The server reports a toleration's value at its operator."""
    diagnostics = ptcompile.lint(HANGING.replace("@", placeholder)).diagnostics
    assert [(d.code, d.path[-1]) for d in diagnostics if d.severity == "error"] == [
        ("PTC512", "imagePullPolicy")
    ]
    written = ptcompile.lint(HANGING.replace("@", "a b")).diagnostics
    assert ("PTC511", "operator") in {(d.code, d.path[-1]) for d in written}


@pytest.mark.parametrize(
    "value", ["$HF_TOKEN", "${HF_TOKEN}", "__HF_TOKEN__", "REPLACE_ME", "PLACEHOLDER_HF_TOKEN"]
)
def test_a_placeholder_is_no_secret(value: str) -> None:
    env = f"[{{name: HF_TOKEN, value: '{value}'}}]"
    container = f"{{name: main, image: 'a:1', command: [python, train.py], env: {env}}}"
    text = (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{container}]}}\n"
    )
    diagnostics = ptcompile.lint(text).diagnostics
    assert "secret-in-env" not in {d.name for d in diagnostics}
    for finding in diagnostics:
        if finding.name == "shell-variable-in-env":
            assert f": {value} is not expanded" in finding.message
            assert finding.help == "refer to a Secret by valueFrom.secretKeyRef"
    assert ("shell-variable-in-env" in {d.name for d in diagnostics}) is value.startswith("$")
    assert "secret-in-env" in {
        d.name for d in ptcompile.lint(text.replace(value, "0c5a7f3e9b1d")).diagnostics
    }


def test_the_description_of_a_field_is_no_placeholder() -> None:
    schema = "{openAPIV3Schema: {type: object, description: the <topologyKey> of a node}}"
    crd = f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: as.b.c}}
spec:
  group: b.c
  scope: Namespaced
  names: {{plural: as, kind: A}}
  versions: [{{name: v1, served: true, storage: true, schema: {schema}}}]
"""
    assert [d.name for d in ptcompile.lint(crd).diagnostics] == []


BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: x}
subjects: [{kind: ServiceAccount, name: default}]
"""


def test_a_base_lacks_no_namespace_and_a_patch_is_no_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, patch = tmp_path / "base.yaml", tmp_path / "patch.yaml"
    path.write_text(BINDING)
    patch.write_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: 3}\n"
    )
    assert [d.code for file in (path, patch) for d in ptcompile.lint(file).diagnostics] == [
        "PTC510",
        "PTC510",
        "PTC510",
    ]

    kustomization = tmp_path / "kustomization.yaml"
    kustomization.write_text("resources: [base.yaml]\npatches: [{path: ./patch.yaml}]\n")
    for file, text in (
        (path, "kustomize fills in the namespace"),
        (patch, "a patch of a kustomization"),
    ):
        ran = here(capsys, "lint", "--isolated", "--output-format", "json", file)
        (note,) = [
            diagnostic
            for diagnostic in json.loads(ran.out)["diagnostics"]
            if diagnostic["name"] != "nothing-checked"
        ]
        assert note["code"] == "PTC076"
        assert note["severity"] == "note"
        assert text in note["message"]
        assert note["help"] == f"render it first: kustomize build {tmp_path} | ptcompile lint -"
