"""Objects as Go writes them: null items, and missing fields that are not omitted."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.roundtrip import STRINGS, ZERO, as_go_writes

SHAPE: dict[str, Any] = {
    "names": STRINGS,
    "items": [{ZERO: {"name": "", "amount": "0"}, "inner": {ZERO: {"key": None}}}],
    "selector": {ZERO: {"a": 1}},
}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"names": ["a", None]}, {"names": ["a", ""]}),
        ({"items": [{"name": "x"}]}, {"items": [{"name": "x", "amount": "0"}]}),
        ({"items": [{"name": None, "amount": 1}]}, {"items": [{"name": "", "amount": 1}]}),
        (
            {"items": [{"name": "x", "amount": 1, "inner": {}}], "other": 1},
            {"items": [{"name": "x", "amount": 1, "inner": {"key": None}}], "other": 1},
        ),
        ({"selector": {}, "a": 1, "b": 2, "c": 3}, {"selector": {"a": 1}, "a": 1, "b": 2, "c": 3}),
    ],
)
def test_a_value_is_written_as_go_writes_it(value: dict[str, Any], written: dict[str, Any]) -> None:
    before = repr(value)
    assert as_go_writes(value, SHAPE) == written
    assert repr(value) == before, "the original stays as it is"


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"names": ["a"], "items": [{"name": "", "amount": "0"}], "selector": {"a": 2}},
        {"names": "text", "items": "text", "selector": "text"},
        {"names": None, "items": None, "selector": None},
        {"unknown": [None, {}]},
        "text",
        None,
    ],
)
def test_unchanged_values_are_the_same_object(value: Any) -> None:
    assert as_go_writes(value, SHAPE) is value
