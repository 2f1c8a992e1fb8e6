"""Nodes that pods select by name or by accelerator, in their variants."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

HOST = "kubernetes.io/hostname"
GKE = "cloud.google.com/gke-accelerator"
TPU = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "t"}}, "topologyKey": HOST}
        ]
    }
}


def _job(pods: int = 2, command: str = "torchrun --nnodes=2", **spec: Any) -> Json:
    rank = ["--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=t-0.t", "train.py"]
    resources = spec.pop("resources", {"limits": {"nvidia.com/gpu": 1}})
    container = {
        "name": "a",
        "image": "a:1",
        "command": [*command.split(), *rank],
        "resources": resources,
    }
    container |= spec.pop("container", {})
    template = {
        "metadata": {"labels": {"app": "t"}},
        "spec": {"restartPolicy": "Never", "subdomain": "t", "containers": [container], **spec},
    }
    counts = {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": 0,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "t"},
        "spec": {**counts, "template": template},
    }


def _affinity(*hosts: str) -> Json:
    expression = {"key": HOST, "operator": "In", "values": list(hosts)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {**APART, "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _severities(job: Json) -> list[str]:
    return [problem.severity for problem in problems_of("hostname-against-anti-affinity", job)]


def test_pods_that_repel_one_another_cannot_share_one_host() -> None:
    assert _severities(_job(nodeSelector={HOST: "n"}, affinity=APART)) == ["error"]
    assert _severities(_job(3, "torchrun --nnodes=3", affinity=_affinity("a", "b"))) == ["error"]
    assert _severities(
        _job(nodeSelector={HOST: "n"}, affinity=APART, command="torchrun --standalone")
    ) == ["warning"]


def test_pods_that_have_a_host_each_may_repel_one_another() -> None:
    assert _severities(_job(affinity=_affinity("a", "b"))) == []
    assert _severities(_job(nodeSelector={HOST: "n"})) == []
    assert _severities(_job(affinity=APART)) == []
    assert _severities(_job(1, nodeSelector={HOST: "n"}, affinity=APART)) == []
    others = {"podAntiAffinity": {**APART["podAntiAffinity"]}}
    others["podAntiAffinity"] = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "other"}}, "topologyKey": HOST}
        ]
    }
    assert _severities(_job(nodeSelector={HOST: "n"}, affinity=others)) == []


def test_pods_cannot_use_the_same_port_of_one_host() -> None:
    ports = {"ports": [{"containerPort": 29500}]}
    assert _severities(_job(nodeSelector={HOST: "n"}, hostNetwork=True, container=ports)) == [
        "error"
    ]
    assert _severities(_job(nodeSelector={HOST: "n"}, container=ports)) == []


@pytest.mark.parametrize(
    ("pods", "gpus", "selector", "expected"),
    [
        (2, 8, {HOST: "n"}, True),
        (2, 4, {HOST: "n"}, False),
        (2, 8, {HOST: "n", GKE: "nvidia-tesla-a100"}, False),  # a2-megagpu-16g
        (3, 8, {HOST: "n", GKE: "nvidia-tesla-a100"}, True),
        (2, 8, {GKE: "nvidia-h100-80gb"}, False),
    ],
)
def test_one_host_must_have_the_gpus_of_all_its_pods(
    pods: int, gpus: int, selector: dict[str, str], expected: bool
) -> None:
    job = _job(pods, nodeSelector=selector, resources={"limits": {"nvidia.com/gpu": gpus}})
    assert fires("pods-exceed-host", job) is expected


@pytest.mark.parametrize(
    ("label", "value", "suggestion"),
    [
        (GKE, "nvidia-tesla-h100", "nvidia-h100-80gb"),
        (GKE, "nvidia-h100", "nvidia-h100-80gb"),
        (GKE, "nvidia-a100-40gb", "nvidia-tesla-a100"),
        (GKE, "nvidia-tesla-l4", "nvidia-l4"),
        (TPU, "tpu-v5e", "tpu-v5-lite-podslice"),
        ("nvidia.com/gpu.product", "A100", "NVIDIA-A100-SXM4-40GB"),
        ("node.kubernetes.io/instance-type", "p5.48xlrage", "p5.48xlarge"),
    ],
)
def test_values_that_no_node_has_get_a_suggestion(label: str, value: str, suggestion: str) -> None:
    (problem,) = problems_of(
        "unknown-accelerator-label", pod(nodeSelector={label: value}, containers=[{"name": "a"}])
    )
    assert suggestion in (problem.help or "")


@pytest.mark.parametrize(
    ("label", "value"),
    [
        (GKE, "nvidia-h100-80gb"),
        (GKE, "nvidia-tesla-k80"),
        (GKE, "nvidia-tesla-t4"),
        (GKE, "nvidia-r100"),  # a newer one
        (TPU, "tpu-v6e-slice"),
        (TPU, "tpu-v9-slice"),
        ("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"),
        ("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
        ("node.kubernetes.io/instance-type", "p5.24xlarge"),
        ("node.kubernetes.io/instance-type", "m5.large"),
    ],
)
def test_values_that_nodes_may_have_are_accepted(label: str, value: str) -> None:
    assert not fires(
        "unknown-accelerator-label", pod(nodeSelector={label: value}, containers=[{"name": "a"}])
    )


def test_unknown_topologies_of_a_tpu_are_reported() -> None:
    def reports(topology: str) -> bool:
        selector = {TPU: "tpu-v5-lite-podslice", TOPOLOGY: topology}
        return fires(
            "unknown-accelerator-label", pod(nodeSelector=selector, containers=[{"name": "a"}])
        )

    assert reports("4x2")
    assert reports("3x3")
    assert not reports("2x4")


@pytest.mark.parametrize(
    ("pods", "chips", "topology", "expected"),
    [
        (4, 4, "4x4", False),
        (8, 4, "4x4", False),  # two slices
        (3, 4, "4x4", True),
        (2, 4, "4x4", True),
        (3, 8, "2x4", False),  # slices of one host
        (1, 8, "2x2", True),
        (2, 4, "2x2x2", False),
        (2, "4", "2x2x2", False),
        (1, 4, "large", False),
    ],
)
def test_partial_slices_are_reported(
    pods: int, chips: int | str, topology: str, expected: bool
) -> None:
    job = _job(
        pods, nodeSelector={TOPOLOGY: topology}, resources={"limits": {"google.com/tpu": chips}}
    )
    assert fires("partial-tpu-slice", job) is expected


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({}, {}, True),
        ({TPU: "tpu-v6e-slice"}, {}, True),
        ({TPU: "tpu-v6e-slice", TOPOLOGY: "2x4"}, {}, False),
        ({"cloud.google.com/compute-class": "tpus"}, {}, False),
        ({}, {"kueue.x-k8s.io/queue-name": "q"}, False),
    ],
)
def test_tpus_need_both_selectors(
    selector: dict[str, str], labels: dict[str, str], expected: bool
) -> None:
    job = _job(nodeSelector=selector, resources={"limits": {"google.com/tpu": 4}})
    job["metadata"] = {"name": "t", "labels": labels}
    assert fires("tpu-without-selectors", job) is expected


def test_the_roles_of_a_job_share_a_slice() -> None:
    template = _job(1, nodeSelector={TOPOLOGY: "4x4"}, resources={"limits": {"google.com/tpu": 4}})[
        "spec"
    ]["template"]
    kind = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "t"}}
    for workers, expected in ((3, False), (2, True)):
        roles = {
            "Master": {"replicas": 1, "template": template},
            "Worker": {"replicas": workers, "template": template},
        }
        assert (
            fires("partial-tpu-slice", {**kind, "spec": {"pytorchReplicaSpecs": roles}}) is expected
        )


def test_chips_of_a_runtime_are_counted_with_its_jobs() -> None:
    pod_spec = _job(1, nodeSelector={TOPOLOGY: "4x4"}, resources={"limits": {"google.com/tpu": 4}})[
        "spec"
    ]["template"]
    node = {"name": "node", "template": {"spec": {"template": pod_spec}}}
    kind = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "r"},
    }
    assert not fires(
        "partial-tpu-slice", {**kind, "spec": {"template": {"spec": {"replicatedJobs": [node]}}}}
    )
