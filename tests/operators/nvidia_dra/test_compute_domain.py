"""ComputeDomain and resource.k8s.io objects from published manifests: accepted, checked against the CRD, and linted."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.source.emitter import emit_all

Json = dict[str, Any]


def domain(spec: Json | None = None, name: str = "llama", **metadata: str) -> Json:
    expected = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "llama-channel"}}}
    meta = {"name": name, **metadata}
    return {
        "apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": meta,
        "spec": {**expected, **(spec or {})},
    }  # fmt: skip


def job(
    pods: int = 2, template: str = "llama-channel", claim: str | None = "channel", **metadata: str
) -> Json:
    claims = {"claims": [{"name": claim}]} if claim else {}
    container = {
        "name": "pytorch", "image": "ghcr.io/acme/train:1.0", "command": ["python", "train.py"],
        "resources": {"requests": {"cpu": 8, "memory": "64Gi"}, "limits": {"cpu": 8, "memory": "64Gi"}, **claims},
    }  # fmt: skip
    spec = {
        "restartPolicy": "Never", "containers": [container],
        "resourceClaims": [{"name": "channel", "resourceClaimTemplateName": template}],
    }  # fmt: skip
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", **metadata},
        "spec": {"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0,
                 "template": {"spec": spec}},
    }  # fmt: skip


def claim_template(version: str = "v1", **request: Any) -> Json:
    asked = request or {
        "exactly": {
            "deviceClassName": "mrdma.google.com",
            "allocationMode": "ExactCount",
            "count": 8,
        }
    }
    return {
        "apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceClaimTemplate", "metadata": {"name": "rdma"},
        "spec": {"spec": {"devices": {"requests": [{"name": "nics", **asked}]}}},
    }  # fmt: skip


def names_and_severities(*objects: Json) -> list[tuple[str, str]]:
    report = ptcompile.lint(emit_all(objects))
    assert not report.unchecked
    return [
        (diagnostic.name, diagnostic.severity)
        for diagnostic in report.diagnostics
        if diagnostic.name != "deprecated-api"
    ]


@pytest.mark.parametrize(
    "objects",
    [
        (
            domain({"numNodes": 2}),
            job(),
        ),  # cluster-toolkit, examples/gke-a4x; gpu-recipes, training/a4x
        (domain({"numNodes": 0}), job(18)),  # EKS user guide; Azure's NCCL chart; OCI's GB300
        (
            domain(
                {
                    "channel": {
                        "resourceClaimTemplate": {"name": "llama-channel"},
                        "allocationMode": "Single",
                    }
                }
            ),
            job(),
        ),
        (
            domain(
                {
                    "channel": {
                        "resourceClaimTemplate": {"name": "llama-channel"},
                        "allocationMode": "All",
                    }
                }
            ),
            job(),
        ),
        (claim_template(),),  # gpu-recipes, training/a4x-max
        (claim_template(exactly={"deviceClassName": "neuron.aws.com", "allocationMode": "All"}),),
        (claim_template("v1beta2"),),
        (claim_template("v1beta1", deviceClassName="gpu.nvidia.com"),),
        (
            claim_template(
                firstAvailable=[{"name": "a", "deviceClassName": "gpu.nvidia.com", "count": 2}]
            ),
        ),
    ],
    ids=str,
)
def test_published_manifests_have_no_findings(objects: tuple[Json, ...]) -> None:
    assert names_and_severities(*objects) == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (domain({"numNodes": -1}), "must be greater than or equal to 0"),
        (domain({"channel": {"resourceClaimTemplate": {"name": "c"}, "allocationMode": "Two"}}), '"All", "Single"'),
        (domain({"channel": None}), "spec.channel"),
        (domain({"channel": {"resourceClaimTemplateName": "c"}}), "resourceClaimTemplate"),
        (domain({"nodes": 2}), "unknown field"),
        (claim_template(deviceClassName="gpu.nvidia.com"), "spec.spec.devices.requests[0]"),  # flat fields of v1beta1
        (claim_template(exactly={"deviceClassName": "neuron.aws.com", "allocationMode": "all"}), "allocationMode"),
    ],
)  # fmt: skip
def test_the_server_rejects_mistakes(bad: Json, message: str) -> None:
    diagnostics = [
        diagnostic
        for diagnostic in ptcompile.lint(emit_all([bad])).diagnostics
        if diagnostic.severity == "error"
    ]
    assert diagnostics
    assert any(message in diagnostic.message for diagnostic in diagnostics), [
        diagnostic.message for diagnostic in diagnostics
    ]
    assert {diagnostic.authority for diagnostic in diagnostics} == {"kube-apiserver"}


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        ((domain({"numNodes": 18}), job()), "nodes-differ-from-domain"),
        ((domain(), job(template="llama")), "unmade-claim"),
        ((domain(namespace="default"), job(namespace="research")), "claim-in-other-namespace"),
        ((domain(), job(claim=None)), "unused-claim"),
    ],
)
def test_hanging_pods_are_reported(objects: tuple[Json, ...], name: str) -> None:
    assert names_and_severities(*objects) == [(name, "warning")]


def test_domain_ignores_pods_of_other_namespaces() -> None:
    others = job(namespace="research")
    names = {
        name
        for name, _ in names_and_severities(domain({"numNodes": 18}, namespace="default"), others)
    }
    assert names == {"claim-in-other-namespace"}


def test_claim_from_an_unknown_template_is_not_checked() -> None:
    assert names_and_severities(job(template="of-the-cluster")) == []


def test_network_claim_needs_no_container() -> None:
    """The mrdma and netdev drivers attach interfaces to the pod (GKE, DRANET)."""
    assert names_and_severities(claim_template(), job(template="rdma", claim=None)) == []


def test_spec_is_immutable() -> None:
    old, new = emit_all([domain()]), emit_all([domain({"numNodes": 4})])
    (diagnostic,) = ptcompile.diff(old, new).diagnostics
    assert "A computeDomain.spec is immutable" in diagnostic.message
