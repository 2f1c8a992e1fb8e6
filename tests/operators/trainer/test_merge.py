"""docs/facts/trainer.md#what-is-built: runtimePatches are merged in list order, by the keys of strategic merge."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.trainer.merge import merge, patched

MOUNTS = [{"name": "a", "mountPath": "/1"}, {"name": "a", "mountPath": "/2"}]


@pytest.mark.parametrize(
    ("field", "base", "patch", "expected"),
    [
        (
            "env",
            [{"name": "A", "value": "1"}, {"name": "B"}],
            [{"name": "A", "value": "2"}],
            [{"name": "A", "value": "2"}, {"name": "B"}],
        ),
        ("containers", [{"name": "a", "image": "x"}], [{"name": "b"}], [{"name": "a", "image": "x"}, {"name": "b"}]),
        ("volumeMounts", MOUNTS, [{"name": "b", "mountPath": "/2"}], [MOUNTS[0], {"name": "b", "mountPath": "/2"}]),
        ("tolerations", [{"key": "a"}], [{"key": "b"}], [{"key": "b"}]),
        ("nodeSelector", {"a": "1", "b": "2"}, {"b": "3"}, {"a": "1", "b": "3"}),
        ("nodeSelector", {"a": "1"}, {"a": None}, {"a": "1"}),
        ("x", 1, 2, 2),
    ],
)
def test_merge(field: str, base: Any, patch: Any, expected: Any) -> None:
    assert merge(base, patch, field) == expected


def test_later_patches_win_and_nothing_is_changed() -> None:
    runtime = {"spec": {"template": {"metadata": {"labels": {"l": "0"}}}}}
    patches = [{"trainingRuntimeSpec": {"template": {"metadata": {"labels": {"l": n}}}}} for n in "12"]
    assert patched(runtime, {"spec": {"runtimePatches": patches}}) == {"metadata": {"labels": {"l": "2"}}}
    assert runtime["spec"]["template"]["metadata"]["labels"] == {"l": "0"}
