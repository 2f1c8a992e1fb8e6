"""The note on a built-in kind that has no field rules here: once per kind and run, and only for such a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from tests.apiserver.validation.small_kinds import Json, kind
from tests.cli.running import here

BUNDLE = kind("certificates.k8s.io/v1beta1", "ClusterTrustBundle", spec={"trustBundle": "x"})
TEXT = """\
apiVersion: certificates.k8s.io/v1beta1
kind: ClusterTrustBundle
metadata: {name: %s}
spec: {trustBundle: x}
"""


def notes(*manifests: Json, kubernetes: str = "1.36") -> list[str]:
    """Return the messages of the notes on these objects."""
    report = ptcompile.lint(list(manifests), kubernetes=kubernetes)
    return [d.message for d in report.diagnostics if d.name == "structure-only"]


def test_the_note_says_what_is_checked() -> None:
    (diagnostic,) = (d for d in ptcompile.lint(BUNDLE).diagnostics if d.name == "structure-only")
    assert (diagnostic.severity, diagnostic.stage, diagnostic.path, diagnostic.code) == (
        "note",
        "style",
        ("kind",),
        "PTC496",
    )
    assert diagnostic.message == (
        "kind: field rules of ClusterTrustBundle (certificates.k8s.io/v1beta1) are not checked, only its structure and "
        "metadata"
    )


@pytest.mark.parametrize(
    ("api_version", "name", "expected"),
    [
        ("v1", "Binding", 1),
        ("policy/v1", "Eviction", 1),
        ("resource.k8s.io/v1alpha2", "ResourceClaim", 0),  # not served any more, which is an error
        ("v1", "ServiceAccount", 0),  # the server checks no more
        (
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            1,
        ),  # written by controllers and kubelets alone
        ("discovery.k8s.io/v1", "EndpointSlice", 1),
        ("resource.k8s.io/v1", "ResourceSlice", 1),
        ("storage.k8s.io/v1", "CSINode", 1),
        ("storage.k8s.io/v1", "CSIStorageCapacity", 1),
        ("v1", "Endpoints", 0),
        ("resource.k8s.io/v1beta2", "DeviceTaintRule", 0),
        ("storage.k8s.io/v1", "CSIDriver", 0),
        ("v1", "Node", 0),
        ("v1", "ConfigMap", 0),
        ("kubeflow.org/v1", "PyTorchJob", 0),
        ("example.com/v1", "Binding", 0),
    ],
)
def test_only_kinds_without_field_rules_get_it(api_version: str, name: str, expected: int) -> None:
    assert len(notes(kind(api_version, name))) == expected


def test_an_older_model_of_a_kind_has_no_rules() -> None:
    assert len(notes(kind("resource.k8s.io/v1alpha2", "ResourceClaim"), kubernetes="1.30")) == 1


def test_a_kind_gets_one_note() -> None:
    other = {**BUNDLE, "metadata": {"name": "b"}}
    assert len(notes(BUNDLE, other, kind("v1", "Binding"))) == 2


def test_the_note_is_printed_once_per_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(TEXT % name, encoding="utf-8")
    ran = here(capsys, "lint", tmp_path, "--output-format", "concise", "--no-cache")
    assert ran.status == 0
    assert ran.out.count("PTC496") == 1
    assert "1 note" in ran.err
    ignored = here(
        capsys, "lint", tmp_path, "--output-format", "concise", "--ignore", "PTC496", "--no-cache"
    )
    assert ignored.out == ""
