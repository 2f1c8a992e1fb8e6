"""Values just inside and just outside of what kube-apiserver 1.36 accepts: autoscaling, apps, devices, batch, core."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.validation.cron_job import why_not_time_zone
from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages
from tests.differ.applying.test_updates import changed

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
EXTERNAL = {
    "type": "External",
    "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}},
}
PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}},
}
POLICY = {"type": "Pods", "value": 1, "periodSeconds": 1800}
SCALER = {
    "scaleTargetRef": TARGET,
    "maxReplicas": 2,
    "metrics": [EXTERNAL, PODS],
    "behavior": {"scaleUp": {"policies": [POLICY]}},
}
REQUEST = {
    "name": "r",
    "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 1},
}
GOOD = {
    "daemon": kind("apps/v1", "DaemonSet", spec=WORKLOAD),
    "stateful": kind("apps/v1", "StatefulSet", spec={**WORKLOAD, "serviceName": "s"}),
    "scaler": kind("autoscaling/v2", "HorizontalPodAutoscaler", spec=SCALER),
    "claim": kind("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [REQUEST]}}),
    "class": kind("resource.k8s.io/v1", "DeviceClass", spec={"extendedResourceName": "example.com/gpu"}),
    "cron": kind("batch/v1", "CronJob", spec={"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {
        "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}}}),
}  # fmt: skip
ROLLING = "spec.updateStrategy.rollingUpdate"
EXACTLY = "spec.devices.requests.0.exactly"
AT_EXACTLY = "spec.devices.requests[0].exactly"
SCALE_UP, AT_SCALE_UP = "spec.behavior.scaleUp.policies.0", "spec.behavior.scaleUp.policies[0]"
TOLERATION = {"key": "a", "operator": "Exists"}
ROWS: list[Row] = [
    ("daemon", "spec.updateStrategy", {"type": "OnDelete"}, ""),
    (
        "daemon",
        "spec.updateStrategy",
        {"type": "Some"},
        "spec.updateStrategy.type: Unsupported value",
    ),
    ("daemon", ROLLING, {"maxSurge": 1, "maxUnavailable": 0}, ""),
    ("daemon", ROLLING, {"maxSurge": 1}, f"{ROLLING}.maxSurge: Invalid value"),
    ("daemon", ROLLING, {"maxSurge": 0, "maxUnavailable": 1}, ""),
    (
        "daemon",
        ROLLING,
        {"maxSurge": 0, "maxUnavailable": 0},
        f"{ROLLING}.maxUnavailable: Required value",
    ),
    ("stateful", "spec.serviceName", "A", "spec.serviceName: Invalid value"),
    ("stateful", "spec.podManagementPolicy", "Parallel", ""),
    ("stateful", "spec.podManagementPolicy", "Some", "spec.podManagementPolicy: Invalid value"),
    ("scaler", "spec.scaleTargetRef.name", "", "spec.scaleTargetRef.name: Required value"),
    ("scaler", "spec.scaleTargetRef.name", None, "spec.scaleTargetRef.name: Required value"),
    ("scaler", "spec.scaleTargetRef.kind", "a/b", "spec.scaleTargetRef.kind: Invalid value"),
    ("scaler", "spec.maxReplicas", 0, "spec.maxReplicas: Invalid value"),
    ("scaler", "spec.maxReplicas", 1, ""),
    ("scaler", "spec.minReplicas", 3, "spec.maxReplicas: Invalid value"),
    (
        "scaler",
        "spec.metrics.0.external.target.averageValue",
        "1",
        "spec.metrics[0].external.target.value: Forbidden",
    ),
    (
        "scaler",
        "spec.metrics.1.pods.target.averageValue",
        "0",
        "spec.metrics[1].pods.target.averageValue: Required",
    ),
    (
        "scaler",
        "spec.metrics.1.pods.target.averageValue",
        None,
        "spec.metrics[1].pods.target.averageValue: Required",
    ),
    ("scaler", "spec.metrics.1.pods.target.value", "1", ""),
    ("scaler", f"{SCALE_UP}.periodSeconds", 1801, f"{AT_SCALE_UP}.periodSeconds: Invalid value"),
    ("scaler", f"{SCALE_UP}.periodSeconds", 0, f"{AT_SCALE_UP}.periodSeconds: Invalid value"),
    ("scaler", f"{SCALE_UP}.value", 0, f"{AT_SCALE_UP}.value: Invalid value"),
    ("scaler", f"{SCALE_UP}.type", "Some", f"{AT_SCALE_UP}.type: Unsupported value"),
    (
        "scaler",
        "spec.behavior.scaleUp.policies",
        [],
        "spec.behavior.scaleUp.policies: Required value",
    ),
    ("scaler", "spec.behavior.scaleUp.stabilizationWindowSeconds", 3600, ""),
    (
        "scaler",
        "spec.behavior.scaleUp.stabilizationWindowSeconds",
        3601,
        "spec.behavior.scaleUp.stabilizationWindow",
    ),
    ("claim", f"{EXACTLY}.count", 0, ""),  # 0 is the default, 1
    ("claim", f"{EXACTLY}.count", -1, f"{AT_EXACTLY}.count: Invalid value"),
    ("claim", f"{EXACTLY}.count", 2, ""),
    ("claim", EXACTLY, {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}, ""),
    (
        "claim",
        EXACTLY,
        {"deviceClassName": "g", "allocationMode": "All", "count": 1},
        f"{AT_EXACTLY}.count: Invalid",
    ),
    (
        "claim",
        EXACTLY,
        {"deviceClassName": "g", "allocationMode": "Some"},
        f"{AT_EXACTLY}.allocationMode",
    ),
    ("claim", f"{EXACTLY}.deviceClassName", "", f"{AT_EXACTLY}.deviceClassName: Required value"),
    ("claim", f"{EXACTLY}.deviceClassName", "A", f"{AT_EXACTLY}.deviceClassName: Invalid value"),
    ("claim", f"{EXACTLY}.tolerations", [TOLERATION], ""),
    (
        "claim",
        f"{EXACTLY}.tolerations",
        [{**TOLERATION, "key": "a b"}],
        f"{AT_EXACTLY}.tolerations[0].key: Invalid",
    ),
    ("claim", f"{EXACTLY}.selectors", [{"cel": {"expression": "device.driver == 'a'"}}] * 32, ""),
    (
        "claim",
        f"{EXACTLY}.selectors",
        [{"cel": {"expression": "true"}}] * 33,
        f"{AT_EXACTLY}.selectors: Too many",
    ),
    (
        "claim",
        f"{EXACTLY}.selectors",
        [{"cel": {"expression": "1"}}],
        f"{AT_EXACTLY}.selectors[0].cel.expression",
    ),
    ("class", "spec.extendedResourceName", "gpu", "spec.extendedResourceName: Invalid value"),
    (
        "class",
        "spec.extendedResourceName",
        "example.com/a b",
        "spec.extendedResourceName: Invalid value",
    ),
    ("cron", "spec.timeZone", "Europe/Berlin", ""),
    ("cron", "spec.timeZone", "", "spec.timeZone: Invalid value"),
    ("cron", "spec.timeZone", "Local", "spec.timeZone: Invalid value"),
    ("cron", "spec.concurrencyPolicy", "Some", "spec.concurrencyPolicy: Unsupported value"),
    ("cron", "spec.successfulJobsHistoryLimit", 0, ""),
    (
        "cron",
        "spec.successfulJobsHistoryLimit",
        -1,
        "spec.successfulJobsHistoryLimit: Invalid value",
    ),
    ("cron", "spec.startingDeadlineSeconds", -1, "spec.startingDeadlineSeconds: Invalid value"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}"[:80])
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


@pytest.mark.parametrize(("kubernetes", "expected"), [("1.33", 0), ("1.34", 1), ("1.35", 1)])
def test_the_service_name_of_a_stateful_set_is_a_label_since_1_34(
    kubernetes: str, expected: int
) -> None:
    assert len(messages(changed(GOOD["stateful"], "spec.serviceName", "A"), kubernetes)) == expected


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("UTC", True),
        ("Europe/Berlin", True),
        ("", False),
        ("Local", False),
        ("local", False),
        ("../x", False),
    ],
)
def test_only_names_of_time_zones_are_accepted(name: str, valid: bool) -> None:
    assert (why_not_time_zone(name) is None) is valid


MEBI = 2**20


@pytest.mark.parametrize(
    ("data", "text", "valid"),
    [
        ({"a": MEBI}, {}, True),
        ({"a": MEBI + 1}, {}, False),
        ({"a": MEBI // 2, "b": MEBI // 2}, {}, True),
        ({"a": MEBI // 2, "b": MEBI // 2 + 1}, {}, False),
        ({"a": MEBI // 2}, {"b": MEBI // 2}, True),
        ({"a": MEBI // 2}, {"b": MEBI // 2 + 1}, False),
        ({"a": MEBI}, {"a": MEBI}, True),  # stringData replaces the key
    ],
)
def test_a_secret_has_at_most_a_mebibyte(
    data: dict[str, int], text: dict[str, int], valid: bool
) -> None:
    encoded = {key: base64.b64encode(b"x" * size).decode() for key, size in data.items()}
    manifest = kind(
        "v1", "Secret", data=encoded, stringData={key: "x" * size for key, size in text.items()}
    )
    assert any(message.startswith("data: Too long") for message in messages(manifest)) is not valid


VOLUME = kind("v1", "PersistentVolume", spec={
    "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "nfs": {"server": "s", "path": "/x"},
})  # fmt: skip


@pytest.mark.parametrize(
    ("manifest", "path", "value", "expected"),
    [
        (VOLUME, "spec.nfs.path", "/y", ["spec.nfs"]),
        (VOLUME, "spec.capacity.storage", "2Gi", []),
        (VOLUME, "spec.mountOptions", ["ro"], []),
        (GOOD["stateful"], "spec.replicas", 3, []),
        (GOOD["stateful"], "spec.serviceName", "t", ["spec"]),
        (GOOD["stateful"], "spec.podManagementPolicy", "Parallel", ["spec"]),
        (GOOD["stateful"], "spec.template.spec.containers.0.image", "j", []),
        (GOOD["daemon"], "spec.selector.matchLabels", {"a": "b", "c": "d"}, None),
    ],
)
def test_updates_of_immutable_fields_are_rejected(
    manifest: Any, path: str, value: Any, expected: list[str] | None
) -> None:
    report = ptcompile.diff(manifest, changed(manifest, path, value))
    diagnostics = [d for d in report.diagnostics if d.stage == "apply" and d.severity == "error"]
    if expected is None:
        assert diagnostics
    else:
        assert [".".join(map(str, d.path)) for d in diagnostics] == expected
    assert all(d.message.rpartition(": ")[2] for d in diagnostics)
