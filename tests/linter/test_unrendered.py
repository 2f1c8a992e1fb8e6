"""An unrendered template is one note: never an error, never fixed. Files that only look like one are linted as
usual.
"""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

import ptcompile
from ptcompile.api.fix import fix
from ptcompile.diagnostics import Path, Problem
from ptcompile.linter.unrendered import without_verdicts_on_marks

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Bad
      containers:
        - name: main
          image: a:1
          command: [python, train.py]
          resources: {limits: {memory: 64 Gi}}
"""
RANGE = """\
          env:
          {{- range $k, $v := .Values.env }}
          - name: {{ $k }}
            value: {{ $v | quote }}
          {{- end }}
"""
SHAPES = {
    "value": JOB.replace("name: train", "name: {{ .Release.Name }}"),
    "if": f"{{{{- if .Values.on }}}}\n{JOB}{{{{- end }}}}\n",
    "include": JOB.replace(
        "name: train", 'name: train\n  labels:\n    {{- include "c.labels" . | nindent 4 }}'
    ),
    "range": JOB + RANGE,
    "quoted": JOB.replace("name: train", 'name: "{{ .Release.Name }}-x"'),
    "quoted literal": JOB.replace("name: train", 'name: "{{ include "name" . }}"'),
    "jinja statement": f"{{% if x %}}\n{JOB}{{% endif %}}\n",
    "jinja value": JOB.replace("name: train", "name: {{ name }}"),
    "jinja comment": f"{{# why #}}\n{JOB}",
    "jinja quoted": JOB.replace("name: train", 'name: "{% if x %}a{% endif %}"'),
    "comment": f"{{{{/* why\nand more */}}}}\n{JOB}",
    "erb": f"<% if x %>\n{JOB}<% end %>\n",
    "erb value": JOB.replace("name: train", "name: <%= name %>"),
    "image": JOB.replace("a:1", '"{{ .Values.image }}"'),
    "in a flow": JOB.replace("[python, train.py]", "[python, {{ .Values.script }}]"),
    "second document": f"{JOB}---\n{{{{ .Values.more }}}}\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_template_is_one_note_and_never_fixed(shape: str) -> None:
    text = SHAPES[shape]
    report = ptcompile.lint(text)
    assert [(d.name, d.severity, d.fix) for d in report.diagnostics] == [
        ("unrendered-template", "note", None)
    ]
    assert fix(text, unsafe=True).content == text.encode()


def test_crlf_and_a_byte_order_mark_change_nothing() -> None:
    text = "\ufeff" + SHAPES["include"].replace("\n", "\r\n")
    assert [d.name for d in ptcompile.lint(text).diagnostics] == ["unrendered-template"]


ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: "{{workflow.name}}-"}
spec: {templates: [{name: t, container: {image: "{{inputs.parameters.i}}", args: ["{{inputs.parameters.x}}"]}}]}
"""
DATA = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  x: "{{ .Values.a }}"
  y: |
    {{ if .x }}
    a: {{ .y }}
    {{ end }}
"""


@pytest.mark.parametrize("text", [ARGO, DATA, "a: {b: {c: d}}\n", "# {{ .Values.a }}\na: b\n"])
def test_marks_of_other_tools_do_not_make_a_template(text: str) -> None:
    assert ptcompile.lint(text).diagnostics == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (JOB.replace("train.py", '"--lr={{inputs.parameters.x}}"'), "unsupported-value"),
        (DATA.replace("name: a", "name: a/b"), "invalid-value"),
        (ARGO.replace('x}}"]', 'x}}"'), "yaml-syntax"),  # marks between quotes do not break YAML
        ("# {{ .Values.a }}\na: b: c\n", "yaml-syntax"),
        ("a: {{}}\n", "unsupported-yaml"),
        ("a: {{b: c}}\n", "unsupported-yaml"),
        ("a: {{ .x\nb: c\n", "yaml-syntax"),
    ],
)
def test_other_files_are_checked_as_usual(text: str, name: str) -> None:
    assert (name, "error") in {(d.name, d.severity) for d in ptcompile.lint(text).diagnostics}


def test_a_value_that_has_a_mark_gets_no_verdict() -> None:
    text = JOB.replace("command: [python, train.py]", 'env: [{name: "{{ .a }}=", value: x}]')
    assert "invalid-value" in {
        d.name for d in ptcompile.lint(text.replace("{{ .a }}", "a")).diagnostics
    }
    names = {d.name for d in ptcompile.lint(text).diagnostics}
    assert "unsupported-value" in names
    assert "invalid-value" not in names


@pytest.mark.parametrize("path", [("items", 2), ("items", "x"), ("none",), ("none", "x"), (0,)])
def test_a_path_beyond_the_data_has_no_mark(path: Path) -> None:
    problem = Problem("required-value", path, "", None)
    data = {"items": ["{{ x }}", "{{ y }}"]}
    assert without_verdicts_on_marks([problem], data, True) == [problem]
    for marked in (("items", 1), ("items", 0, "x")):
        assert without_verdicts_on_marks([problem._replace(path=marked)], data, True) == []


@pytest.fixture
def chart(tmp_path: FilePath) -> FilePath:
    for name in ("templates/tests/job.yaml", "values.yaml", "values-prod.yaml", "crds/job.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(JOB)
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    return tmp_path


def test_a_chart_is_recognized_by_its_folder(chart: FilePath) -> None:
    template = ptcompile.lint(chart / "templates" / "tests" / "job.yaml").diagnostics
    assert [(d.name, d.severity, d.span) for d in template] == [
        ("unrendered-template", "note", (1, 1, 1, 1))
    ]
    for name in ("values.yaml", "values-prod.yaml"):
        report = ptcompile.lint(chart / name)
        assert (report.diagnostics, report.unchecked) == ((), ("the values of a Helm chart",))
    assert "unsupported-value" in {
        d.name for d in ptcompile.lint(chart / "crds" / "job.yaml").diagnostics
    }


def test_templates_without_a_chart_are_manifests(chart: FilePath) -> None:
    (chart / "Chart.yaml").unlink()
    for name in ("templates/tests/job.yaml", "values.yaml"):
        assert "unsupported-value" in {d.name for d in ptcompile.lint(chart / name).diagnostics}


def test_a_spec_that_is_a_template_gets_the_command_that_renders_it() -> None:
    text = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: {{ name }}}\nspec: {script: t.py}\n"
    (diagnostic,) = ptcompile.compile(text).diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("PTC001", "error")
    assert diagnostic.message == "the text is a template of Helm or Jinja: '{{ }}' is not YAML"
    assert "helm template CHART" in str(diagnostic.help)


def test_the_note_can_be_ignored() -> None:
    report = ptcompile.lint(SHAPES["if"], ignore=["PTC076"])
    assert (report.diagnostics, [d.code for d in report.meant]) == ((), ["PTC076"])


def test_marks_in_the_schema_of_a_crd_are_text() -> None:
    """Argo's CRDs describe fields with `{{workflow.name}}`."""
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\nspec:\n"
        "  group: x.io\n  names: {kind: Foo, plural: foos}\n  scope: Namespaced\n  versions:\n"
        "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,"
        ' description: "such as {{ workflow.name }}"}}}\n'
    )
    report = ptcompile.lint(
        f"{crd}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: Wrong_Name}}\n"
    )
    assert [diagnostic.name for diagnostic in report.diagnostics] == ["invalid-value"]
