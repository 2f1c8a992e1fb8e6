"""Node pools of a profile: which pools can take a job's pods, and whether they have room for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests import making

H100 = {"machine": "p5.48xlarge", "count": 4}
TAINTED = {**H100, "taints": [{"key": "dedicated", "value": "ml"}]}
OWN = {
    "allocatable": {"cpu": "94", "memory": "1800Gi", "nvidia.com/gpu": 8},
    "labels": {"pool": "gold"},
    "count": 2,
}
CPU = {"allocatable": {"cpu": "15", "memory": "60Gi"}, "count": 10}
ASK = "resources: {cpu: 64, memory: 512Gi, gpu: 8}\n"


def problems_of(body: str, pools: dict[str, Any], **profile: Any) -> list[tuple[str, str, str]]:
    cluster = making.profile({"nodePools": pools, **profile})
    problems = making.compiled(making.smallest(body), "jobset", cluster).problems
    return [(problem.name, problem.severity, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("body", "pools"),
    [
        (ASK, {"h100": H100}),
        (ASK + "nodes: 4", {"h100": H100}),
        (ASK + "nodes: 2\nnodeSelector: {pool: gold}", {"own": OWN, "cpu": CPU}),
        (ASK + "tolerations: [{key: dedicated, operator: Exists}]", {"h100": TAINTED}),
        (
            ASK + "nodes: 400",
            {"h100": {"machine": "p5.48xlarge"}},
        ),  # an autoscaled pool has no limit
        ("resources: {cpu: 4, memory: 8Gi}\nnodes: 30", {"cpu": CPU}),  # three pods per node
        (
            ASK + "roles: {loader: {command: [serve], resources: {cpu: 12}}}",
            {"h100": H100, "cpu": CPU},
        ),
        ("accelerator: nvidia-h100\n" + ASK, {"h100": H100}),
        ("resources: {gpu: 8}", {"unknown": {"machine": "x1.metal"}}),
    ],
)
def test_jobs_that_fit_a_pool_have_no_finding(body: str, pools: dict[str, Any]) -> None:
    assert problems_of(body, pools) == []


@pytest.mark.parametrize(
    ("body", "pools", "name", "message"),
    [
        ("resources: {gpu: 16}", {"h100": H100, "cpu": CPU}, "fits-no-machine",
         "spec.resources.gpu: 0/2 node pools fit: 1 has 8 nvidia.com/gpu, 16 are requested, 1 has no nvidia.com/gpu, "),
        ("resources: {cpu: 95, gpu: 8}", {"own": OWN}, "fits-no-machine",
         "spec.resources.cpu: 0/1 node pools fit: 1 has 94 cpu, 95 are requested"),
        ("resources: {cpu: 16}", {"cpu": CPU}, "fits-no-machine",
         "spec.resources.cpu: 0/1 node pools fit: 1 has 15 cpu, 16 are requested"),
        (ASK, {"h100": TAINTED}, "fits-no-machine",
         "spec: 0/1 node pools fit: 1 has the taint dedicated=ml:NoSchedule"),
        (ASK + "nodeSelector: {pool: silver}", {"own": OWN}, "fits-no-machine",
         "spec.nodeSelector.pool: 0/1 node pools fit: 1 lacks the label pool=silver"),
        (ASK + "nodes: 5", {"h100": H100}, "larger-than-pools",
         "spec.nodes: 5 nodes, but the node pools of the profile 'default' have room for only 4"),
        (ASK + "elastic: {nnodes: '5:8'}\nrunPolicy: {backoffLimit: 9}", {"h100": H100}, "larger-than-pools",
         "spec.elastic.nnodes: 5 nodes, but the node pools of the profile 'default' have room for only 4"),
        ("roles: {loader: {command: [serve], resources: {cpu: 99}}}", {"cpu": CPU}, "fits-no-machine",
         "spec.roles.loader.resources.cpu: 0/1 node pools fit: 1 has 15 cpu, 99 are requested"),
    ],
)  # fmt: skip
def test_jobs_that_fit_no_pool_are_reported(
    body: str, pools: dict[str, Any], name: str, message: str
) -> None:
    (problem,) = problems_of(body, pools)
    assert problem[:2] == (name, "error")
    assert problem[2].startswith(message)


def test_the_maximum_of_a_node_range_may_exceed_the_pools() -> None:
    (problem,) = problems_of(
        ASK + "elastic: {nnodes: '2:8'}\nrunPolicy: {backoffLimit: 9}", {"h100": H100}
    )
    assert problem[:2] == ("larger-than-pools", "warning")
    assert "up to 8 nodes" in problem[2]


def test_pools_take_precedence_over_the_catalog() -> None:
    body = "accelerator: nvidia-h100\nresources: {gpu: 16}"
    pools = {"own": {"allocatable": {"nvidia.com/gpu": 16}}}
    assert problems_of(body, pools, cloud="eks") == []
    assert [name for name, _, _ in problems_of(body, {}, cloud="eks")] == ["fits-no-machine"]


def test_a_pool_of_another_machine_does_not_offer_the_accelerator() -> None:
    pools = {"a100": {"machine": "p4d.24xlarge"}, "h100": H100}
    assert problems_of("accelerator: nvidia-a100-40gb\n" + ASK, pools, cloud="eks") == []
    (problem,) = problems_of("accelerator: nvidia-h200\n" + ASK, pools, cloud="eks")
    assert "0/2 node pools fit: 2 lack the label" in problem[2]


def test_claimed_gpus_count() -> None:
    (problem,) = problems_of("resources: {gpu: 9}", {"own": OWN}, gpu={"claim": {}})
    assert "1 has 8 nvidia.com/gpu, 9 are requested" in problem[2]


def test_a_cluster_with_other_pools_may_take_the_job() -> None:
    """A dump does not show pools that have no node now."""
    assert [
        problem[1]
        for problem in problems_of("resources: {gpu: 16}", {"h100": H100}, otherPools=True)
    ] == ["warning"]
    assert [
        problem[1] for problem in problems_of(ASK + "nodes: 5", {"h100": H100}, otherPools=True)
    ] == ["warning"]


def test_nodes_among_the_profile_s_objects_count() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "8"}},
    }
    assert [
        problem[:2] for problem in problems_of("resources: {cpu: 8}\nnodes: 2", {}, objects=[node])
    ] == [("larger-than-pools", "warning")]
    ((_, severity, message),) = problems_of(ASK, {}, objects=[node])
    assert (severity, message) == (
        "warning", "spec.resources.gpu: 0/1 nodes fit: 1 has no nvidia.com/gpu, 8 are requested",
    )  # fmt: skip
