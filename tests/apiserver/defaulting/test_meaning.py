"""What an absent field means, for comparisons of an object with another that has the field."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.defaulting.meaning import default_of, is_default
from ptcompile.kinds.model import NO_DEFAULTS

Json = dict[str, Any]

POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "spec": {"containers": {"main": {"image": "a:1", "resources": {"limits": {"cpu": "2"}}}}},
}
JOB: Json = {"apiVersion": "batch/v1", "kind": "Job", "spec": {}}
VOLCANO: Json = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {}}
PYTORCHJOB: Json = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {}}
SERVICE: Json = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": {"0": {"port": 80}}}}


@pytest.mark.parametrize(
    ("side", "path", "expected"),
    [
        (JOB, "metadata.namespace", "default"),
        (POD, "spec.dnsPolicy", "ClusterFirst"),
        (POD, "spec.serviceAccountName", "default"),
        (POD, "spec.hostNetwork", False),
        (POD, "spec.nodeName", NO_DEFAULTS),
        (JOB, "spec.dnsPolicy", NO_DEFAULTS),
        (JOB, "spec.backoffLimit", 6),
        (JOB, "spec.completionMode", "NonIndexed"),
        (VOLCANO, "spec.completionMode", NO_DEFAULTS),
        (JOB, "spec.suspend", False),
        (JOB, "spec.template.spec.containers.[main].imagePullPolicy", NO_DEFAULTS),
        (POD, "spec.containers.[main].imagePullPolicy", "IfNotPresent"),
        (POD, "spec.containers.[main].terminationMessagePolicy", "File"),
        (POD, "spec.containers.[main].resources.requests.cpu", "2"),
        (POD, "spec.containers.[main].resources.requests.memory", NO_DEFAULTS),
        (POD, "spec.containers.[main].resources.limits.cpu", NO_DEFAULTS),
        (POD, "spec.containers.[main].livenessProbe.failureThreshold", 3),
        (SERVICE, "spec.ports.[0].targetPort", 80),
        (SERVICE, "spec.ports.[0].protocol", "TCP"),
        (PYTORCHJOB, "spec.pytorchReplicaSpecs.Worker.replicas", 1),
    ],
)
def test_default_of_knows_the_default_of_a_path(side: Json, path: str, expected: Any) -> None:
    assert default_of(tuple(path.split(".")), side) == expected


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.volumes", [], True),
        ("spec.volumes", ["x"], False),
        ("spec.nodeSelector", {}, True),
        ("spec.other", {}, False),
        ("spec.other", [], False),
        ("spec.dnsPolicy", "ClusterFirst", True),
        ("spec.dnsPolicy", "Default", False),
        ("spec.containers.[main].livenessProbe", {"failureThreshold": 3}, False),
        ("spec.containers.[main].securityContext", {"privileged": False}, True),
        ("spec.containers.[main].securityContext", {"privileged": True}, False),
        ("spec.containers.[main].securityContext", {"privileged": False, "runAsUser": 0}, False),
        ("spec.hostPID", False, True),
        ("spec.hostPID", True, False),
    ],
)
def test_a_value_that_an_absent_field_means_is_its_default(
    path: str, value: Any, expected: bool
) -> None:
    assert is_default(tuple(path.split(".")), value, POD) is expected
