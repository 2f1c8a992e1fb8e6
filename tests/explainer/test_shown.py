"""Human-readable paths and values."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Path, field_path
from ptcompile.explainer.values import matches, path_parts, shown_path, shown_value
from tests.conftest import ABLE, Case, pair_name, thinned
from tests.explainer.cases import explained
from tests.making import smallest

DATA: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/x": "y"}},
    "env": [{"name": "A", "value": "1"}, {"name": "B"}],
    "ports": [{"containerPort": 80}],
    "twice": [{"name": "n"}, {"name": "n"}],
    "command": ["torchrun", "--nnodes=4"],
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("metadata", "labels", "app.kubernetes.io/x"), "metadata.labels[app.kubernetes.io/x]"),
        (("env", 1, "name"), "env[B].name"),
        (("ports", 0, "containerPort"), "ports[0].containerPort"),
        (("twice", 1, "name"), "twice[1].name"),
        (("command", 1), "command[1]"),
    ],
)
def test_a_shown_path_finds_its_value(path: Path, expected: str) -> None:
    assert shown_path(path, DATA) == expected
    assert matches(path_parts(expected), path, DATA)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("spec.env[A].value", ["spec", "env", "A", "value"]),
        ("[0].env[1]", ["0", "env", "1"]),
        ("metadata.labels[app.kubernetes.io/x]", ["metadata", "labels", "app.kubernetes.io/x"]),
        ("env['A']", ["env", "A"]),
        ("", []),
    ],
)
def test_a_query_is_split_into_keys(query: str, expected: list[str]) -> None:
    assert path_parts(query) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Memory", "Memory"),
        ("1", '"1"'),
        (1, "1"),
        (None, "null"),
        ("", '""'),
        ({"name": "shm", "n": [1, True]}, "{name: shm, n: [1, true]}"),
        ("a\nb", '"a\\nb"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("x" * 200, "x" * 200),
    ],
)
def test_a_shown_value_is_printable_and_short(value: Any, expected: str) -> None:
    assert shown_value(value) == expected
    assert shown_value(value).isprintable()
    assert shown_value("x" * 200, 100) == "x" * 96 + " ..."


@pytest.mark.parametrize(("case", "target"), thinned(ABLE, 5), ids=pair_name)
def test_every_displayed_path_finds_its_value(case: Case, target: str) -> None:
    """Both the displayed path and the API server's notation find the value."""
    explanation = explained(case, target).explanation
    for cause in explanation.causes[::7]:
        assert cause in explanation.at(cause.shown)
        assert cause in explanation.at(field_path(cause.path))


QUERIES = [
    ("spec.template.spec.containers[0].env[1].value", ["b"]),
    ("spec.template.spec.containers[pytorch].env[YY].value", ["b"]),
    ("env.YY.value", ["b"]),
    ("env.YY", ["YY", "b"]),
    ("[pytorch].env[YY]", ["YY", "b"]),
    ("command[--nnodes]", ["--nnodes=2"]),
    ("command.0", ["torchrun"]),
    ("spec.completions", [2]),
    ("completions", [2]),
    ("nowhere", []),
    ("spec.template.spec.containers[7]", []),
    ("", []),
]


@pytest.mark.parametrize(("query", "values"), QUERIES)
def test_at_returns_the_values_below_a_query(query: str, values: list[Any]) -> None:
    explanation = ptcompile.explain(smallest("nodes: 2\nenv: {XX: a, YY: b}"), target="job")
    assert [one.value for one in explanation.at(query)] == values


@pytest.mark.parametrize(
    ("query", "near"),
    [
        ("spec.template.spec.volumez", "spec.template.spec.volumes"),
        ("volumez", "spec.template.spec.volumes"),
        ("spec.completion", "spec.completions"),
        ("xyzzy", None),
        ("", None),
    ],
)
def test_near_returns_a_similar_path(query: str, near: str | None) -> None:
    assert ptcompile.explain(smallest("nodes: 2"), target="job").near(query) == near
