"""Fields that Kubernetes defines: errors of its decoder at the spec's paths, and patches of the pod template."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import profile, smallest

PATCH = ("spec", "podTemplate")
SETS_ONLY = "remove it; a pod template sets only labels and annotations of its pods"
UNKNOWN = "unknown field of a pod template"
NULL = "remove it; null removes the value that is set otherwise"


def _errors(body: str, **options: Any) -> list[tuple[str, tuple[Any, ...], str, str | None]]:
    diagnostics = ptcompile.compile(smallest(body), target="job", lint=False, **options).diagnostics
    return [(d.name, tuple(d.path), d.message.partition(": ")[2], d.help) for d in diagnostics]


@pytest.mark.parametrize(
    ("template", "name", "path", "message", "help"),
    [
        ("{spce: {}}", "spec-unknown-field", ("spce",), UNKNOWN, "move it to podTemplate.spec"),
        ("{Spec: {}}", "spec-unknown-field", ("Spec",), UNKNOWN,
         "remove it; a pod template has metadata and spec"),
        ("{metadata: {name: a}}", "spec-unknown-field", ("metadata", "name"),
         "pods are named after the job", SETS_ONLY),
        ("{metadata: {generateName: a}}", "spec-unknown-field", ("metadata", "generateName"),
         "pods are named after the job", SETS_ONLY),
        ("{metadata: {uid: a}}", "spec-unknown-field", ("metadata", "uid"), UNKNOWN, SETS_ONLY),
        ("{metadata: {lables: {}}}", "spec-unknown-field", ("metadata", "lables"), UNKNOWN,
         "did you mean labels?"),
        ("{metadata: {annotations: {a: 5}}}", "wrong-type", ("metadata", "annotations", "a"),
         "must be of type string, not integer (5)", 'put the value in quotes'),
        ("{spec: {restartPolicy: Never}}", "spec-conflict", ("spec", "restartPolicy"),
         "the target sets the restart policy of the pods", "set restartPolicy under spec instead"),
        ("{spec: null}", "spec-conflict", ("spec",), "every pod needs a spec", NULL),
        ("{spec: {containers: null}}", "spec-conflict", ("spec", "containers"),
         "every pod needs a main container", NULL),
        ("{spec: {tolerations: [null]}}", "spec-wrong-type", ("spec", "tolerations", 0), "null in a list", "remove it"),
        ("{spec: {tolerations: [{key: a}, null]}}", "spec-wrong-type", ("spec", "tolerations", 1), "null in a list",
         "remove it"),
        ("{spec: {volumes: [{name: v, projected: {sources: [null]}}]}}", "spec-wrong-type",
         ("spec", "volumes", 0, "projected", "sources", 0), "null in a list", "remove it"),
        ("{spec: {tolerations: [{key: 5}]}}", "wrong-type", ("spec", "tolerations", 0, "key"),
         "must be of type string, not integer (5)", 'put the value in quotes'),
    ],
)  # fmt: skip
def test_mistakes_in_a_pod_template_are_reported(
    template: str, name: str, path: tuple[Any, ...], message: str, help: str
) -> None:
    assert _errors(f"podTemplate: {template}") == [(name, (*PATCH, *path), message, help)]


@pytest.mark.parametrize(
    "template",
    ["{}", "{metadata: {labels: {a: b}, annotations: {c: d}, finalizers: [a.b/c]}}", "{metadata: null}",
     "{spec: {enableServiceLinks: null}}", "{spec: {containers: [{name: pytorch, tty: true}]}}"],
)  # fmt: skip
def test_valid_pod_templates_are_accepted(template: str) -> None:
    assert _errors(f"podTemplate: {template}") == []


def test_a_role_s_template_and_fields_are_reported_at_the_role() -> None:
    (patch,) = _errors(
        "master: {podTemplate: {spec: {restartPolicy: Never}}}\nworker: {replicas: 1}"
    )
    assert patch[:2] == (
        "spec-conflict",
        ("spec", "master", "podTemplate", "spec", "restartPolicy"),
    )
    (field,) = _errors("master: {}\nworker: {replicas: 1, volumes: [{name: v, emptyDir: {a: b}}]}")
    assert field[:2] == ("unknown-field", ("spec", "worker", "volumes", 0, "emptyDir", "a"))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("volumes: [{name: v, emptyDir: {a: b}}]", ("volumes", 0, "emptyDir", "a")),
        ("env: {A: {fieldRef: {fieldPth: a}}}", ("env", "A")),
        ("tolerations: [{key: a, frobnicate: 1}]", ("tolerations", 0, "frobnicate")),
        ("affinity: {frobnicate: {}}", ("affinity", "frobnicate")),
    ],
)
def test_unknown_fields_are_reported_at_their_line(body: str, path: tuple[Any, ...]) -> None:
    diagnostics = ptcompile.compile(smallest(body), target="job", lint=False).diagnostics
    assert [tuple(d.path)[: len(path) + 1] for d in diagnostics] == [("spec", *path)]
    assert all(d.span is not None and d.span.line == 7 for d in diagnostics)


def test_texts_as_variables_need_no_check() -> None:
    assert _errors("env: {A: b, C: null}") == []


def test_mistakes_in_templates_of_a_profile_are_located() -> None:
    wrong = {"spec": {"tolerations": [{"key": 5}]}}
    for spec, path in (
        ({"defaults": {"podTemplate": wrong}}, ("spec", "defaults", "podTemplate")),
        (
            {"fabrics": {"rails": {"podTemplate": wrong}}},
            ("spec", "fabrics", "rails", "podTemplate"),
        ),
    ):
        document = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": spec}
        (diagnostic,) = ptcompile.compile(smallest(), cluster=document).diagnostics
        assert (diagnostic.name, tuple(diagnostic.path)) == (
            "wrong-type",
            (*path, "spec", "tolerations", 0, "key"),
        )
        assert (
            ptcompile.compile(smallest(), cluster=profile(spec)).diagnostics[0].path
            == diagnostic.path
        )
