"""Node, Event, APIService and other kinds of the cluster, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages, rejected_fields
from tests.differ.applying.test_updates import changed

POD = {"kind": "Pod", "name": "p", "namespace": "default"}
NEW_EVENT = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "a/b",
    "reportingInstance": "i",
    "action": "a",
    "reason": "r",
    "type": "Normal",
}
SERVICE = {"name": "s", "namespace": "n"}
API = {
    "group": "a.io",
    "version": "v1",
    "groupPriorityMinimum": 100,
    "versionPriority": 10,
    "service": SERVICE,
}
GOOD = {
    "node": kind(
        "v1",
        "Node",
        spec={
            "podCIDR": "10.0.0.0/24",
            "podCIDRs": ["10.0.0.0/24", "fd00::/64"],
            "providerID": "a://b",
        },
        status={"capacity": {"cpu": "1"}},
    ),
    "event": kind("v1", "Event", involvedObject=POD),
    "new-event": kind("events.k8s.io/v1", "Event", regarding=POD, **NEW_EVENT),
    "api": {
        **kind("apiregistration.k8s.io/v1", "APIService", spec=API),
        "metadata": {"name": "v1.a.io"},
    },
    "revision": kind("apps/v1", "ControllerRevision", data={}, revision=1),
}
TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}
TAINTED = "metadata.taints[0]"
ROWS: list[Row] = [
    ("node", "spec.taints", [TAINT, {**TAINT, "effect": "NoExecute"}], ""),
    (
        "node",
        "spec.taints",
        [TAINT, {**TAINT, "value": "c"}],
        "metadata.taints[1]: Duplicate value",
    ),
    ("node", "spec.taints", [{**TAINT, "key": ""}], f"{TAINTED}.key: Invalid value"),
    ("node", "spec.taints", [{**TAINT, "value": "a b"}], f"{TAINTED}.value: Invalid value"),
    ("node", "spec.taints", [{**TAINT, "effect": ""}], f"{TAINTED}.effect: Required value"),
    ("node", "spec.taints", [{**TAINT, "effect": "x"}], f"{TAINTED}.effect: Unsupported value"),
    (
        "node",
        "spec.podCIDRs",
        ["10.0.0.0/24", "10.0.1.0/24"],
        "spec.podCIDRs: Invalid value: [...]: may specify no more",
    ),
    ("node", "spec.podCIDRs", ["10.0.0.0/24", "x"], "spec.podCIDRs[1]: Invalid value"),
    ("node", "spec.podCIDRs", ["x"], ""),  # podCIDR differs from it, and wins
    ("node", "spec.podCIDR", "10.0.0.1/24", "spec.podCIDRs[0]: Invalid value"),
    ("node", "status.capacity.cpu", "-1", "status.capacity.cpu: Invalid value"),
    ("node", "status.capacity.pods", "1500m", "status.capacity.pods: Invalid value"),
    (
        "node",
        "status.allocatable",
        {"nvidia.com/gpu": "1500m"},
        "status.allocatable[nvidia.com/gpu]: Invalid value",
    ),
    ("node", "status.allocatable", {"cpu": "1500m", "kubernetes.io/x": "1500m"}, ""),
    ("event", "metadata.name", "Any_Name", ""),
    ("event", "metadata.name", "a/b", "metadata.name: Invalid value"),
    ("event", "metadata.finalizers", ["x"], ""),
    ("event", "involvedObject", {"kind": "Pod", "name": "p"}, ""),
    (
        "event",
        "metadata.namespace",
        "n",
        'involvedObject.namespace: Invalid value: "default": does not match',
    ),
    ("event", "eventTime", NEW_EVENT["eventTime"], "reportingComponent: Required value"),
    ("new-event", "metadata.name", "Any_Name", "metadata.name: Invalid value"),
    ("new-event", "metadata.finalizers", ["x"], "metadata.finalizers[0]: Invalid value"),
    (
        "new-event",
        "eventTime",
        "2026-01-01T00:00:00Z",
        "eventTime: must be a time",
    ),  # six digits of a fraction
    ("new-event", "eventTime", "2026-01-01T00:00:00.123Z", "eventTime: must be a time"),
    ("new-event", "eventTime", None, "eventTime: Required value"),
    ("new-event", "reportingController", "a b", "reportingController: Invalid value"),
    (
        "new-event",
        "reportingInstance",
        "i" * 129,
        'reportingInstance: Invalid value: "": can have at most 128',
    ),
    ("new-event", "action", "", "action: Required value"),
    (
        "new-event",
        "note",
        "n" * 1025,
        'message: Invalid value: "": can have at most 1024 characters',
    ),
    ("new-event", "type", "x", 'type: Invalid value: "": has invalid value: x'),
    ("new-event", "series", {"count": 1}, 'series.count: Invalid value: "": should be at least 2'),
    ("new-event", "series", {"count": 2}, "series.lastObservedTime: Required value"),
    ("new-event", "deprecatedCount", 1, 'count: Invalid value: "": needs to be unset'),
    (
        "new-event",
        "deprecatedSource",
        {"component": "c"},
        'source: Invalid value: "": needs to be unset',
    ),
    (
        "api",
        "metadata.name",
        "v2.a.io",
        'metadata.name: Invalid value: "v2.a.io": must be `spec.version+"."+spec.group`',
    ),
    (
        "api",
        "metadata",
        {"generateName": "v1."},
        'metadata.generateName: Invalid value: "v1.": must be `spec.version',
    ),
    ("api", "metadata.finalizers", ["x"], ""),
    (
        "api",
        "spec",
        {**API, "group": "", "version": "v2"},
        "spec.group: Required value: only v1 may have an empty",
    ),
    ("api", "spec.group", "A", "spec.group: Invalid value"),
    ("api", "spec.version", "", "spec.version: Invalid value"),
    (
        "api",
        "spec.groupPriorityMinimum",
        0,
        "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less",
    ),
    (
        "api",
        "spec.versionPriority",
        1001,
        "spec.versionPriority: Invalid value: 1001: must be positive and less",
    ),
    ("api", "spec.service.namespace", "", "spec.service.namespace: Required value"),
    ("api", "spec.service.port", 0, "spec.service.port: Invalid value: 0"),
    ("api", "spec.caBundle", "YQ==", ""),
    (
        "api",
        "spec",
        {**API, "caBundle": "YQ==", "insecureSkipTLSVerify": True},
        "spec.insecureSkipTLSVerify: Invalid",
    ),
    ("api", "spec", {**API, "service": None, "caBundle": "YQ=="}, "spec.caBundle: Invalid value"),
    (
        "api",
        "spec",
        {**API, "service": None, "insecureSkipTLSVerify": True},
        "spec.insecureSkipTLSVerify: Invalid",
    ),
    ("revision", "data", None, "data: Required value: data is mandatory"),
    ("revision", "data", "x", "data: must be of type object"),
    ("revision", "revision", -1, "revision: Invalid value: -1"),
    ("revision", "metadata.generation", -1, "metadata.generation: Invalid value: -1"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}"[:60])
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


def test_an_event_about_an_unknown_namespace_is_a_warning() -> None:
    (problem,) = validate(changed(GOOD["event"], "involvedObject.namespace", "n"))
    assert (problem.severity, problem.path) == ("warning", ("involvedObject", "namespace"))


@pytest.mark.parametrize(
    ("api_version", "name", "body"),
    [
        ("node.k8s.io/v1", "RuntimeClass", {"handler": "h"}),
        ("coordination.k8s.io/v1", "Lease", {}),
        ("policy/v1", "PodDisruptionBudget", {}),
    ],
)
def test_only_some_kinds_accept_finalizers_without_a_domain(
    api_version: str, name: str, body: dict[str, Any]
) -> None:
    plain = {**kind(api_version, name, **body), "metadata": {"name": "a", "finalizers": ["x"]}}
    assert messages(plain) == []
    assert (
        messages({**kind("v1", "ServiceAccount"), "metadata": {"name": "a", "finalizers": ["x"]}})
        != []
    )


@pytest.mark.parametrize(
    ("name", "path", "value", "expected"),
    [
        ("node", "spec.providerID", "c", ["spec.providerID"]),
        ("node", "spec.podCIDRs", ["10.0.0.0/24"], ["spec.podCIDRs"]),
        ("node", "spec.unschedulable", True, []),
        ("new-event", "reason", "x", ["reason"]),
        ("new-event", "series", {"count": 2, "lastObservedTime": NEW_EVENT["eventTime"]}, []),
    ],
)
def test_updates_of_immutable_fields_are_rejected(
    name: str, path: str, value: Any, expected: list[str]
) -> None:
    assert rejected_fields(GOOD[name], path, value) == expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("system-node-critical", 2000001000, []),
        ("system-cluster-critical", 2000000000, []),
        ("system-node-critical", 2000000000, ["metadata.name: Forbidden"]),
        ("system-other", 1, ["metadata.name: Forbidden"]),
        ("high", 1000000000, []),
        ("high", 1000000001, ["value: Forbidden"]),
    ],
)
def test_mistakes_in_priority_classes_are_rejected(
    name: str, value: int, expected: list[str]
) -> None:
    """Kubernetes 1.36, pkg/apis/scheduling/validation and v1/helpers.go."""
    manifest = {
        **kind("scheduling.k8s.io/v1", "PriorityClass", value=value),
        "metadata": {"name": name},
    }
    reported = messages(manifest)
    assert [
        message[: len(want)] for message, want in zip(reported, expected, strict=True)
    ] == expected


@pytest.mark.parametrize(
    ("port", "valid"), [(None, True), (1, True), (65535, True), (0, False), (65536, False)]
)
def test_the_port_of_an_api_service_is_checked(port: int | None, valid: bool) -> None:
    service = SERVICE if port is None else {**SERVICE, "port": port}
    reported = messages(changed(GOOD["api"], "spec.service", service))
    assert not reported if valid else "spec.service.port: Invalid value" in reported[0]


@pytest.mark.parametrize(("length", "valid"), [(128, True), (129, False)])
@pytest.mark.parametrize("field", ["reportingInstance", "action", "reason"])
def test_fields_of_an_event_have_at_most_128_bytes(field: str, length: int, valid: bool) -> None:
    assert bool(messages(changed(GOOD["new-event"], field, "a" * length))) is not valid
