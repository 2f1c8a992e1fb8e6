"""Changes between two manifests, with list items matched by name instead of position."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.diagnostics import Path
from ptcompile.explainer.values import (
    changed_leaves,
    differences,
    identity,
    leaves,
    matches,
    option_name,
    path_parts,
    shown_leaves,
    shown_path,
    value_at,
)
from ptcompile.kubernetes.unstructured import MISSING

A, B, C = ({"name": name, "value": name.lower()} for name in "ABC")


def test_a_changed_leaf_has_its_new_value() -> None:
    base, new = {"env": [A, B, C]}, {"env": [{**B, "value": "x"}, A], "more": 1}
    assert dict(changed_leaves(base, new)) == {
        ("env", 1, "value"): "x",
        ("env", 2, "name"): MISSING,
        ("env", 2, "value"): MISSING,
    }
    assert dict(changed_leaves({"a": {"b": 1}}, {"a": 2})) == {("a", "b"): MISSING}


ROWS: list[tuple[str, Any, Any, list[str]]] = [
    # case, base, new, changed paths
    ("the same", {"a": 1}, {"a": 1}, []),
    ("another value", {"a": 1, "b": 2}, {"a": 1, "b": 3}, ["b"]),
    ("gone, with all below", {"a": {"x": 1, "y": {}}}, {}, ["a.x", "a.y"]),
    ("what is new is no change", {"a": 1}, {"a": 1, "b": 2}, []),
    ("another type", {"a": [1]}, {"a": {"x": 1}}, ["a.0"]),
    ("an item added first", {"env": [B]}, {"env": [A, B]}, []),
    ("the first item removed", {"env": [A, B]}, {"env": [B]}, ["env.0.name", "env.0.value"]),
    ("an item moved and changed", {"env": [A, B]}, {"env": [{**B, "value": "x"}, A]}, ["env.1.value"]),
    ("an item with another name", {"env": [A, B]}, {"env": [C, B]}, ["env.0.name", "env.0.value"]),
    ("only the name", {"tasks": [{"name": "a", "n": 1}]}, {"tasks": [{"name": "b", "n": 1}]}, ["tasks.0.name"]),
    ("options by name", {"command": ["t", "--a=1", "--b=2"]}, {"command": ["t", "--b=2"]}, ["command.1"]),
    ("an option's value", {"command": ["t", "--a=1"]}, {"command": ["t", "--x", "--a=2"]}, ["command.1"]),
    ("equal words, the first another", {"args": ["3", "3"]}, {"args": ["4", "3"]}, ["args.0"]),
    ("equal words, the last another", {"args": ["3", "3"]}, {"args": ["3", "4"]}, ["args.1"]),
    ("two of one name, by content", {"tolerations": [{"key": "a", "value": "x"}]},
     {"tolerations": [{"key": "a"}, {"key": "a", "value": "x"}]}, []),
    ("mounts by path", {"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
     {"volumeMounts": [{"name": "v", "mountPath": "/b"}]}, ["volumeMounts.0.name", "volumeMounts.0.mountPath"]),
    ("without a name, by content", {"envFrom": [{"x": {"r": 1}}, {"y": {"r": 2}}]}, {"envFrom": [{"y": {"r": 2}}]},
     ["envFrom.0.x.r"]),
    ("without a name, what another says instead",
     {"policies": [{"events": ["A"], "do": 1}, {"events": ["B"], "do": 2}]},
     {"policies": [{"events": ["A", "B"], "do": 2}]}, ["policies.0.do"]),
    ("without a name, split in two", {"policies": [{"events": ["A", "B"], "do": 2}]},
     {"policies": [{"events": ["A"], "do": 1}, {"events": ["B"], "do": 2}]}, []),
]  # fmt: skip


def changed_paths(base: Any, new: Any) -> list[Path]:
    return [path for path, _ in changed_leaves(base, new)]


@pytest.mark.parametrize(
    ("base", "new", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_new_value_has_its_changed_paths(base: Any, new: Any, expected: list[str]) -> None:
    assert [".".join(map(str, path)) for path in changed_paths(base, new)] == expected


DATA = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "--x=1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "env", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(DATA, DATA)
def test_any_data_has_all_of_its_paths(base: Any, new: Any) -> None:
    paths = [path for path, _ in leaves(base)]
    found = changed_paths(base, new)
    assert found == [path for path in paths if path in set(found)]  # in order, without duplicates
    assert not changed_paths(base, base)
    assert not list(differences(base, base))
    assert all(value_at(base, path) == value for path, value in leaves(base))
    assert changed_paths(base, MISSING) == paths


@pytest.mark.parametrize(
    ("item", "field", "expected"),
    [
        ({"mountPath": "/x", "name": "v"}, "volumeMounts", "/x"),
        ({"name": "v"}, "volumes", "v"),
        ({"key": "taint"}, "tolerations", "taint"),
        ({"kind": "Pod"}, "", "Pod"),
        ({"name": {"x": 1}}, "", None),
        ("--nnodes=4", "command", "--nnodes"),
        ("train.py", "command", "train.py"),
        ([1], "", None),
    ],
)
def test_each_item_has_its_identity(item: Any, field: str, expected: Any) -> None:
    assert identity(item, field) == expected


def test_differences_are_at_their_highest_place() -> None:
    before = {"a": 1, "env": [A, B], "old": {"x": 1}}
    after = {"a": 2, "env": [C, A], "new": {"y": 1}}
    assert list(differences(before, after)) == [
        (("a",), 1, 2),
        (("env", 0, "name"), "B", "C"),
        (("env", 0, "value"), "b", "c"),
        (("new",), MISSING, {"y": 1}),
        (("old",), {"x": 1}, MISSING),
    ]
    assert list(differences([A, B], [B])) == [((0,), A, MISSING)]


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("--a=1", "--a"),
        ("--a", "--a"),
        ("-a", None),
        ("a", None),
        ("", None),
        (3, None),
        (None, None),
        (["--a"], None),
    ],
)
def test_an_option_is_known_by_its_name(argument: Any, name: str | None) -> None:
    assert option_name(argument) == name


NESTED = {
    "spec": {
        "containers": [{"name": "main", "env": [{"name": "A", "value": "1"}]}, {"name": "other"}]
    }
}
VALUE = ("spec", "containers", 0, "env", 0, "value")


@pytest.mark.parametrize(
    ("query", "path", "begins", "contains"),
    [
        ("spec", VALUE, True, True),
        ("spec.containers[main].env.A", VALUE, True, True),
        ("spec.containers[0].env[0].value", VALUE, True, True),
        ("spec.containers[other]", VALUE, False, False),
        ("env.A", VALUE, False, True),
        ("value", VALUE, False, True),
        ("A.value", VALUE, False, True),
        ("value.more", VALUE, False, False),
        ("spec.containers.main.env.A.value", VALUE, True, True),
        ("spec.containers.main.env.A.value.x", VALUE, False, False),
        ("", VALUE, True, True),
        ("spec", ("spec",), True, True),
        ("spec.x", ("spec",), False, False),
    ],
)
def test_a_typed_path_is_the_beginning_of_a_path_or_anywhere_in_it(
    query: str, path: tuple[str | int, ...], begins: bool, contains: bool
) -> None:
    parts = path_parts(query)
    assert matches(parts, path, NESTED) is begins
    assert matches(parts, path, NESTED, anywhere=True) is contains


@given(st.dictionaries(st.sampled_from(["name", "env", "a/b"]), DATA, max_size=3))
def test_shown_leaves_have_the_paths_of_leaves(data: Any) -> None:
    described = list(shown_leaves(data))
    assert [(leaf.path, leaf.value) for leaf in described] == list(leaves(data))
    assert [leaf.shown for leaf in described] == [shown_path(leaf.path, data) for leaf in described]


def test_a_leaf_is_found_by_many_keys() -> None:
    (leaf, *_) = shown_leaves({"spec": {"env": [A]}})
    assert leaf.keys == ("env.name", "name", "env.A", "A", "spec.env", "env", ".spec", "spec")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("env", 0, "value"), "env[A].value"),
        (("env", 1), "env[1]"),  # two items have the name
        (("env", 2), "env[2]"),
        (("env", 3), "env[3]"),  # a number would look like an index
        (("env", 4), "env[4]"),
        (("ports", 0), "ports[0]"),
        (("a/b", "c"), "[a/b].c"),
    ],
)
def test_the_shown_path_of_an_item_has_its_name_if_it_is_unique(
    path: tuple[str | int, ...], shown: str
) -> None:
    env = [A, B, B, {"name": "7"}, {"value": "x"}]
    data = {"env": env, "ports": [{"containerPort": 80}], "a/b": {"c": 1}}
    assert shown_path(path, data) == shown
