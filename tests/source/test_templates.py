"""Marks of template engines, and the files of a Helm chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.source.templates import chart_role, mark_within, may_have_marks, template_mark


@pytest.mark.parametrize(
    ("text", "sign", "start"),
    [
        ("a: {{ .Values.a }}\n", "{{ }}", 3),
        ("a: 1\n{{- if .a }}\nb: 2\n{{- end }}\n", "{{ }}", 5),
        ("a: [1, {{ b }}]", "{{ }}", 7),
        ("- {{ b }}", "{{ }}", 2),
        ('a: x{{ include "b" . }}', "{{ }}", 4),
        ("{% if a %}\n", "{% %}", 0),
        ("a: x{%- for b in c %}", "{% %}", 4),
        ("{# a #}\n", "{# #}", 0),
        ("a: <%= b %>", "<% %>", 3),
        ("# {{ a }}\nb: {{ c }}\n", "{{ }}", 13),
        ("a: {b: {{c: d}}}\ne: {{ f }}", "{{ }}", 20),
        ("a: {{}}", None, 0),
        ("a: {{ b: c }}", None, 0),
        ("a: {{ b", None, 0),
        ("# {{ a }}", None, 0),
        ("a: }} {{ b", None, 0),
        ("a: {b: [c]}", None, 0),
        ("a: 5 <% 6", None, 0),
        ("a: {%5%}", None, 0),
    ],
)
def test_the_first_mark_explains_why_a_text_is_not_yaml(
    text: str, sign: str | None, start: int
) -> None:
    mark = template_mark(text)
    assert (mark and mark.sign, mark.start if mark else 0) == (sign, start)


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        ("{{ .Values.a }}", "{{ }}"),
        ("x-{{ a }}", "{{ }}"),
        ("{% a %}", "{% %}"),
        ("{# a #}", "{# #}"),
        ("<%= a %>", "<% %>"),
        ("{{}}", None),
        ("{{ a: b }}", None),
        ("{{ a", None),
        ("a\n{{ b }}", None),
        ("", None),
        (3, None),
        (["{{ a }}"], None),
    ],
)
def test_a_value_has_its_first_mark(value: object, sign: str | None) -> None:
    mark = mark_within(value)
    assert (mark and mark.sign) == sign
    assert mark is None or may_have_marks(str(value))


def test_other_brackets_are_no_marks() -> None:
    assert [text for text in ("{{", "{%", "<%", "{#", "{ {", "% }") if may_have_marks(text)] == [
        "{{",
        "{%",
        "<%",
        "{#",
    ]


def test_each_file_of_a_chart_has_its_role(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").touch()
    (tmp_path / "sub" / "templates").mkdir(parents=True)
    roles = {
        name: chart_role(str(tmp_path / name))
        for name in (
            "templates/a.yaml",
            "templates/deep/a.yaml",
            "values.yaml",
            "values-prod.yaml",
            "my-values.yaml",
            "sub/values.yaml",
            "sub/templates/a.yaml",
            "Chart.yaml",
        )
    }
    assert {name: role for name, role in roles.items() if role} == {
        "templates/a.yaml": "template",
        "templates/deep/a.yaml": "template",
        "values.yaml": "values",
        "values-prod.yaml": "values",
    }
    assert chart_role(None) is None
