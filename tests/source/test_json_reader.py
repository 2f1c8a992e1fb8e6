"""Streams of JSON: values, the problem that ends a stream, and what Go reads differently."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ptcompile._internal import limits
from ptcompile.source.json_reader import as_yaml, not_json_problem, read_json
from ptcompile.source.nodes import MAX_DEPTH, MAX_DOCUMENT, MAX_VALUES


def values(text: str) -> list[Any]:
    """Return the data of each value of a stream without a problem."""
    documents, problem = read_json(text)
    assert problem is None
    return [value.data for value in documents]


def test_values_have_their_offsets() -> None:
    documents, problem = read_json(' {"a": 1}\n{"b": [true, null]} ')
    assert problem is None
    assert [(value.data, value.start, value.end) for value in documents] == [
        ({"a": 1}, 1, 9),
        ({"b": [True, None]}, 10, 29),
    ]
    assert read_json(" \n") == ([], None)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1.0", 1),
        ("1e3", 1000),
        ("0.5", 0.5),
        ("123456789012345678", 123456789012345678),
        ("1234567890123456789", 1234567890123456800),
        ("9" * 30, 1e30),
    ],
)
def test_numbers_are_those_of_kubectl(number: str, value: float) -> None:
    ((data),) = values(f'{{"a": {number}}}')
    assert (data["a"], type(data["a"])) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "read", "name", "start"),
    [
        ('{"a": 1} x', 1, "yaml-syntax", 9),
        ('{"a": 1} {"a": NaN}', 1, "yaml-syntax", 9),
        ('{"a": -Infinity}', 0, "yaml-syntax", 0),
        ('{"a": 1,}', 0, "yaml-syntax", 8),
        ('{"a": ' * 100_000, 0, "too-deep", 0),
        ("{} " * 3, 2, "too-large", 6),
    ],
)
def test_some_problems_end_a_stream(
    text: str, read: int, name: str, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(documents=2)])
    documents, problem = read_json(text)
    assert problem is not None
    assert (len(documents), problem.name, problem.start, problem.end) == (
        read,
        name,
        start,
        start + 1,
    )


def test_as_many_documents_as_allowed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(documents=2)])
    assert values("{} {} ") == [{}, {}]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[1]", "not-a-mapping"),
        ('"a"', "not-a-mapping"),
        ('{"a": 1e999}', "unsupported-yaml"),
        (f'{{"a": {"[" * MAX_DEPTH}{"]" * MAX_DEPTH}}}', "too-deep"),
        (f'{{"a": "{"x" * MAX_DOCUMENT}"}}', "too-large"),
    ],
)
def test_a_rejected_value_does_not_hide_the_next(text: str, name: str) -> None:
    (rejected, after), problem = read_json(text + '{"b": 1}')
    assert problem is None
    assert rejected.data is None
    assert [finding.name for finding in rejected.findings] == [name]
    assert after.data == {"b": 1}


def test_the_largest_document_is_read() -> None:
    text = f'{{"a": "{"x" * (MAX_DOCUMENT - 9)}"}}'
    assert len(text) == MAX_DOCUMENT
    assert len(values(text)) == 1


def test_repeated_keys_are_reported() -> None:
    ((value,), _) = read_json('{"a": 1, "b": {"c": 1, "c": 2}}')
    assert value.data == {"a": 1, "b": {"c": 2}}
    assert [finding.name for finding in value.findings] == ["duplicate-key"]


@pytest.mark.parametrize("first", [r"d\u0061ta", r"dat\u0061", "data"])
def test_an_escape_hides_no_duplicate_key(first: str) -> None:
    (value,) = read_json(f'{{"x/y": 1, "{first}": 1, "data": 2}}')[0]
    ((name, start),) = [(finding.name, finding.start) for finding in value.findings]
    assert (name, start) == ("duplicate-key", len(f'{{"x/y": 1, "{first}": 1, '))


def test_an_escaped_slash_hides_no_duplicate_key() -> None:
    (value,) = read_json(r'{"a\/b": 1, "a/b": 2}')[0]
    assert [finding.name for finding in value.findings] == ["duplicate-key"]


def test_lone_surrogates_are_replaced() -> None:
    (data,) = values(r'{"a": "\ud800x", "b": "\ud83d\ude00", "c": "\u00e4"}')
    assert data == {"a": "\ufffdx", "b": "\U0001f600", "c": "\u00e4"}


def test_as_yaml_keeps_the_length() -> None:
    text = r'{"a": "\/ \ud800 \n \\", "b": "' + '\x7f"}'
    assert as_yaml(text) == r'{"a": "\/ ////// \n \\", "b": "?"}'


@pytest.mark.parametrize(
    ("data", "name", "path"),
    [
        ({"a": [1, {"b": None, "c": "x", "d": True, "e": 1.5}]}, None, ()),
        ({"a": {1: 2}}, "unsupported-yaml", ("a",)),
        ({"a": [b"x"]}, "unsupported-yaml", ("a", 0)),
        ({"a": (1,)}, "unsupported-yaml", ("a",)),
        ({"a": float("nan")}, "unsupported-yaml", ("a",)),
        ({"a": float("-inf")}, "unsupported-yaml", ("a",)),
        ({"a": [0] * (MAX_VALUES - 1)}, None, ()),
        ({"a": [0] * MAX_VALUES}, "too-large", ()),
        (json.loads('{"a": ' * MAX_DEPTH + "1" + "}" * MAX_DEPTH), None, ()),
        (
            json.loads('{"a": ' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1)),
            "too-deep",
            ("a",) * 8,
        ),
    ],
)
def test_data_that_is_not_json_is_reported(
    data: Any, name: str | None, path: tuple[Any, ...]
) -> None:
    problem = not_json_problem(data)
    assert (problem and problem.name, problem.path if problem else ()) == (name, path)
