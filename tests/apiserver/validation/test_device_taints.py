"""DeviceTaintRule, as kube-apiserver 1.36 validates it."""

from __future__ import annotations

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind

GOOD = {
    "taints": kind(
        "resource.k8s.io/v1beta2",
        "DeviceTaintRule",
        spec={"deviceSelector": {"driver": "d.io"}, "taint": {"key": "a", "effect": "NoExecute"}},
    ),
}
ROWS: list[Row] = [
    ("taints", "spec.deviceSelector", {}, ""),
    ("taints", "spec.deviceSelector.driver", "", "spec.deviceSelector.driver: Required value"),
    ("taints", "spec.deviceSelector.pool", "a/b", ""),
    ("taints", "spec.deviceSelector.pool", "a//b", "spec.deviceSelector.pool: Invalid value"),
    ("taints", "spec.deviceSelector.pool", "", "spec.deviceSelector.pool: Required value"),
    ("taints", "spec.deviceSelector.pool", "a" * 254, "spec.deviceSelector.pool: Too long"),
    ("taints", "spec.deviceSelector.device", "D", "spec.deviceSelector.device: Invalid value"),
    ("taints", "spec.taint.key", "a b", "spec.taint.key: Invalid value"),
    ("taints", "spec.taint.value", "a b", "spec.taint.value: Invalid value"),
    ("taints", "spec.taint.effect", "None", ""),
    ("taints", "spec.taint.effect", "x", "spec.taint.effect: Unsupported value"),
    ("taints", "spec.taint.effect", "", "spec.taint.effect: Required value"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}"[:60])
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)
