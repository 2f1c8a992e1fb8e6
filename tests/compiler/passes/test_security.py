"""The pass `security`: fields required by the level restricted are added; what the user wrote is unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.compiler.passes.security import security
from ptcompile.operators.targets import TARGETS
from tests import making
from tests.making import documents, smallest

GOLDEN = Path(__file__).parents[3] / "golden"
ALLOWED = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip


def pods(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every pod spec in an object: every mapping with a list of containers."""
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for inner in value.values():
            yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


def baseline(pod: Mapping[str, Any]) -> set[str]:
    """Return violations of the level baseline, by an implementation independent of ptcompile's."""
    out = {key for key in ("hostNetwork", "hostPID", "hostIPC") if pod.get(key)}
    out |= {"hostPath" for volume in pod.get("volumes", ()) if "hostPath" in volume}
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        context = container.get("securityContext") or {}
        added = set((context.get("capabilities") or {}).get("add") or ())
        out |= {"privileged"} if context.get("privileged") else set()
        out |= {f"capability {name}" for name in added - ALLOWED}
        out |= {"hostPort" for port in container.get("ports", ()) if port.get("hostPort")}
    return out


def restricted(pod: Mapping[str, Any]) -> set[str]:
    """Return violations of the level restricted, without those of baseline."""
    out, own = set(), pod.get("securityContext") or {}
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        context = container.get("securityContext") or {}
        capabilities = context.get("capabilities") or {}
        seccomp = context.get("seccompProfile") or own.get("seccompProfile") or {}
        out |= {"escalation"} if context.get("allowPrivilegeEscalation") is not False else set()
        out |= {"drop"} if "ALL" not in (capabilities.get("drop") or ()) else set()
        out |= (
            {"root"} if context.get("runAsNonRoot", own.get("runAsNonRoot")) is not True else set()
        )
        out |= {"seccomp"} if seccomp.get("type") not in ("RuntimeDefault", "Localhost") else set()
    return out


SPEC = smallest(
    "podSecurity: restricted\nresources: {cpu: 1, memory: 1Gi}\n"
    "podTemplate: {spec: {initContainers: [{name: i, image: i}], containers: [{name: side, image: s}]}}"
)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_passes_the_level_restricted(target: str) -> None:
    """Without `podSecurity`, the pods of every target pass baseline; with it, they pass restricted."""
    before = ptcompile.compile(
        SPEC.replace("  podSecurity: restricted\n", ""), target=target
    ).unwrap()
    after = ptcompile.compile(SPEC, target=target).unwrap()
    assert all(baseline(pod) == set() for pod in pods(list(before)))
    assert all(
        restricted(pod) == {"escalation", "drop", "root", "seccomp"} for pod in pods(list(before))
    )
    assert all(baseline(pod) | restricted(pod) == set() for pod in pods(list(after)))
    assert {pod["automountServiceAccountToken"] for pod in pods(list(after))} == {False}


@pytest.mark.parametrize("target", ["jobset", "trainjob", "volcano"])
def test_auxiliary_roles_pass_the_level_restricted(target: str) -> None:
    text = SPEC + "  nodes: 2\n  roles:\n    loader: {command: [x], image: l}\n"
    every_pod = list(pods(list(ptcompile.compile(text, target=target).unwrap())))
    assert len(every_pod) >= 2
    assert not any(baseline(pod) | restricted(pod) for pod in every_pod)


def test_the_job_overrides_the_profile_s_level() -> None:
    profile = (
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {podSecurity: 'restricted:v1.30'}\n"
    )
    plain = SPEC.replace("  podSecurity: restricted\n", "")
    for text, wanted in (
        (plain, set()),
        (SPEC.replace("restricted", "privileged"), {"escalation", "drop", "root", "seccomp"}),
    ):
        (pod,) = pods(list(ptcompile.compile(text, cluster=profile, target="job").unwrap()))
        assert restricted(pod) == wanted


