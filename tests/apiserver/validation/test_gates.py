"""Fields and rules that depend on feature gates of the API server."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ptcompile.apiserver.validation as package
from ptcompile._internal.schema_files import load
from ptcompile.apiserver import validate
from ptcompile.apiserver.validation.context import FIELD_GATES
from ptcompile.kubernetes.versions import Versions, gates_of, stage_in

Manifest = dict[str, Any]

FOLDER = Path(package.__file__).parent
MINORS = range(30, 38)
CONTAINER: Manifest = {"name": "c", "image": "busybox"}
POD: Manifest = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "containers": [CONTAINER],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "os": {"name": "linux"},
    },
}
JOB: Manifest = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j"},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}},
}
CLAIM: Manifest = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
STATEFUL_SET: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "s"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}},
    },
}
AUTOSCALER: Manifest = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "a"},
    "spec": {
        "maxReplicas": 2,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "metrics": [
            {
                "type": "External",
                "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}},
            }
        ],
    },
}
REQUEST: Manifest = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
DEVICE_CLAIM: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {"devices": {"requests": [REQUEST]}},
}


def changed(manifest: Manifest, path: str, value: Any) -> Manifest:
    result = copy.deepcopy(manifest)
    node: Any = result
    *steps, last = path.split(".")
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    node[last] = value
    return result


def names(manifest: Manifest, minor: int, **gates: bool) -> list[tuple[str, str]]:
    versions = Versions(
        kubernetes=(1, minor), gates=tuple(("kubernetes", *gate) for gate in gates.items())
    )
    return [
        (problem.name, ".".join(map(str, problem.path)))
        for problem in validate(manifest, versions=versions)
    ]


DROPPED = [
    (POD, "spec.volumes.0.emptyDir.mode", 0o750, 37, "EmptyDirVolumeMode"),
    (POD, "spec.containers.0.lifecycle", {"stopSignal": "SIGTERM"}, 37, "ContainerStopSignals"),
    (POD, "spec.schedulingGroup", {"podGroupName": "g"}, 36, "GenericWorkload"),
    (
        POD,
        "spec.evictionResponders",
        [{"name": "acme.io/a", "priority": 5000}],
        37,
        "EvictionRequestAPI",
    ),
    (POD, "spec.resources", {"limits": {"cpu": "1"}}, 33, "PodLevelResources"),
    (POD, "spec.hostUsers", False, 32, "UserNamespacesSupport"),
    (POD, "spec.hostnameOverride", "a", 34, "HostnameOverride"),
    (JOB, "spec.scheduling", {"schedulingPolicy": {"basic": {}}}, 37, "WorkloadWithJob"),
    (JOB, "spec.managedBy", "acme.io/a", 31, "JobManagedBy"),
    (CLAIM, "spec.volumeAttributesClassName", "fast", 33, "VolumeAttributesClass"),
    (
        STATEFUL_SET,
        "spec.updateStrategy",
        {"rollingUpdate": {"maxUnavailable": 2}},
        36,
        "MaxUnavailableStatefulSet",
    ),
    (
        AUTOSCALER,
        "spec.behavior",
        {"scaleUp": {"tolerance": "0.1"}},
        34,
        "HPAConfigurableTolerance",
    ),
    (
        DEVICE_CLAIM,
        "spec.devices.requests.0.exactly.tolerations",
        [{"operator": "Exists"}],
        35,
        "DRADeviceTaints",
    ),
]


@pytest.mark.parametrize(("manifest", "path", "value", "minor", "gate"), DROPPED)
def test_a_field_whose_gate_is_off_is_reported_and_not_checked(
    manifest: Manifest, path: str, value: Any, minor: int, gate: str
) -> None:
    written = changed(manifest, path, value)
    ((name, place),) = names(written, minor)
    assert name == "gate-off"
    assert place.startswith(path)
    assert names(written, minor, **{gate: True}) == []
    assert names(manifest, minor) == []


def test_the_warning_names_the_gate_its_default_and_the_profile() -> None:
    pod = changed(POD, "spec.volumes.0.emptyDir.mode", 0o750)
    (problem,) = validate(pod, versions=Versions(kubernetes=(1, 37)))
    assert problem[:6] == (
        "gate-off",
        ("spec", "volumes", 0, "emptyDir", "mode"),
        "Kubernetes 1.37 drops this field: the feature gate EmptyDirVolumeMode is alpha and off by default",
        "remove it; if the cluster enables the gate, set spec.featureGates.kubernetes.EmptyDirVolumeMode to true in "
        "the profile",
        "warning",
        "run",
    )


def test_a_gate_that_the_profile_switches_off_is_named() -> None:
    pod = changed(
        POD,
        "spec.containers.0.resizePolicy",
        [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
    )
    versions = Versions(
        kubernetes=(1, 34), gates=(("kubernetes", "InPlacePodVerticalScaling", False),)
    )
    (problem,) = validate(pod, versions=versions)
    assert problem.message.endswith(
        "the feature gate InPlacePodVerticalScaling is switched off in the profile"
    )


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_an_unset_field_is_not_dropped(value: Any) -> None:
    assert names(changed(POD, "spec.evictionResponders", value), 37)[:1] not in [
        [("gate-off", "spec.evictionResponders")]
    ]


def test_the_server_decodes_a_field_before_it_drops_it() -> None:
    assert names(changed(POD, "spec.volumes.0.emptyDir.mode", "x"), 37) == [
        ("wrong-type", "spec.volumes.0.emptyDir.mode")
    ]


def test_a_source_in_another_namespace_is_dropped_as_a_whole() -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "a b", "namespace": "other"}
    (problem,) = validate(
        changed(CLAIM, "spec.dataSourceRef", source), versions=Versions(kubernetes=(1, 36))
    )
    assert problem.name == "gate-off"
    assert "drops the whole dataSourceRef" in problem.message


RULES = [
    (
        POD,
        "spec.tolerations",
        [{"key": "a", "operator": "Gt", "value": "5"}],
        37,
        "TaintTolerationComparisonOperators",
    ),
    (AUTOSCALER, "spec.minReplicas", 0, 36, "HPAScaleToZero"),
    (STATEFUL_SET, "spec.updateStrategy.type", "Recreate", 37, "StatefulSetRecreateStrategy"),
    (
        changed(POD, "spec.hostUsers", False),
        "spec.hostNetwork",
        True,
        37,
        "UserNamespacesHostNetworkSupport",
    ),
    (
        changed(POD, "spec.containers.0.restartPolicy", "Never"),
        "spec.containers.0.restartPolicyRules",
        [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}],
        35,
        "RestartAllContainersOnContainerExits",
    ),
]


@pytest.mark.parametrize(("manifest", "path", "value", "minor", "gate"), RULES)
def test_a_rule_follows_its_gate(
    manifest: Manifest, path: str, value: Any, minor: int, gate: str
) -> None:
    written = changed(manifest, path, value)
    assert names(written, minor) != []
    assert names(written, minor, **{gate: True}) == []


def test_a_dropped_group_forbids_no_responders() -> None:
    responders = changed(POD, "spec.evictionResponders", [{"name": "acme.io/a", "priority": 5000}])
    pod = changed(responders, "spec.schedulingGroup.podGroupName", "g")
    assert names(pod, 37, EvictionRequestAPI=True) == [("gate-off", "spec.schedulingGroup")]


def test_a_toleration_compares_whole_numbers() -> None:
    gates = {"TaintTolerationComparisonOperators": True}
    for value, expected in (
        ("950", []),
        ("-5", []),
        ("9.5", 1),
        ("07", 1),
        ("", 1),
        ("9223372036854775808", 1),
    ):
        written = changed(POD, "spec.tolerations", [{"key": "a", "operator": "Lt", "value": value}])
        assert len(names(written, 37, **gates)) == len(
            expected if isinstance(expected, list) else [expected]
        )


def test_an_autoscaler_from_zero_needs_a_metric_without_pods() -> None:
    written = changed(AUTOSCALER, "spec.minReplicas", 0)
    assert names(written, 37) == []
    assert names(changed(written, "spec.metrics", None), 37) == [
        ("forbidden-value", "spec.metrics")
    ]


def _rows() -> Iterator[tuple[str, int | None]]:
    """Yield the gates that field rules ask for, and the version since which they take each to be on."""
    yield from map(tuple, FIELD_GATES.values())
    for path in FOLDER.glob("*.py"):
        for gate, since in re.findall(
            r'has_gate\(\s*"(\w+)",\s*(\d+|None)', path.read_text(encoding="utf-8")
        ):
            yield gate, None if since == "None" else int(since)


@pytest.mark.parametrize("minor", MINORS)
def test_rules_and_schemas_know_the_default_of_each_gate(minor: int) -> None:
    for gate, since in [*_rows(), *_schema_gates()]:
        stage = stage_in("kubernetes", gate, (1, minor))
        assert (stage is not None and stage.default) == (since is not None and minor >= since), gate


def _schema_gates() -> Iterator[tuple[str, int | None]]:
    folder = Path(__file__).parents[3] / "schemas" / "kubernetes"
    for path in [folder / "core.json", *folder.glob("groups/*.json")]:
        for schema in json.loads(path.read_text(encoding="utf-8"))["$defs"].values():
            for field in schema.get("properties", {}).values():
                if "x-gate" in field:
                    on = field.get("x-gate-on")
                    yield field["x-gate"], None if on is None else int(on.removeprefix("1."))


def test_each_gate_of_a_schema_is_known() -> None:
    assert {gate for gate, _ in _schema_gates()} <= gates_of("kubernetes").keys()
    assert load("kubernetes/core.json")["$defs"]["VolumeMount"]["properties"]["bindMountOptions"][
        "x-gate"
    ]


ON = {
    "EmptyDirVolumeMode": True,
    "EvictionRequestAPI": True,
    "GenericWorkload": True,
    "GRPCContainerProbeTLS": True,
    "ImageVolume": True,
    "ContainerStopSignals": True,
    "VolumeBindMountOptions": True,
    "WorkloadWithJob": True,
}
RESPONDER = {"name": "acme.io/a", "priority": 5000}
GANG: Manifest = {"schedulingPolicy": {"gang": {"minCount": 2}}}
IMAGE = [{"name": "v", "image": {"reference": "a"}}]


def mounting(options: list[str], volumes: list[Manifest]) -> Manifest:
    mount = {"name": "v", "mountPath": "/v", "bindMountOptions": options}
    return changed(changed(POD, "spec.volumes", volumes), "spec.containers.0.volumeMounts", [mount])


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (changed(POD, "spec.volumes.0.emptyDir.mode", 0o1777), []),
        (changed(POD, "spec.volumes.0.emptyDir.mode", 0o2000), ["spec.volumes.0.emptyDir.mode"]),
        (mounting(["noexec", "nodev"], POD["spec"]["volumes"]), []),
        (
            mounting(["ro"], POD["spec"]["volumes"]),
            ["spec.containers.0.volumeMounts.0.bindMountOptions.0"],
        ),
        (mounting(["noexec"], IMAGE), ["spec.containers.0.volumeMounts.0.bindMountOptions"]),
        (changed(POD, "spec.evictionResponders", [RESPONDER]), []),
        (changed(POD, "spec.evictionResponders", [RESPONDER] * 2), ["spec.evictionResponders.1"]),
        (
            changed(
                POD,
                "spec.evictionResponders",
                [{**RESPONDER, "name": f"acme.io/{i}"} for i in range(11)],
            ),
            ["spec.evictionResponders"],
        ),
        (
            changed(POD, "spec.evictionResponders", [{"name": "a", "priority": 1}]),
            ["spec.evictionResponders.0.name"],
        ),
        (
            changed(POD, "spec.evictionResponders", [{"name": "x.k8s.io/a", "priority": 1}]),
            ["spec.evictionResponders.0.name"],
        ),
        (
            changed(POD, "spec.evictionResponders", [{"name": "acme.io/a"}]),
            ["spec.evictionResponders.0.priority"],
        ),
        (
            changed(POD, "spec.evictionResponders", [{**RESPONDER, "priority": 100_001}]),
            ["spec.evictionResponders.0.priority"],
        ),
        (
            changed(
                changed(POD, "spec.evictionResponders", [RESPONDER]),
                "spec.schedulingGroup.podGroupName",
                "g",
            ),
            ["spec.evictionResponders"],
        ),
        (
            changed(POD, "spec.schedulingGroup.podGroupName", "A b"),
            ["spec.schedulingGroup.podGroupName"],
        ),
        (
            changed(POD, "spec.containers.0.readinessProbe", {"grpc": {"port": 1, "mode": "TLS"}}),
            [],
        ),
        (
            changed(POD, "spec.containers.0.readinessProbe", {"grpc": {"port": 1, "mode": "mTLS"}}),
            ["spec.containers.0.readinessProbe.grpc.mode"],
        ),
        (
            changed(
                changed(POD, "spec.os", None),
                "spec.containers.0.lifecycle",
                {"stopSignal": "SIGTERM"},
            ),
            ["spec.containers.0.lifecycle.stopSignal"],
        ),
        (changed(JOB, "spec.scheduling", GANG), []),
        (
            changed(JOB, "spec.scheduling", {"schedulingPolicy": {}}),
            ["spec.scheduling.schedulingPolicy"],
        ),
        (
            changed(JOB, "spec.scheduling", {"schedulingPolicy": {"basic": {}, "gang": {}}}),
            ["spec.scheduling.schedulingPolicy"],
        ),
        (
            changed(JOB, "spec.scheduling", {"schedulingPolicy": {"gang": {"minCount": 0}}}),
            ["spec.scheduling.schedulingPolicy.gang.minCount"],
        ),
        (
            changed(JOB, "spec.scheduling", {**GANG, "disruptionMode": {}}),
            ["spec.scheduling.disruptionMode"],
        ),
        (
            changed(
                JOB,
                "spec.scheduling",
                {**GANG, "schedulingConstraints": {"topology": [{"key": "a b"}]}},
            ),
            ["spec.scheduling.schedulingConstraints.topology.0.key"],
        ),
        (
            changed(
                JOB, "spec.scheduling", {**GANG, "resourceClaims": [{"name": "a"}, {"name": "a"}]}
            ),
            ["spec.scheduling.resourceClaims.1"],
        ),
        (
            changed(
                JOB,
                "spec.scheduling",
                {**GANG, "resourceClaims": [{"name": f"c{i}"} for i in range(5)]},
            ),
            ["spec.scheduling.resourceClaims"],
        ),
    ],
)
def test_fields_that_begin_with_1_37_need_their_gate(
    manifest: Manifest, expected: list[str]
) -> None:
    """Source: docs/facts/feature-gates.md#new-fields."""
    assert [path for _, path in names(manifest, 37, **ON)] == expected
    assert {name for name, _ in names(manifest, 37)} == {"gate-off"}
