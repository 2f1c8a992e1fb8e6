"""Pod Security Admission: by the namespace's labels or the profile, at the pod's field, for each level."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.admission.pod_security import Level
from ptcompile.apiserver.admission.pod_security_levels import violations
from tests.apiserver.validation.test_other_kinds import paths
from tests.differ.applying.test_updates import changed

Json = dict[str, Any]

HARD: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def spec(context: Json | None = None, *, pod: Json | None = None, **container: Any) -> Json:
    """Return a pod spec that restricted accepts, with changes."""
    main = {"name": "c", "image": "i", "securityContext": {**HARD, **(context or {})}, **container}
    return {"containers": [main], **(pod or {})}


def reasons(level: str, body: Json, minor: int = 36, meta: Json | None = None) -> list[str]:
    """Return the reasons with their paths."""
    pod_violations = violations(level, minor, body, meta or {})
    return [
        f"{violation.reason} at {'.'.join(map(str, violation.path))}"
        for violation in pod_violations
    ]


C = "spec.containers.0"
BASELINE: list[tuple[Json, str]] = [
    (
        spec({"capabilities": {"add": ["IPC_LOCK"]}}),
        f"non-default capabilities at {C}.securityContext.capabilities.add.0",
    ),
    (spec(pod={"hostNetwork": True}), "host namespaces at spec.hostNetwork"),
    (spec(pod={"hostIPC": True}), "host namespaces at spec.hostIPC"),
    (
        spec(pod={"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}),
        "hostPath volumes at spec.volumes.0.hostPath",
    ),
    (spec(ports=[{"containerPort": 1, "hostPort": 1}]), f"hostPort at {C}.ports.0.hostPort"),
    (
        spec(livenessProbe={"httpGet": {"host": "127.0.0.1", "port": 1}}),
        f"probe or lifecycle host at {C}.livenessProbe.httpGet.host",
    ),
    (spec({"privileged": True}), f"privileged at {C}.securityContext.privileged"),
    (spec({"procMount": "Unmasked"}), f"procMount at {C}.securityContext.procMount"),
    (
        spec({"seLinuxOptions": {"user": "u"}}),
        f"seLinuxOptions at {C}.securityContext.seLinuxOptions.user",
    ),
    (
        spec({"seccompProfile": {"type": "Unconfined"}}),
        f"seccompProfile at {C}.securityContext.seccompProfile.type",
    ),
    (
        spec({"appArmorProfile": {"type": "Unconfined"}}),
        f"forbidden AppArmor profile at {C}.securityContext.appArmorProfile.type",
    ),
    (
        spec(pod={"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}),
        "forbidden sysctls at spec.securityContext.sysctls.0.name",
    ),
    (
        spec({"windowsOptions": {"hostProcess": True}}),
        f"hostProcess at {C}.securityContext.windowsOptions.hostProcess",
    ),
]
RESTRICTED: list[tuple[Json, str]] = [
    (
        spec({"allowPrivilegeEscalation": None}),
        f"allowPrivilegeEscalation != false at {C}.securityContext.allowPrivilegeEscalation",
    ),
    (
        spec({"capabilities": None}),
        f"unrestricted capabilities at {C}.securityContext.capabilities.drop",
    ),
    (
        spec(pod={"volumes": [{"name": "v", "nfs": {}}]}),
        "restricted volume types at spec.volumes.0.nfs",
    ),
    (spec({"runAsNonRoot": None}), f"runAsNonRoot != true at {C}.securityContext.runAsNonRoot"),
    (spec({"runAsUser": 0}), f"runAsUser=0 at {C}.securityContext.runAsUser"),
    (spec({"seccompProfile": None}), f"seccompProfile at {C}.securityContext.seccompProfile.type"),
]


@pytest.mark.parametrize(
    ("value", "forbidden"),
    [("unconfined", True), ("runtime/default", False), ("localhost/mine", False), ("", False)],
)
def test_baseline_rejects_some_annotations_of_app_armor(value: str, forbidden: bool) -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    reported = reasons(
        "baseline", spec(), meta={"annotations": {key: value, "other": "unconfined"}}
    )
    assert reported == (
        [f"forbidden AppArmor profile at metadata.annotations.{key}"] if forbidden else []
    )


def test_every_level_accepts_a_hardened_pod() -> None:
    assert reasons("restricted", spec()) == []


@pytest.mark.parametrize(("body", "expected"), BASELINE)
def test_baseline_names_the_violation(body: Json, expected: str) -> None:
    assert reasons("baseline", body) == [expected]


@pytest.mark.parametrize(("body", "expected"), RESTRICTED)
def test_restricted_rejects_more_than_baseline(body: Json, expected: str) -> None:
    assert reasons("baseline", body) == []
    assert reasons("restricted", body) == [expected]


def test_pod_settings_apply_to_containers() -> None:
    pod_fields = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    }
    assert (
        reasons("restricted", spec({"runAsNonRoot": None, "seccompProfile": None}, pod=pod_fields))
        == []
    )


@pytest.mark.parametrize(
    ("body", "before", "since"),
    [
        (spec(livenessProbe={"httpGet": {"host": "h", "port": 1}}), 33, 34),
        (spec({"procMount": "Unmasked"}, pod={"hostUsers": False}), 35, 34),
        (spec({"seLinuxOptions": {"type": "container_engine_t"}}), 31, 30),
        (spec(pod={"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}]}}), 32, 31),
    ],
)
def test_a_check_applies_only_since_its_version(body: Json, before: int, since: int) -> None:
    assert reasons("baseline", body, before) == []
    assert reasons("baseline", body, since)


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ("latest", 36),
        ("v1.25", 25),
        ("v1.5", 5),
        ("v1.99", 36),
        ("v1.x5", 36),
        ("v1.", 36),
        ("1.25", 36),
    ],
)
def test_a_level_s_version_selects_the_minor_release(version: str, minor: int) -> None:
    assert Level("baseline", version).minor((1, 36)) == minor


def test_restricted_never_unmasks_proc_since_1_35() -> None:
    body = spec({"procMount": "Unmasked"}, pod={"hostUsers": False})
    assert [reasons("restricted", body, minor) != [] for minor in (35, 36)] == [True, True]
    assert reasons("baseline", body, 35) == []


def _namespace(**labels: str) -> str:
    rows = "".join(
        f"\n    pod-security.kubernetes.io/{key.replace('_', '-')}: {value}"
        for key, value in labels.items()
    )
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n  labels:{rows}\n"


BARE = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\n"
    "spec:\n  hostIPC: true\n  containers: [{name: c, image: i}]\n"
)
DEPLOYED = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns}\nspec:\n"
    "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
    "    spec:\n      hostIPC: true\n      containers: [{name: c, image: i}]\n"
)


def _lint(*texts: str, **options: Any) -> list[tuple[str, str, str]]:
    report = ptcompile.lint("---\n".join(texts), **options)
    return [
        (d.severity, d.stage, ".".join(map(str, d.path)))
        for d in report.diagnostics
        if d.name == "pod-security"
    ]


def test_a_pod_is_rejected_on_apply_and_a_template_later() -> None:
    enforced = _namespace(enforce="baseline")
    assert _lint(enforced, BARE) == [("error", "apply", "spec.hostIPC")]
    assert _lint(enforced, DEPLOYED) == [("error", "pod", "spec.template.spec.hostIPC")]


def test_modes_that_find_the_same_give_one_finding() -> None:
    assert _lint(_namespace(warn="baseline", audit="baseline"), BARE) == [
        ("warning", "apply", "spec.hostIPC")
    ]
    assert _lint(_namespace(enforce="baseline", warn="baseline"), BARE) == [
        ("error", "apply", "spec.hostIPC")
    ]


@pytest.mark.parametrize("labels", [{}, {"enforce": "privileged"}, {"warn": "nonsense"}])
def test_a_namespace_without_a_level_accepts_any_pod(labels: dict[str, str]) -> None:
    assert _lint(BARE) == []
    assert _lint(_namespace(**labels), BARE) == []


def test_an_invalid_level_is_restricted() -> None:
    assert len(_lint(_namespace(enforce="nonsense"), BARE)) > 1


def test_the_label_may_name_a_version() -> None:
    probed = BARE.replace("hostIPC: true", "hostIPC: false").replace(
        "image: i", "image: i, livenessProbe: {httpGet: {host: h, port: 1}}"
    )
    assert _lint(_namespace(enforce="baseline", enforce_version="v1.33"), probed) == []
    assert _lint(_namespace(enforce="baseline", enforce_version="latest"), probed)


def test_a_version_that_is_no_number_means_the_latest() -> None:
    assert _lint(_namespace(enforce="baseline", enforce_version=f"v1.{'9' * 5000}"), BARE)


def test_the_profile_sets_the_level_of_other_namespaces() -> None:
    profile = "kind: ClusterProfile\nspec: {podSecurity: baseline}\n"
    assert _lint(BARE, cluster=profile) == [("error", "apply", "spec.hostIPC")]
    assert _lint(_namespace(enforce="privileged"), BARE, cluster=profile) == []


def test_the_message_is_that_of_the_server() -> None:
    report = ptcompile.lint(f"{_namespace(enforce='restricted')}---\n{BARE}")
    assert (
        'violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "c" must set '
        in str([d.message for d in report.diagnostics])
    )


FULL = spec(
    {"capabilities": {"add": ["A"], "drop": ["ALL"]}, "seLinuxOptions": {"type": "t"}},
    pod={
        "volumes": [{"name": "v", "hostPath": {}}],
        "securityContext": {"sysctls": [{"name": "s"}]},
    },
    ports=[{"hostPort": 1}],
    livenessProbe={"httpGet": {"host": "h"}},
    lifecycle={"preStop": {"tcpSocket": {"host": "h"}}},
)


@pytest.mark.parametrize("value", [[], {}, "x", 7, True, [None], [[]], {"a": []}])
def test_no_type_of_value_raises(value: Any) -> None:
    for path in paths(FULL, ()):
        reasons("restricted", changed(FULL, ".".join(path), value), meta={"annotations": value})
