"""A bare pod: its name in DNS, its reading by import, and its live status."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.index import Objects
from ptcompile.operators.pod.facts import status
from ptcompile.operators.pod.pods import read
from ptcompile.operators.table import expand

Json = dict[str, Any]


def _pod(**spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "i:1"}], **spec},
    }


SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "net"},
    "spec": {"clusterIP": "None", "selector": {"app": "a"}},
}


@pytest.mark.parametrize(
    ("spec", "others", "dns"),
    [
        ({"hostname": "h", "subdomain": "net"}, (SERVICE,), "h.net.default.svc.cluster.local"),
        ({"hostname": "h", "subdomain": "net"}, (), None),
        ({"subdomain": "net"}, (SERVICE,), None),
        ({"hostname": "h"}, (SERVICE,), None),
        ({}, (SERVICE,), None),
    ],
)
def test_a_pod_has_a_record_with_hostname_subdomain_and_service(
    spec: Json, others: tuple[Json, ...], dns: str | None
) -> None:
    """Kubernetes 1.36, DNS for Services and pods."""
    (pod,) = expand(_pod(**spec), related=others).pods
    assert pod.dns == dns
    assert (pod.hostname, pod.subdomain) == (spec.get("hostname"), spec.get("subdomain"))


def test_a_pod_is_read_as_one_node() -> None:
    (reading,) = read(_pod(activeDeadlineSeconds=60), Objects())
    (role,) = reading.pods
    assert (role.role, role.replicas, role.restart) == ("node", 1, "Always")
    assert reading.fields["nodes"] == 1
    assert reading.fields["runPolicy"] == {"activeDeadlineSeconds": 60}
    assert "activeDeadlineSeconds" not in role.template["spec"]


def _scheduled(value: str, **fields: str) -> Json:
    return {"conditions": [{"type": "PodScheduled", "status": value, **fields}]}


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({}, ("created", None, None)),
        (
            _scheduled("False", reason="Unschedulable", message="0/3 nodes"),
            ("created", "Unschedulable", "0/3 nodes"),
        ),
        (_scheduled("False"), ("created", None, None)),
        (_scheduled("True", reason="x"), ("created", None, None)),
        (
            {"conditions": [{"type": "Ready", "status": "False", "reason": "x"}]},
            ("created", None, None),
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "disk"},
            ("failed", "Evicted", "disk"),
        ),
        ({"phase": "Failed", "reason": "Evicted"}, ("failed", "Evicted", None)),
        ({"phase": "Succeeded"}, ("succeeded", None, None)),
        ({"phase": "Running"}, ("running", None, None)),
        ({"phase": "Unknown"}, ("running", "NodeLost", None)),
    ],
)
def test_the_phase_of_a_pod_is_its_status(
    live: Json, expected: tuple[str, str | None, str | None]
) -> None:
    assert status({**_pod(), "status": live}) == expected
