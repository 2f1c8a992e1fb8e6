"""Patches over plain data."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile.kubernetes.merging import merge

MERGES: dict[str, tuple[Any, Any, Any]] = {
    "a scalar replaces": ({"a": 1}, {"a": 2}, {"a": 2}),
    "fields missing from the patch are unchanged": ({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
    "mappings merge": ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
    "null removes": ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
    "null for a missing field changes nothing": ({"b": 2}, {"a": None}, {"b": 2}),
    "null in a new mapping is omitted": ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    "a list without names replaces": ({"command": ["a"]}, {"command": ["b"]}, {"command": ["b"]}),
    "containers by name (docs/facts/torchx.md#defects-of-torchx 5: nothing is dropped)": (
        {"containers": [{"name": "m", "image": "i", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "m", "env": [{"name": "B", "value": "2"}]}]},
        {"containers": [
            {"name": "m", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        ]},
    ),
    "another container is added": (
        {"containers": [{"name": "m"}]}, {"containers": [{"name": "s"}]},
        {"containers": [{"name": "m"}, {"name": "s"}]},
    ),
    "volumes by name (1.8 case 6: not twice)": (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]},
        {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]},
    ),
    "mounts by path, since one volume is mounted twice (7 case 9)": (
        {"volumeMounts": [{"name": "v", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "v", "mountPath": "/b"}, {"name": "v", "mountPath": "/a", "readOnly": True}]},
        {"volumeMounts": [{"name": "v", "mountPath": "/a", "readOnly": True}, {"name": "v", "mountPath": "/b"}]},
    ),
    "tolerations are added unless an equal one exists": (
        {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
    ),
    "a value replaces a source": (
        {"env": [{"name": "A", "valueFrom": {"x": 1}}]}, {"env": [{"name": "A", "value": "1"}]},
        {"env": [{"name": "A", "value": "1"}]},
    ),
    "a source replaces a value": (
        {"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "valueFrom": {"x": 1}}]},
        {"env": [{"name": "A", "valueFrom": {"x": 1}}]},
    ),
    "ports by number": (
        {"ports": [{"containerPort": 1}]}, {"ports": [{"containerPort": 1, "name": "p"}]},
        {"ports": [{"containerPort": 1, "name": "p"}]},
    ),
    "a mapping over a scalar": ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
    "a scalar over a mapping": ({"a": {"b": 2}}, {"a": 1}, {"a": 1}),
    "items without a name are added": ({"env": [{"value": "x"}]}, {"env": [{"value": "y"}]},
                                       {"env": [{"value": "x"}, {"value": "y"}]}),
}  # fmt: skip


@pytest.mark.parametrize("row", MERGES.values(), ids=MERGES)
def test_a_patch_is_merged_without_changing_either_side(row: tuple[Any, Any, Any]) -> None:
    base, patch, expected = copy.deepcopy(row)
    assert merge(base, patch) == expected
    assert (base, patch) == row[:2], "neither side is changed"


@pytest.mark.parametrize(
    "row", [row for name, row in MERGES.items() if "without a name" not in name]
)
def test_applying_a_patch_twice_changes_nothing(row: tuple[Any, Any, Any]) -> None:
    base, patch, _ = row
    once = merge(base, patch)
    assert merge(once, patch) == once
