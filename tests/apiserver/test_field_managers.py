"""Server-side apply: which fields of a live object stay, and which of them conflict.

Source: structured-merge-diff 6 and https://kubernetes.io/docs/reference/using-api/server-side-apply/ (1.36).
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.managed_fields import (
    as_patched,
    as_stored,
    conflicts,
    fields_of,
    keyed_fields,
    managers,
    merge,
    null_fields,
    united,
)
from ptcompile.apiserver.server_side_apply import REMOVED, merge_by_schema

Json = dict[str, Any]


def _entry(manager: str, fields: Json, operation: str = "Apply", **more: Any) -> Json:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "v1",
        "fieldsV1": fields,
        **more,
    }


def _config(data: Json, *entries: Json) -> Json:
    metadata = {"name": "a", "uid": "1", "managedFields": list(entries)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _file(data: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def _data(*keys: str) -> Json:
    return {"f:data": {f"f:{key}": {} for key in keys}}


@pytest.mark.parametrize(
    ("manager", "operation", "is_own"),
    [
        ("kubectl", "Apply", True),
        ("kubectl", "Update", False),
        ("kubectl-client-side-apply", "Update", True),
        ("kubectl-edit", "Update", False),
        ("controller", "Apply", False),
    ],
)
def test_the_managers_that_are_kubectl_apply(manager: str, operation: str, is_own: bool) -> None:
    (found,) = managers(
        _config({}, _entry(manager, {}, operation), _entry("x", {}, subresource="status"))
    )
    assert (found.name, found.version, found.is_own) == (manager, "v1", is_own)


@pytest.mark.parametrize(
    ("entries", "file", "expected"),
    [
        # a field of ours that the file no longer has is removed
        ([_entry("kubectl", _data("a", "b"))], {"a": "1"}, {"a": "1", "c": "3"}),
        # unless another manager has it too
        (
            [_entry("kubectl", _data("a", "b")), _entry("other", _data("b"))],
            {"a": "1"},
            {"a": "1", "b": "2", "c": "3"},
        ),
        ([_entry("other", _data("a", "b", "c"))], {"a": "9"}, {"a": "9", "b": "2", "c": "3"}),
        ([], {"a": "9"}, {"a": "9", "b": "2", "c": "3"}),
        ([_entry("kubectl", _data("a", "b", "c"))], {}, {}),
    ],
)
def test_an_apply_keeps_the_fields_of_other_managers(
    entries: list[Json], file: Json, expected: Json
) -> None:
    merged = merge(_config({"a": "1", "b": "2", "c": "3"}, *entries), _file(file))
    assert merged.get("data", {}) == expected
    assert merged["metadata"]["uid"] == "1"


def _pod(*containers: Json, own: list[str] | None = None) -> Json:
    items: Json = {
        f'k:{{"name":"{name}"}}': {".": {}, "f:name": {}, "f:image": {}} for name in own or ()
    }
    fields = {"f:spec": {"f:containers": items}} if own else {}
    metadata = {"name": "a", "managedFields": [_entry("kubectl", fields)] if own else []}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": list(containers)},
    }


A, B, C = ({"name": name, "image": f"{name}:1"} for name in "abc")


@pytest.mark.parametrize(
    ("live", "file", "names"),
    [
        (_pod(A, B, own=["a", "b"]), _pod(A), ["a"]),
        (_pod(A, B, own=["a"]), _pod(A), ["a", "b"]),
        (_pod(A, B, own=["a"]), _pod(A, C), ["a", "b", "c"]),
        (_pod(A, B, own=["a", "b"]), _pod(C), ["c"]),
        (_pod(A, B), _pod(C), ["a", "b", "c"]),
    ],
)
def test_items_of_a_list_are_merged_by_their_keys(live: Json, file: Json, names: list[str]) -> None:
    merged = merge(live, {**file, "metadata": {"name": "a"}})
    assert [item["name"] for item in merged["spec"]["containers"]] == names


@pytest.mark.parametrize(
    ("file", "paths"),
    [
        ({"a": "1", "b": "2"}, []),
        ({"a": "9", "b": "2"}, [("data", "a")]),
        ({"c": "9"}, []),
        ({"d": "9"}, []),
    ],
)
def test_a_changed_field_of_another_manager_is_a_conflict(
    file: Json, paths: list[tuple[str, ...]]
) -> None:
    live = _config(
        {"a": "1", "b": "2", "c": "3"},
        _entry("other", _data("a", "b")),
        _entry("kubectl", _data("c")),
    )
    problems = list(conflicts(live, _file(file)))
    assert [problem.path for problem in problems] == paths
    assert all('conflict with "other" using v1' in problem.message for problem in problems)


def test_conflicts_inside_of_items_are_found_by_key() -> None:
    key = 'k:{"name":"a"}'
    live = _pod(A, B)
    live["metadata"]["managedFields"] = [
        _entry("other", {"f:spec": {"f:containers": {key: {"f:image": {}}}}})
    ]
    changed = _pod({**A, "image": "a:2"}, {**B, "image": "b:2"})
    assert [problem.path for problem in conflicts(live, changed)] == [
        ("spec", "containers", 0, "image")
    ]
    assert not list(conflicts(live, _pod({**B, "image": "b:2"}, A)))


def test_an_atomic_mapping_conflicts_as_a_whole() -> None:
    live = {**_config({}), "spec": {"selector": {"a": "b"}}}
    live["metadata"]["managedFields"] = [_entry("other", {"f:spec": {"f:selector": {}}})]
    file = {**_file({}), "spec": {"selector": {"a": "c"}}}
    assert [problem.path[:2] for problem in conflicts(live, file)][:1] == [("spec", "selector")]
    assert not list(conflicts(live, {**file, "spec": {"selector": {"a": "b"}}}))
    assert merge(live, file)["spec"]["selector"] == {"a": "c"}


def test_the_server_drops_some_fields_of_a_file() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"x": "eA=="},
        "stringData": {"a": "b"},
        "type": None,
    }
    assert as_stored(secret) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"x": "eA==", "a": "Yg=="},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "stringData": {"a": "b"}}
    assert as_stored(config) == config


def test_a_patch_has_no_nulls() -> None:
    assert as_patched({"a": [None, {"b": None}], "c": None}) == {"a": [{}]}


def test_the_fields_of_a_file_form_a_tree() -> None:
    assert fields_of({"a": {"b": 1}}, {}) == {".": {}, "f:a": {".": {}, "f:b": {}}}
    items: Json = {'k:{"name":"a"}': {}}
    assert fields_of([A], items) == {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:image": {}}}
    assert fields_of([A], {}) == {}
    assert fields_of(["x"], {'v:"y"': {}}) == {'v:"x"': {}}
    assert null_fields({"a": None, "b": {"c": None, "d": 1}, "e": 1}) == {
        "f:a": {},
        "f:b": {"f:c": {}},
    }
    assert keyed_fields([A], "containers") == {
        ".": {},
        'k:{"name":"a"}': {".": {}, "f:name": {}, "f:image": {}},
    }
    assert keyed_fields([A], "args") == {}
    assert keyed_fields([{"image": "x"}], "containers") == {}
    assert united([{"a": {"b": {}}}, {"a": {"c": {}}, "d": {}}]) == {
        "a": {"b": {}, "c": {}},
        "d": {},
    }


def test_ports_without_a_protocol_are_tcp() -> None:
    fields: Json = {'k:{"containerPort":80,"protocol":"TCP"}': {}}
    assert list(fields_of([{"containerPort": 80}], fields)) == [
        'k:{"containerPort":80,"protocol":"TCP"}'
    ]


MAP_LIST: Json = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
    },
}
TEXTS: Json = {"type": "array", "items": {"type": "string"}}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "items": MAP_LIST,
        "texts": TEXTS,
        "nested": {"type": "object", "properties": {"a": {"type": "string"}}},
        "nullable": {"type": "string", "nullable": True},
        "defaulted": {"type": "string", "default": "x"},
    },
}
N = {"name": "a"}


@pytest.mark.parametrize(
    ("old", "new", "expected", "nulls"),
    [
        ({}, {"texts": ["a"]}, {"texts": ["a"]}, []),
        ({"items": [N]}, {"items": []}, REMOVED, []),
        ({}, {"items": []}, {"items": []}, []),
        ({"texts": ["a"]}, {"texts": []}, {"texts": []}, []),
        ({"nested": {"a": "b"}}, {"nested": None}, {"nested": {}}, []),
        ({}, {"nested": None}, {"nested": None}, [("nested",)]),
        ({"nested": {}}, {"nested": None}, {"nested": None}, [("nested",)]),
        ({"items": [N]}, {"items": None}, {"items": None}, []),
        ({"texts": ["a"]}, {"texts": None}, {"texts": None}, [("texts",)]),
        ({}, {"items": None}, {"items": None}, [("items",)]),
        ({}, {"nullable": None, "defaulted": None}, {"nullable": None, "defaulted": None}, []),
        ({}, {}, {}, []),
        ({}, {"unknown": None}, {"unknown": None}, []),
        (
            {"items": [{**N, "value": "b"}]},
            {"items": [{**N, "value": None}]},
            None,
            [("items", 0, "value")],
        ),
    ],
)
def test_nulls_and_empty_lists_of_custom_resources_are_merged(
    old: Json, new: Json, expected: Any, nulls: list[Any]
) -> None:
    owned: list[tuple[str | int, ...]] = []
    result = merge_by_schema(SCHEMA, "x.json", old, new, (), owned)
    assert owned == nulls
    assert expected is None or result is expected or result == expected
