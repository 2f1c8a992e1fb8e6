"""Warnings about owners, finalizers and names (Kubernetes 1.36)."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.crds.loader import deprecation_of
from ptcompile.apiserver.warnings import server_warnings
from ptcompile.kubernetes.versions import Versions
from tests.apiserver.warnings.conftest import Warned

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
    "reject such "
    "requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
WRITERS = "to avoid accidental conflicts with other finalizer writers"
SURPRISE = "which can result in surprising behavior; a DNS label is recommended:"


@pytest.mark.parametrize(
    ("owners", "uids"),
    [
        ([OWNER], None),
        ([OWNER, {**OWNER, "uid": "w"}], None),
        ([OWNER, {**OWNER, "controller": False}], None),
        ([OWNER, {**OWNER, "controller": None}], "u"),
        ([OWNER, OWNER, OWNER], "u, u"),
    ],
)
def test_repeated_owners_are_warned_about(
    warned: Warned, owners: list[dict[str, Any]], uids: str | None
) -> None:
    expected = [OWNERS + uids] if uids else []
    for api_version, kind in (("v1", "ConfigMap"), ("kubeflow.org/v1", "PyTorchJob")):
        assert warned(api_version, kind, {"metadata": {"ownerReferences": owners}}) == expected


@pytest.mark.parametrize(
    ("finalizer", "text"),
    [
        ("example.com/a", None),
        ("orphan", None),
        ("cleanup", f"prefer a domain-qualified finalizer name {WRITERS}"),
        ("a.b", f"prefer a domain-qualified finalizer name including a path (/) {WRITERS}"),
    ],
)
def test_finalizers_of_custom_resources_need_a_domain(
    warned: Warned, finalizer: str, text: str | None
) -> None:
    expected = [f'metadata.finalizers: "{finalizer}": {text}'] if text else []
    fields = {"metadata": {"finalizers": [finalizer, finalizer]}}
    assert warned("jobset.x-k8s.io/v1alpha2", "JobSet", fields) == expected
    assert warned("v1", "ConfigMap", fields) == []


def test_before_1_32_the_warning_about_finalizers_has_other_words(warned: Warned) -> None:
    [text] = warned(
        "jobset.x-k8s.io/v1alpha2", "JobSet", {"metadata": {"finalizers": ["a.b"]}}, "1.31"
    )
    assert text == f'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name {WRITERS}'


@pytest.mark.parametrize(
    ("kind", "metadata", "reason"),
    [
        ("Job", {"name": "a-b"}, None),
        ("Job", {"name": "a.b"}, "must not contain dots"),
        ("Job", {"name": "a" * 64}, "must be no more than 63 characters"),
        (
            "Job",
            {"name": "a." * 40 + "b"},
            "must be no more than 63 characters must not contain dots",
        ),
        ("Job", {"name": None, "generateName": "a.b-"}, "must not contain dots"),
        ("Job", {"name": None, "generateName": "a-"}, None),
        ("Job", {"name": "A_B"}, None),
    ],
)
def test_names_that_cannot_become_hostnames_are_warned_about(
    warned: Warned, kind: str, metadata: dict[str, Any], reason: str | None
) -> None:
    text = f"metadata.name: this is used in Pod names and hostnames, {SURPRISE} [{reason}]"
    assert warned("batch/v1", kind, {"metadata": metadata}) == ([text] if reason else [])


def test_dots_in_the_name_of_a_pod_are_warned_about(warned: Warned) -> None:
    text = f"metadata.name: this is used in the Pod's hostname, {SURPRISE} [must not contain dots]"
    assert warned("v1", "Pod", {"metadata": {"name": "a.b"}}) == [text]


@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment", "DaemonSet", "StatefulSet"])
def test_only_some_kinds_put_their_names_into_hostnames(warned: Warned, kind: str) -> None:
    warnings = warned("apps/v1", kind, {"metadata": {"name": "a.b"}})
    assert bool(warnings) == (kind in ("ReplicaSet", "Deployment"))


def test_names_of_static_policies_are_warned_about(warned: Warned) -> None:
    group, metadata = "admissionregistration.k8s.io/v1", {"name": "a.static.k8s.io"}
    assert len(warned(group, "ValidatingAdmissionPolicy", {"metadata": metadata})) == 1
    assert len(warned(group, "MutatingWebhookConfiguration", {"metadata": metadata})) == 1
    assert warned(group, "ValidatingAdmissionPolicy", {"metadata": metadata}, "1.35") == []
    assert warned(group, "ValidatingAdmissionPolicy", {}) == []


@pytest.mark.parametrize(
    ("name", "kubernetes", "with_path"),
    [("example.com", "1.31", False), ("example.com", "1.32", True), ("example", "1.32", False)],
)
def test_finalizers_are_asked_for_a_path_since_1_32(
    warned: Warned, name: str, kubernetes: str, with_path: bool
) -> None:
    (text,) = warned(
        "jobset.x-k8s.io/v1alpha2", "JobSet", {"metadata": {"finalizers": [name]}}, kubernetes
    )
    assert ("including a path (/)" in text) is with_path


@pytest.mark.parametrize(
    ("api_version", "kind", "kubernetes", "text"),
    [
        (
            "v1",
            "Endpoints",
            "1.33",
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        ),
        ("v1", "Endpoints", "1.32", None),
        ("v1", "ConfigMap", "1.36", None),
        (
            "flowcontrol.apiserver.k8s.io/v1beta3",
            "FlowSchema",
            "1.31",
            "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; use "
            "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
        ),
        (
            "storage.k8s.io/v1beta1",
            "VolumeAttributesClass",
            "1.34",
            "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use "
            "storage.k8s.io/v1 VolumeAttributesClass",
        ),
        (
            "resource.k8s.io/v1beta1",
            "ResourceClaim",
            "1.35",
            "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+",
        ),
        ("resource.k8s.io/v1beta1", "ResourceClaim", "1.34", None),
        ("resource.k8s.io/v1", "ResourceClaim", "1.36", None),
    ],
)
def test_deprecated_built_in_versions_are_warned_about(
    warned: Warned, api_version: str, kind: str, kubernetes: str, text: str | None
) -> None:
    assert warned(api_version, kind, {}, kubernetes) == ([text] if text else [])


def crd_spec(*versions: dict[str, Any]) -> dict[str, Any]:
    return {"group": "g.io", "names": {"kind": "Foo"}, "versions": list(versions)}


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ([], "g.io/v1beta1 Foo is deprecated"),
        ([{"name": "v1alpha1"}], "g.io/v1beta1 Foo is deprecated"),
        (
            [{"name": "v1beta2"}, {"name": "v1"}, {"name": "v2alpha1"}],
            "g.io/v1beta1 Foo is deprecated; use g.io/v1 Foo",
        ),
        (
            [{"name": "v1", "served": False}, {"name": "v2", "deprecated": True}],
            "g.io/v1beta1 Foo is deprecated",
        ),
    ],
)
def test_a_deprecated_version_of_a_crd_names_a_newer_one(
    others: list[dict[str, Any]], text: str
) -> None:
    version = {"name": "v1beta1", "deprecated": True}
    assert deprecation_of(crd_spec(version, *others), version) == text


def test_a_deprecated_version_has_the_words_of_its_crd() -> None:
    version = {"name": "v1", "deprecated": True, "deprecationWarning": "use v2"}
    assert deprecation_of(crd_spec(version), version) == "use v2"
    assert deprecation_of(crd_spec(version), {**version, "deprecated": False}) == ""


def test_lint_warns_of_a_version_that_a_crd_in_the_stream_deprecates() -> None:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "deprecated": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        },
    }
    names = {"kind": "Foo", "plural": "foos", "singular": "foo", "listKind": "FooList"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.g.io"},
        "spec": {"group": "g.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    foo = {"apiVersion": "g.io/v1", "kind": "Foo", "metadata": {"name": "a"}}
    [finding] = ptcompile.lint([crd, foo]).diagnostics
    assert (finding.code, finding.severity, finding.stage) == ("PTC851", "warning", "style")
    assert (finding.path, finding.message) == (("apiVersion",), "g.io/v1 Foo is deprecated")


def test_shipped_crds_are_those_of_the_newest_release() -> None:
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "LocalQueue",
        "metadata": {"name": "a"},
    }
    for versions in (Versions(), Versions(declared=frozenset({"kueue"}))):
        warnings = server_warnings(queue, versions)
        assert [(problem.name, problem.severity) for problem in warnings] == [
            ("deprecated-api", "warning")
        ]
    assert list(server_warnings(queue, Versions()._replace(kueue=(0, 14)))) == []
    assert list(server_warnings({**queue, "apiVersion": "kueue.x-k8s.io/v1beta2"})) == []