def test_the_user_s_fields_are_unchanged() -> None:
    main = making.template().main._replace(
        extra={"securityContext": {"runAsUser": 5, "capabilities": {"add": ["NET_BIND_SERVICE"]}}}
    )
    template = making.template()._replace(
        main=main, extra={"securityContext": {"runAsNonRoot": False}, "serviceAccountName": "mine"}
    )
    before = making.job(template, pod_security="restricted")
    after = security(before, making.context())
    assert security(after, making.context()) == after
    one = after.roles[0].template
    assert one.extra["securityContext"] == {
        "runAsNonRoot": False,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert "automountServiceAccountToken" not in one.extra, "it has a service account of its own"
    assert one.main.extra["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "runAsUser": 5,
        "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    }


@pytest.mark.parametrize("level", [None, "privileged", "baseline", "baseline:v1.30"])
def test_other_levels_add_nothing(level: str | None) -> None:
    before = making.job(making.template(), pod_security=level)
    assert security(before, making.context()) is before


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("podTemplate: {spec: {hostPID: true}}", ("spec", "podTemplate", "spec", "hostPID")),
        ("securityContext: {runAsUser: 0}", ("spec", "securityContext", "runAsUser")),
        (
            "securityContext: {capabilities: {add: [SYS_ADMIN]}}",
            ("spec", "securityContext", "capabilities", "add", 0),
        ),
        (
            "podSecurityContext: {runAsNonRoot: false}",
            ("spec", "podSecurityContext", "runAsNonRoot"),
        ),
        ("volumes: [{name: d, hostPath: {path: /}}]", ("spec", "volumes", 0, "hostPath")),
    ],
)
def test_a_violation_of_the_level_is_reported_at_its_field(
    body: str, path: tuple[str | int, ...]
) -> None:
    result = ptcompile.compile(smallest(f"podSecurity: restricted\n{body}"), target="job")
    assert not result.ok
    assert [
        diagnostic.path for diagnostic in result.diagnostics if diagnostic.name == "pod-security"
    ] == [path]


def test_a_fabric_needs_the_level_privileged() -> None:
    text = smallest(
        "podSecurity: baseline\nnodes: 2\nfabric: infiniband\nresources: {gpu: 8, cpu: 8, memory: 8Gi}"
    )
    (diagnostic,) = (
        finding for finding in ptcompile.compile(text).diagnostics if finding.name == "pod-security"
    )
    assert diagnostic.path == ("spec", "fabric")
    assert "namespace of the level privileged" in (diagnostic.help or "")


def test_the_golden_of_the_level_restricted_passes_on_every_target() -> None:
    files = sorted((GOLDEN / "pod-security-restricted").glob("*.yaml"))
    found = {
        file.stem: [
            baseline(pod) | restricted(pod)
            for document in documents(file.read_text())
            for pod in pods(document)
        ]
        for file in files
        if file.name != "spec.yaml"
    }
    assert set(found) == set(TARGETS) - {"pod"}, "it has two nodes"
    assert all(each and not any(each) for each in found.values())


def test_other_goldens_pass_baseline_unless_they_request_more() -> None:
    """At first, 339 of 382 pod templates passed baseline and none passed restricted."""
    found: dict[str, set[str]] = {}
    for file in sorted(GOLDEN.glob("*/*.yaml")):
        if file.name not in ("spec.yaml", "cluster.yaml"):
            for document in documents(file.read_text()):
                found.setdefault(file.parent.name, set()).update(*map(baseline, pods(document)))
    for case, violations in found.items():
        text = (GOLDEN / case / "spec.yaml").read_text() + (
            (GOLDEN / case / "cluster.yaml").read_text()
            if (GOLDEN / case / "cluster.yaml").exists()
            else ""
        )
        asked = any(
            word in text
            for word in ("fabric", "hostNetwork", "hostPath", "hostPID", "privileged", "IPC_LOCK")
        )
        assert not violations or asked, (case, violations)
