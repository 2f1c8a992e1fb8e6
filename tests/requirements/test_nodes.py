"""What jobs need of nodes, and which nodes give it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptcompile
from tests.cli.running import here
from tests.making import smallest

SPEC = smallest(
    "nodes: 2\nresources: {cpu: 8, gpu: 8}\nnodeSelector: {zone: a}\n"
    "tolerations: [{key: dedicated, value: ml, effect: NoSchedule}, {operator: Exists}]"
)
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n", "labels": {"zone": "a"}},
    "status": {"allocatable": {"cpu": "96", "nvidia.com/gpu": 4, "pods": "110"}},
}


def needs(source: Any, profile: dict[str, Any] | None = None) -> list[str]:
    cluster = {"kind": "ClusterProfile", "apiVersion": "ptcompile/v1", "spec": profile or {}}
    lines = ptcompile.requires(source, target="job", cluster=cluster).text().splitlines()
    return [line for line in lines if line.split()[0] in {"pods", "label", "taint", "nodes"}]


def test_requirements_list_pods_labels_and_tolerations() -> None:
    assert needs(SPEC) == [
        "pods       2 with 8 nvidia.com/gpu, 8 cpu  (Job/train, 2 at once)",
        "label      zone=a  (Job/train)",
        "taint      dedicated=ml:NoSchedule  (tolerated by Job/train)",
        "taint      any  (tolerated by Job/train)",
        "taint      nvidia.com/gpu:NoSchedule  (tolerated by Job/train)",
    ]


def test_an_affinity_is_a_choice_of_labels() -> None:
    terms = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
        {
            "matchExpressions": [
                {"key": "gpus", "operator": "Exists"},
                {"key": "old", "operator": "DoesNotExist"},
            ]
        },
    ]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }
    pod = {"containers": [{"name": "main", "image": "i:1"}], "affinity": affinity}
    assert needs({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod}) == [
        "pods       1 with no requests  (Pod/p)",
        "label      zone In [a, b] or gpus Exists and old DoesNotExist  (Pod/p)",
    ]


def test_the_pools_that_take_the_pods_are_named() -> None:
    pools = {
        "near": {"labels": {"zone": "a"}, "allocatable": {"cpu": "96", "nvidia.com/gpu": 8}},
        "far": {"labels": {"zone": "b"}, "allocatable": {"cpu": "96", "nvidia.com/gpu": 8}},
    }
    fits = "nodes      1/2 node pools fit (near): 1 lacks the label zone=a  (Job/train)"
    assert needs(SPEC, {"nodePools": pools})[-1] == fits


def test_pods_that_fit_alone_may_not_fit_at_once() -> None:
    roomy = {**NODE, "status": {"allocatable": {"cpu": "96", "nvidia.com/gpu": 8, "pods": "110"}}}
    manifests = ptcompile.compile(SPEC, target="job").manifests
    alone, at_once = needs([*manifests, roomy])[-2:]
    assert alone == "nodes      1/1 nodes fit (n)  (Job/train)"
    assert "have room for 1" in at_once


def test_a_dump_beside_the_job_gives_the_nodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "dump.yaml").write_text(str(NODE), encoding="utf-8")
    ran = here(capsys, "requires", tmp_path / "job.yaml", tmp_path / "dump.yaml", "--target", "job")
    assert (
        ran.out.splitlines()[-1]
        == "nodes      0/1 nodes fit: 1 has 4 nvidia.com/gpu, 8 are requested  (Job/train)"
    )
    assert here(capsys, "requires", tmp_path / "dump.yaml").status == 1


@pytest.mark.parametrize(("nodes", "images"), [(2, ["alpine:3.10"]), (1, [])])
def test_the_image_that_the_operator_adds_is_required(nodes: int, images: list[str]) -> None:
    """Training-operator 1.9 gives the workers of a job with a master an init container."""
    rows = ptcompile.requires(smallest(f"nodes: {nodes}"), target="pytorchjob").requirements
    found = [row for row in rows if row.kind == "image"]
    assert [row.name for row in found] == images
    assert all(row.why == "init-pytorch, added to worker of PyTorchJob/train" for row in found)
    job_rows = ptcompile.requires(smallest(f"nodes: {nodes}"), target="job").requirements
    assert not [row for row in job_rows if row.kind == "image"]
