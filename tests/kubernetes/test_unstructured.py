from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes import unstructured
from ptcompile.kubernetes.unstructured import MISSING, get, has


@pytest.mark.parametrize(
    ("metadata", "expected"), [({"namespace": "ml"}, "ml"), ({}, "default"), (None, "default")]
)
def test_the_namespace_is_read_from_any_metadata(metadata: Any, expected: str) -> None:
    assert unstructured.namespace_of({"metadata": metadata}) == expected


@pytest.mark.parametrize("value", [None, 1, "x", [], True, 1.5])
def test_anything_else_is_an_empty_mapping(value: Any) -> None:
    assert unstructured.as_mapping(value) == {}
    assert unstructured.nested_map({"a": value}, "a", "b") == {}
    assert unstructured.string_map(value) == {}


def test_nested_readers_give_values_of_their_type() -> None:
    data = {
        "spec": {
            "names": ["a", None, 1],
            "items": [{"name": "a"}, None, "b"],
            "size": 2,
            "labels": {"a": "b", "c": None, "d": 1},
        }
    }
    assert unstructured.nested_strings(data, "spec", "names") == ["a", ""]
    assert unstructured.nested_maps(data, "spec", "items") == [{"name": "a"}, {}]
    assert unstructured.nested_int(data, "spec", "size", default=1) == 2
    assert unstructured.nested_string_map(data, "spec", "labels") == {"a": "b", "c": ""}


@pytest.mark.parametrize("value", [None, 1, "text", [], {}])
def test_absent_fields_have_empty_values(value: Any) -> None:
    data = {"spec": value}
    assert unstructured.nested_strings(data, "spec", "names") == []
    assert unstructured.nested_maps(data, "spec", "items") == []
    assert unstructured.nested_int(data, "spec", "size", default=1) == 1
    assert unstructured.nested_string_map(data, "spec", "labels") == {}


def test_kind_of_reads_api_version_and_kind() -> None:
    kind = unstructured.kind_of({"apiVersion": "batch/v1", "kind": "Job"})
    assert kind == ("batch/v1", "Job")
    assert kind.api_version == "batch/v1"
    assert kind.name == "Job"
    assert unstructured.kind_of({"kind": 1}) == ("", "")


def test_lists_keep_only_items_of_the_type() -> None:
    assert unstructured.as_mappings([None, {"a": 1}, "x", 3]) == [{}, {"a": 1}]
    assert unstructured.as_mappings({"a": 1}) == []
    assert unstructured.as_strings(["a", None, 3, {}]) == ["a", ""]
    assert unstructured.string_map({"a": "b", "c": None, "d": 1}) == {"a": "b", "c": ""}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), (True, 9), ("3", 9), (None, 9), (2**70, 2**63 - 1), (-(2**70), -(2**63))],
)
def test_integers_are_clamped_to_64_bits(value: Any, expected: int) -> None:
    assert unstructured.as_int(value, 9) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"name": "a"}, "a"),
        ({"generateName": "a-"}, "a-abcde"),
        ({}, ""),
        (None, ""),
        ({"name": 3}, ""),
    ],
)
def test_object_name_expands_a_generated_name(metadata: Any, expected: str) -> None:
    assert unstructured.object_name({"metadata": metadata}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": None, "b": 1}, {"b": 1}),
        ({"a": {"b": None}}, {"a": {}}),
        ({"a": ["x", {"b": None, "c": "y"}]}, {"a": ["x", {"c": "y"}]}),
        ([[{"a": None}], "x"], [[{}], "x"]),
        ({"a": [None, "x"]}, {"a": [None, "x"]}),
    ],
)
def test_fields_that_are_null_are_dropped(value: Any, expected: Any) -> None:
    assert unstructured.without_nulls(value) == expected


@pytest.mark.parametrize(
    "value", [{"a": {"b": ["x", {"c": 1}]}, "d": "e"}, [], {}, ["a", [1]], 3, None]
)
def test_data_without_nulls_is_the_same_object(value: Any) -> None:
    assert unstructured.without_nulls(value) is value


def test_may_mention_finds_a_text_at_any_depth() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"spec": [deep]}
    assert unstructured.may_mention(
        {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}}, "kueue.x-k8s.io/"
    )
    assert not unstructured.may_mention(
        {"metadata": {"labels": {"app": "kueue"}}}, "kueue.x-k8s.io/"
    )
    assert unstructured.may_mention(deep, "kueue.x-k8s.io/"), "too deep to tell"


DATA = {"spec": {"args": ["a", "b"], "command": None, "env": ({"name": "A"},)}, 1: "one"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), DATA),
        (("spec", "args", 1), "b"),
        (("spec", "env", 0, "name"), "A"),
        (("spec", "command"), None),
        ((1,), "one"),
    ],
)
def test_existing_values_are_found(path: tuple[str | int, ...], value: Any) -> None:
    assert get(DATA, path, MISSING) == value
    assert has(DATA, path)


@pytest.mark.parametrize(
    "path",
    [
        ("metadata",),
        ("spec", "args", 2),
        ("spec", "args", -1),
        ("spec", "args", "0"),
        ("spec", "args", 0, 0),
        ("spec", "command", "x"),
        ("spec", 0),
    ],
)
def test_missing_values_are_not_found(path: tuple[str | int, ...]) -> None:
    assert get(DATA, path) is None
    assert get(DATA, path, MISSING) is MISSING
    assert not has(DATA, path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("a",), {"b": {"c": 1, "d": {"e": 2}}, "f": {}}),
        (("b", "c"), {"a": 0, "b": {"d": {"e": 2}}, "f": {}}),
        (("b", "d", "e"), {"a": 0, "b": {"c": 1}, "f": {}}),  # a block that becomes empty goes too
        (("f", "g"), {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}),
        (("x",), {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}),
        (("a", "b"), {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}),
        ((), {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}),
    ],
)
def test_without_path_keeps_everything_else(
    path: tuple[str, ...], expected: dict[str, object]
) -> None:
    data = {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}
    assert unstructured.without_path(data, path) == expected
    assert data == {"a": 0, "b": {"c": 1, "d": {"e": 2}}, "f": {}}


def test_without_path_keeps_empty_blocks_of_some_names() -> None:
    data = {"spec": {"worker": {"replicas": 1}}}
    assert unstructured.without_path(data, ("spec", "worker", "replicas"), kept=("worker",)) == {
        "spec": {"worker": {}}
    }
