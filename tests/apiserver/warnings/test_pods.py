"""Warnings about pods and pod templates (Kubernetes 1.36, pkg/api/pod/warnings.go)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.warnings.conftest import Warned

MAIN = {"name": "main", "image": "i"}
SELECTS_NOBODY = "a null labelSelector results in matching no pod"
SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
APP_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
OS, ZONE = "beta.kubernetes.io/os", "failure-domain.beta.kubernetes.io/zone"
TERM = {"matchExpressions": [{"key": OS, "operator": "In", "values": ["linux"]}]}
TOKEN = {"serviceAccountToken": {"path": "token"}}


def port(**fields: Any) -> dict[str, Any]:
    return {"containerPort": 80, **fields}


CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"nodeSelector": {"kubernetes.io/os": "linux"}}, []),
    (
        {"nodeSelector": {OS: "linux"}},
        [f'spec.nodeSelector[{OS}]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ),
    (
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM]}}}},
        [
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key: {OS} is "
            f"deprecated since "
            'v1.14; use "kubernetes.io/os" instead'
        ],
    ),
    (
        {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": TERM}]}}},
        [
            f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].key: {OS} is deprecated "
            f"since v1.14; "
            'use "kubernetes.io/os" instead'
        ],
    ),
    (
        {"topologySpreadConstraints": [{"topologyKey": ZONE, "maxSkew": 1}]},
        [
            f"spec.topologySpreadConstraints[0].topologyKey: {ZONE} is deprecated since v1.17; use "
            '"topology.kubernetes.io/zone" instead',
            f"spec.topologySpreadConstraints[0].labelSelector: {SELECTS_NOBODY}",
        ],
    ),
    ({"topologySpreadConstraints": [{"topologyKey": "zone", "labelSelector": {}}]}, []),
    (
        {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "z"}]}}},
        [f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {SELECTS_NOBODY}"],
    ),
    (
        {
            "affinity": {
                "podAntiAffinity": {
                    PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "z"}}]
                }
            }
        },
        [
            f"spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {SELECTS_NOBODY}"
        ],
    ),
    (
        {"terminationGracePeriodSeconds": -1},
        [
            "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ],
    ),
    ({"terminationGracePeriodSeconds": 0}, []),
    (
        {"imagePullSecrets": [{"name": "a"}, {"name": "b"}, {"name": "a"}, {}]},
        [
            'spec.imagePullSecrets[2].name: duplicate name "a"',
            'spec.imagePullSecrets[3].name: invalid empty name ""',
        ],
    ),
    (
        {"hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]},
        ['spec.hostAliases[1].ip: duplicate ip "10.0.0.1"'],
    ),
    (
        {"dnsConfig": {"nameservers": ["FD00::A"]}},
        [
            'spec.dnsConfig.nameservers[0]: IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")'
        ],
    ),
    (
        {"overhead": {"memory": "1500m", "cpu": "1500m"}},
        ['spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer'],
    ),
]


@pytest.mark.parametrize(("spec", "expected"), CASES)
def test_pods_and_templates_get_the_same_warnings(
    warned: Warned, spec: dict[str, Any], expected: list[str]
) -> None:
    pod = {"containers": [MAIN], **spec}
    assert warned("v1", "Pod", {"spec": pod}) == expected
    template = {"spec": {"template": {"spec": pod}}}
    in_template = [f"spec.template.{text}" for text in expected]
    for api_version, kind in (
        ("batch/v1", "Job"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "DaemonSet"),
    ):
        assert warned(api_version, kind, template) == in_template


CONTAINERS: list[tuple[list[dict[str, Any]], list[str]]] = [
    ([{"resources": {"limits": {"memory": "512Mi", "cpu": "500m"}}}], []),
    (
        [{"resources": {"limits": {"memory": "512m"}, "requests": {"ephemeral-storage": "0.5"}}}],
        [
            'spec.containers[0].resources.limits[memory]: fractional byte value "512m" is invalid, must be an integer',
            'spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "500m" is invalid, '
            "must be an "
            "integer",
        ],
    ),
    (
        [{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}],
        [
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'
        ],
    ),
    ([{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]}], []),
    (
        [{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"}]}],
        [
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'
        ],
    ),
    (
        [
            {
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
                ]
            }
        ],
        [
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'
        ],
    ),
    (
        [{"ports": [port(), port()]}],
        ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    ([{"ports": [port(), port(protocol="UDP")]}], []),
    (
        [{"ports": [port()]}, {"ports": [port(hostPort=80)]}],
        [
            "spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]"
        ],
    ),
    (
        [{"ports": [port(hostPort=80), port(hostPort=80, hostIP="10.0.0.1")]}],
        [
            "spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"
        ],
    ),
    ([{"ports": [port(hostPort=80), port(hostPort=81)]}], []),
    (
        [{"ports": [port(hostIP="10.0.0.1")]}],
        [
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP "
            "HostIP:10.0.0.1}"
        ],
    ),
    (
        [{"ports": [port(name="web")]}, {"ports": [port(name="web", containerPort=81)]}],
        [
            'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services '
            "and probes "
            "that select ports by name will use spec.containers[0].ports[0]"
        ],
    ),
]


@pytest.mark.parametrize(("containers", "expected"), CONTAINERS)
def test_mistakes_in_containers_are_warned_about(
    warned: Warned, containers: list[dict[str, Any]], expected: list[str]
) -> None:
    spec = {
        "containers": [{**MAIN, "name": f"c{i}", **fields} for i, fields in enumerate(containers)]
    }
    assert warned("v1", "Pod", {"spec": spec}) == expected


def test_many_ports_take_little_time(warned: Warned) -> None:
    ports = [port(hostPort=number) for number in range(1, 30_000)]
    assert warned("v1", "Pod", {"spec": {"containers": [{**MAIN, "ports": ports}]}}) == []


def test_init_containers_come_first(warned: Warned) -> None:
    spec = {
        "initContainers": [{"name": "i", "ports": [port()]}],
        "containers": [{**MAIN, "ports": [port()]}],
    }
    assert warned("v1", "Pod", {"spec": spec}) == [
        "spec.containers[0].ports[0]: duplicate port definition with spec.initContainers[0].ports[0]"
    ]


def test_the_network_of_the_node_sets_host_ports_of_pods(warned: Warned) -> None:
    spec = {"hostNetwork": True, "containers": [{**MAIN, "ports": [port(hostIP="10.0.0.1")]}]}
    assert warned("v1", "Pod", {"spec": spec}) == []
    assert len(warned("apps/v1", "Deployment", {"spec": {"template": {"spec": spec}}})) == 1


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (
            "scheduler.alpha.kubernetes.io/critical-pod",
            'non-functional in v1.16+; use the "priorityClassName" field instead',
        ),
        (
            "security.alpha.kubernetes.io/sysctls",
            'non-functional in v1.11+; use the "sysctls" field instead',
        ),
        ("seccomp.security.alpha.kubernetes.io/pod", SECCOMP),
        ("container.seccomp.security.alpha.kubernetes.io/main", SECCOMP),
        ("container.apparmor.security.beta.kubernetes.io/main", APP_ARMOR),
        ("container.apparmor.security.beta.kubernetes.io/other", None),
        ("example.com/x", None),
    ],
)
def test_annotations_for_security_are_warned_about(
    warned: Warned, annotation: str, text: str | None
) -> None:
    metadata = {"annotations": {annotation: "runtime/default"}}
    expected = [f"metadata.annotations[{annotation}]: {text}"] if text else []
    assert warned("v1", "Pod", {"metadata": metadata, "spec": {"containers": [MAIN]}}) == expected
    template = {"metadata": metadata, "spec": {"containers": [MAIN]}}
    in_template = [f"spec.template.{line}" for line in expected]
    assert warned("batch/v1", "Job", {"spec": {"template": template}}) == in_template


@pytest.mark.parametrize(
    "spec",
    [
        {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}, "containers": [MAIN]},
        {"containers": [{**MAIN, "securityContext": {"appArmorProfile": {"type": "Unconfined"}}}]},
        {"os": {"name": "windows"}, "containers": [MAIN]},
    ],
)
def test_a_field_silences_the_warning_about_the_app_armor_annotation(
    warned: Warned, spec: dict[str, Any]
) -> None:
    annotations = {"container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}
    assert warned("v1", "Pod", {"metadata": {"annotations": annotations}, "spec": spec}) == []


def test_an_app_armor_annotation_that_differs_from_the_pods_profile_is_warned_about(
    warned: Warned,
) -> None:
    annotations = {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}
    spec = {
        "securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}},
        "containers": [MAIN],
    }
    fields = {"metadata": {"annotations": annotations}, "spec": spec}
    assert len(warned("v1", "Pod", fields)) == 1
    assert warned("apps/v1", "ReplicaSet", {"spec": {"template": fields}}) == []


def test_values_of_preferred_terms_that_no_label_has_are_warned_about(warned: Warned) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "a b"]}]}
    spec = {
        "affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term}]}},
        "containers": [MAIN],
    }
    [text] = warned("v1", "Pod", {"spec": spec})
    place = f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].values[1]"
    assert text.startswith(f"{place}: a b is invalid, ")


@pytest.mark.parametrize("fields", [{"ports": [port(name="a"), port(name="a", containerPort=81)]}])
def test_port_names_are_compared_since_1_33(warned: Warned, fields: dict[str, Any]) -> None:
    spec = {"containers": [{**MAIN, **fields}]}
    assert len(warned("v1", "Pod", {"spec": spec}, "1.33")) == 1
    assert warned("v1", "Pod", {"spec": spec}, "1.32") == []


@pytest.mark.parametrize("value", [None, 7, "x", [], [None], [7], {"a": 1}, [{"name": 7}], [["x"]]])
def test_any_data_is_accepted(warned: Warned, value: object) -> None:
    keys = (
        "containers",
        "initContainers",
        "volumes",
        "affinity",
        "nodeSelector",
        "hostAliases",
        "imagePullSecrets",
        "topologySpreadConstraints",
        "dnsConfig",
        "overhead",
        "securityContext",
        "terminationGracePeriodSeconds",
    )
    for key in keys:
        warned("v1", "Pod", {"spec": {key: value}})
    for key in ("env", "ports", "resources", "securityContext"):
        warned("v1", "Pod", {"spec": {"containers": [{"name": "a", key: value}]}})
