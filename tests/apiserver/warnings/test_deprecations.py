"""Deprecated versions of built-in kinds and of custom resources."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.crds.loader import deprecation_of
from ptcompile.apiserver.warnings import server_warnings
from ptcompile.kubernetes.versions import Versions
from tests.apiserver.warnings.conftest import Warned


@pytest.mark.parametrize(
    ("api_version", "kind", "kubernetes", "text"),
    [
        ("v1", "Endpoints", "1.33", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
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
def test_built_in_versions(warned: Warned, api_version: str, kind: str, kubernetes: str, text: str | None) -> None:
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
        ([{"name": "v1", "served": False}, {"name": "v2", "deprecated": True}], "g.io/v1beta1 Foo is deprecated"),
    ],
)
def test_versions_of_crds(others: list[dict[str, Any]], text: str) -> None:
    version = {"name": "v1beta1", "deprecated": True}
    assert deprecation_of(crd_spec(version, *others), version) == text


def test_the_words_of_the_crd() -> None:
    version = {"name": "v1", "deprecated": True, "deprecationWarning": "use v2"}
    assert deprecation_of(crd_spec(version), version) == "use v2"
    assert deprecation_of(crd_spec(version), {**version, "deprecated": False}) == ""


def test_lint_with_a_crd_beside_the_object() -> None:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "deprecated": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
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
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "a"}}
    for versions in (Versions(), Versions(declared=frozenset({"kueue"}))):
        warnings = server_warnings(queue, versions)
        assert [(problem.name, problem.severity) for problem in warnings] == [("deprecated-api", "warning")]
    assert list(server_warnings(queue, Versions()._replace(kueue=(0, 14)))) == []
    assert list(server_warnings({**queue, "apiVersion": "kueue.x-k8s.io/v1beta2"})) == []
