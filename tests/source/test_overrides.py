"""Overrides of a document: where a value is set, what has no place, and which override caused a problem."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.diagnostics import Problem
from ptcompile.source.documents import Document, from_data, read
from ptcompile.source.overrides import OverriddenDocument, apply_overrides, read_overrides

Json = dict[str, Any]


def document(data: Json) -> Document:
    (only,) = from_data(data).documents
    return only


def applied(data: Json, *overrides: tuple[Any, Any], name: str | None = None) -> OverriddenDocument:
    """Return a document with overrides."""
    return apply_overrides(document(data), read_overrides(overrides, name))


@pytest.mark.parametrize(
    ("data", "path", "expected"),
    [
        ({}, "a", {"a": 9}),
        ({"a": 1, "b": 2}, "a", {"a": 9, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, "a.b", {"a": {"b": 9, "c": 2}}),
        ({"a": "text"}, "a.b", {"a": {"b": 9}}),
        ({}, "a.b.c", {"a": {"b": {"c": 9}}}),
        ({"a": [1, 2, 3]}, "a[1]", {"a": [1, 9, 3]}),
        ({"a": [1]}, "a[1]", {"a": [1, 9]}),
        ({}, "a[0]", {"a": [9]}),
        ({"a": None}, "a[0].b", {"a": [{"b": 9}]}),
        (
            {"a": [{"name": "x", "v": 1}, {"name": "y"}]},
            "a.y.v",
            {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 9}]},
        ),
        ({"a": [{"mountPath": "x"}]}, "a.x.v", {"a": [{"mountPath": "x", "v": 9}]}),
        ({"a": [1, 2]}, "a.1", {"a": [1, 9]}),
        ({"a": {"b": 1}}, ("a", 0), {"a": {"b": 1, "0": 9}}),
    ],
)
def test_an_override_sets_the_value_at_its_path(data: Json, path: Any, expected: Json) -> None:
    result = applied(data, (path, 9))
    assert (result.data, result.rejected) == (expected, ())
    ((number, set_path),) = result.set_paths
    value: Any = result.data
    for part in set_path:
        value = value[part]
    assert (number, value) == (0, 9)


@pytest.mark.parametrize(
    ("data", "path", "message", "help"),
    [
        ({"a": [1]}, "a[2]", "a: no item 2 to set", "[1] appends one"),
        ({}, "a[1]", "a: no item 1 to set", "[0] appends one"),
        ({"a": [1]}, ("a", -1), "a: no item -1 to set", "[1] appends one"),
        (
            {"a": [{"name": "x"}, {}, {"name": "y"}]},
            "a.z.v",
            "a: no item 'z' to set",
            "the items are x, y",
        ),
        ({"a": [1]}, "a.z", "a: no item 'z' to set", "give an index, such as [0]"),
        (
            {"a": [1]},
            ("a", "1" * 10),
            f"a: no item '{'1' * 10}' to set",
            "give an index, such as [0]",
        ),
    ],
)
def test_a_value_without_a_place_is_rejected_alone(
    data: Json, path: Any, message: str, help: str
) -> None:
    result = applied(data, ("b", 1), (path, 9))
    ((number, problem),) = result.rejected
    assert (number, problem.message, problem.help) == (1, message, help)
    assert result.data == {**data, "b": 1}, "the others are set"
    (diagnostic,) = result.to_diagnostics((), "spec.yaml")
    assert (diagnostic.filename, diagnostic.span) == ("overrides[1]", None)


def test_name_of_the_run_replaces_a_generated_one() -> None:
    data = {"metadata": {"generateName": "a-", "labels": {}}}
    assert applied(data, name="b").data == {"metadata": {"name": "b", "labels": {}}}
    assert applied(data, ("metadata.name", "b")).data["metadata"]["generateName"] == "a-"


def test_bad_paths_are_reported() -> None:
    overrides = read_overrides([("a", 1), ("a[", 2), (("x",) * 1000, 3)])
    assert [number for number, _, _ in overrides.values] == [0]
    assert [diagnostic.filename for diagnostic in overrides.diagnostics] == [
        "overrides[1]",
        "overrides[2]",
    ]
    assert "a path has at most" in overrides.diagnostics[1].message


def test_a_problem_names_the_override_that_caused_it() -> None:
    result = applied({"a": {"b": 1}, "c": 1}, ("a.b", 1), ("a", {"b": {"d": 1}}), ("e.f", 1))
    causes = {
        path: result.causing_override(path)
        for path in [("a",), ("a", "b"), ("a", "b", "d"), ("c",), ("e",), ()]
    }
    assert causes == {
        ("a",): 1,
        ("a", "b"): 1,
        ("a", "b", "d"): 1,
        ("c",): None,
        ("e",): 2,
        (): None,
    }
    earlier = applied({"a": {"b": 1}}, ("a.b", 1), ("a.c", 1))
    assert earlier.causing_override(("a", "b")) == 0
    assert earlier.causing_override(("a",)) is None, "the file has it"


def test_problem_of_the_file_keeps_its_line() -> None:
    (parsed,) = read("a: 1\nb: 2\n").documents
    result = apply_overrides(parsed, read_overrides([("b", 3)]))
    problems = [Problem("spec-conflict", (key,), "m") for key in "ab"]
    own, caused = result.to_diagnostics(problems, "spec.yaml")
    assert (own.filename, own.span and own.span.line) == ("spec.yaml", 1)
    assert (caused.filename, caused.span) == ("overrides[0]", None)
