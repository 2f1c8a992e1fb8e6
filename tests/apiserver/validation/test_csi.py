"""CSIDriver and VolumeAttachment, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages, rejected_fields
from tests.differ.applying.test_updates import changed

GROUP = "storage.k8s.io/v1"
CSI = {"csi": {"driver": "d.io", "volumeHandle": "h"}, "accessModes": ["ReadWriteOnce"]}
GOOD = {
    "driver": kind(
        GROUP, "CSIDriver", spec={"tokenRequests": [{"audience": "a", "expirationSeconds": 600}]}
    ),
    "attachment": kind(
        GROUP,
        "VolumeAttachment",
        spec={"attacher": "d.io", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
    ),
    "inline": kind(
        GROUP,
        "VolumeAttachment",
        spec={"attacher": "d.io", "nodeName": "n", "source": {"inlineVolumeSpec": CSI}},
    ),
}
INLINE = "spec.source.inlineVolumeSpec"
ROWS: list[Row] = [
    ("driver", "metadata.name", "A.B", "metadata.name: Invalid value"),
    ("driver", "metadata.name", "a" * 64, ""),
    ("driver", "metadata.name", "a b", "metadata.name: Invalid value"),
    ("driver", "metadata.finalizers", ["x"], "metadata.finalizers[0]: Invalid value"),
    ("driver", "spec.fsGroupPolicy", "x", "spec.fsGroupPolicy: Unsupported value"),
    (
        "driver",
        "spec.volumeLifecycleModes",
        ["Persistent", "x"],
        "spec.volumeLifecycleModes[1]: Unsupported value",
    ),
    (
        "driver",
        "spec.tokenRequests.0.expirationSeconds",
        599,
        "spec.tokenRequests[0].expirationSeconds: Invalid value",
    ),
    (
        "driver",
        "spec.tokenRequests.0.expirationSeconds",
        2**32 + 1,
        "spec.tokenRequests[0].expirationSeconds: Invalid",
    ),
    (
        "driver",
        "spec.tokenRequests",
        [{"audience": "a"}, {"audience": "a"}],
        "spec.tokenRequests[1].audience: Dupli",
    ),
    (
        "driver",
        "spec.nodeAllocatableUpdatePeriodSeconds",
        9,
        "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value",
    ),
    (
        "driver",
        "spec",
        {"serviceAccountTokenInSecrets": False},
        "spec.serviceAccountTokenInSecrets: Invalid value",
    ),
    ("attachment", "spec.attacher", "", "spec.attacher: Required value"),
    ("attachment", "spec.nodeName", "", "spec.nodeName: Invalid value"),
    ("attachment", "spec.source", {}, "spec.source: Required value: must specify exactly one of"),
    ("attachment", INLINE, CSI, "spec.source: Forbidden: must specify exactly one of"),
    (
        "attachment",
        "spec.source.persistentVolumeName",
        "",
        "spec.source.persistentVolumeName: Required value: must",
    ),
    (
        "attachment",
        "spec.source.persistentVolumeName",
        "A",
        "spec.source.persistentVolumeName: Invalid value",
    ),
    ("inline", f"{INLINE}.storageClassName", "", ""),
    (
        "inline",
        f"{INLINE}.storageClassName",
        "s",
        "spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be",
    ),
    (
        "inline",
        f"{INLINE}.capacity",
        {"storage": "1"},
        "spec.source.inlineVolumeSpec.capacity: Forbidden",
    ),
    (
        "inline",
        f"{INLINE}.nodeAffinity",
        {},
        "spec.source.inlineVolumeSpec.nodeAffinity: Forbidden",
    ),
    (
        "inline",
        f"{INLINE}.accessModes",
        [],
        "spec.source.inlineVolumeSpec.accessModes: Required value",
    ),
    (
        "inline",
        INLINE,
        {**CSI, "csi": None},
        "spec.source.inlineVolumeSpec.csi: Required value: has to be specified",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}")
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


def test_older_servers_drop_newer_fields_of_a_driver() -> None:
    (message,) = messages(
        changed(GOOD["driver"], "spec.nodeAllocatableUpdatePeriodSeconds", 9), "1.34"
    )
    assert "drops this field: the feature gate MutableCSINodeAllocatableCount is beta" in message


@pytest.mark.parametrize(
    ("name", "path", "value", "expected"),
    [
        ("driver", "spec.attachRequired", False, ["spec.attachRequired"]),
        ("driver", "spec.fsGroupPolicy", "File", []),
        ("attachment", "spec.nodeName", "m", ["spec"]),
    ],
)
def test_updates_of_immutable_fields_are_rejected(
    name: str, path: str, value: Any, expected: list[str]
) -> None:
    assert rejected_fields(GOOD[name], path, value) == expected
