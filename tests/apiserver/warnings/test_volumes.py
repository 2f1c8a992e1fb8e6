"""Warnings about volumes: removed plugins, overlapping paths (Kubernetes 1.36, pkg/api/pod/warnings.go)."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.warnings.volumes import _earliest_relatives
from tests.apiserver.warnings.conftest import Warned

MAIN = {"name": "main", "image": "i"}


def items(*paths: str) -> list[dict[str, str]]:
    return [{"key": f"k{index}", "path": path} for index, path in enumerate(paths)]


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"emptyDir": {}}, []),
        ({"glusterfs": None}, []),
        (
            {"glusterfs": {}},
            ["spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+"],
        ),
        (
            {"cephfs": {"monitors": ["a"]}},
            ["spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+"],
        ),
        (
            {"storageos": {}},
            ["spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"],
        ),
        (
            {"gitRepo": {"repository": "r"}},
            ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
        ),
        (
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"resources": {"requests": {"storage": "200m"}}}
                    }
                }
            },
            [
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "
                '"200m" is invalid, must be an integer'
            ],
        ),
        ({"configMap": {"name": "c", "items": items("a", "b/c")}}, []),
        (
            {"configMap": {"name": "c", "items": items("a", "a/b")}},
            ['volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"'],
        ),
        (
            {"secret": {"secretName": "s", "items": items("a/b", "a")}},
            ['volume "v" (Secret "s"): overlapping paths: "a" with "a/b"'],
        ),
        (
            {"downwardAPI": {"items": items("a", "a/")}},
            ['volume "v" (DownwardAPI): overlapping paths: "a" with "a"'],
        ),
        ({"configMap": {"name": "c", "items": items("a", "ab")}}, []),
        (
            {
                "projected": {
                    "sources": [
                        {"configMap": {"name": "c", "items": items("token")}},
                        {"serviceAccountToken": {"path": "token"}},
                    ]
                }
            },
            [
                'volume "v" (Projected): overlapping paths: "token" (ServiceAccountToken) with "token" (ConfigMap "c")'
            ],
        ),
        ({"projected": {"sources": [{}]}}, ['volume "v" (Projected) has no sources provided']),
    ],
)
def test_volumes_of_removed_or_deprecated_plugins_are_warned_about(
    warned: Warned, volume: dict[str, Any], expected: list[str]
) -> None:
    assert (
        warned("v1", "Pod", {"spec": {"containers": [MAIN], "volumes": [{"name": "v", **volume}]}})
        == expected
    )


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"gitRepo": {"repository": "r"}}, ["spec.volumes[0].gitRepo: deprecated in v1.11"]),
        ({"configMap": {"name": "c", "items": items("a", "a")}}, []),
    ],
)
def test_before_1_33_volumes_get_fewer_warnings(
    warned: Warned, volume: dict[str, Any], expected: list[str]
) -> None:
    fields = {"spec": {"containers": [MAIN], "volumes": [{"name": "v", **volume}]}}
    assert warned("v1", "Pod", fields, "1.32") == expected


def test_many_paths_take_little_time(warned: Warned) -> None:
    paths = [f"{'a/' * 50}{index}" for index in range(5000)] + ["b" + "/b" * 100_000]
    volume = {"name": "v", "configMap": {"name": "c", "items": items(*paths, "a")}}
    assert warned("v1", "Pod", {"spec": {"containers": [MAIN], "volumes": [volume]}}) == [
        f'volume "v" (ConfigMap "c"): overlapping paths: "a" with "{paths[0][:80]}..."'
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], []),
        (["a", "b", ""], [0, 1, 2]),
        (["a/b", "a/c", "a"], [0, 1, 0]),
        (["a", "a/b", "a/b/c", "ab"], [0, 0, 0, 3]),
        (["a/b/c", "x", "a/b", "a"], [0, 1, 0, 0]),
        (["x", "a", "a", "a"], [0, 1, 1, 1]),
    ],
)
def test_the_first_path_that_overlaps_is_found(paths: list[str], expected: list[int]) -> None:
    assert [
        min(index, relative) for index, relative in enumerate(_earliest_relatives(paths))
    ] == expected


@pytest.mark.parametrize(("kubernetes", "disabled"), [("1.32", False), ("1.33", True)])
def test_git_volumes_are_disabled_since_1_33(
    warned: Warned, kubernetes: str, disabled: bool
) -> None:
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "gitRepo": {"repository": "r"}}],
    }
    texts = [text for text in warned("v1", "Pod", {"spec": spec}, kubernetes) if "gitRepo" in text]
    assert [text.endswith("and disabled by default in v1.33+") for text in texts] == [disabled]
