"""Several processes on GPUs that pods share, or on MIG slices that count as GPUs."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile

Json = dict[str, Any]
GPU, PRODUCT = "nvidia.com/gpu", "nvidia.com/gpu.product"


def pod(resource: str = GPU, count: int = 2, labels: Json | None = None) -> Json:
    resources = {"limits": {"cpu": 8, "memory": "64Gi", resource: count}}
    command = ["torchrun", "--standalone", f"--nproc-per-node={count}", "train.py"]
    container = {"name": "t", "image": "acme/t:1", "command": command, "resources": resources}
    spec = {"restartPolicy": "Never", "nodeSelector": labels or {}, "containers": [container]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "t", "namespace": "ml"},
        "spec": spec,
    }


def plugin(**configs: str) -> Json:
    metadata = {"name": "device-plugin", "namespace": "gpu-operator"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": configs}


def sharing(how: str, resource: str = "name: nvidia.com/gpu, replicas: 4", **fields: str) -> str:
    more = "".join(f"    {key}: {value}\n" for key, value in fields.items())
    return f"version: v1\nsharing:\n  {how}:\n{more}    resources: [{{{resource}}}]\n"


def messages_of(*objects: Json) -> list[tuple[str, str]]:
    findings = ptcompile.lint([*objects]).diagnostics
    names = ("processes-on-shared-gpus", "processes-on-mig")
    return [(each.name, each.message) for each in findings if each.name in names]


SLICED = sharing("timeSlicing")
REFUSED = "the kubelet refuses a request above 1"
TWICE = "two of them may be of one GPU"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([pod(labels={PRODUCT: "NVIDIA-A100-SXM4-80GB-SHARED"})], TWICE),
        ([pod("nvidia.com/gpu.shared")], TWICE),
        ([pod(labels={"nvidia.com/gpu.sharing-strategy": "mps"})], TWICE),
        ([pod(labels={"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"})], REFUSED),
        ([plugin(any=SLICED), pod()], TWICE),
        ([plugin(any=sharing("timeSlicing", failRequestsGreaterThanOne="true")), pod()], REFUSED),
        ([plugin(any=sharing("mps")), pod()], REFUSED),
        ([plugin(any=sharing("mps", failRequestsGreaterThanOne="false")), pod()], TWICE),
        ([plugin(a=SLICED, b="version: v1\nflags: {migStrategy: none}"), pod()], ""),
        (
            [
                plugin(a=SLICED, b="version: v1\nsharing: {}"),
                pod(labels={"nvidia.com/device-plugin.config": "a"}),
            ],
            TWICE,
        ),
        ([plugin(any=sharing("timeSlicing", renameByDefault="true")), pod()], ""),
        ([plugin(any=sharing("timeSlicing", "name: nvidia.com/gpu, replicas: 1")), pod()], ""),
        (
            [plugin(any=sharing("timeSlicing", "name: nvidia.com/mig-1g.5gb, replicas: 2")), pod()],
            "",
        ),
        ([plugin(any=SLICED), pod(count=1)], ""),
        ([pod(labels={PRODUCT: "NVIDIA-A100-SXM4-80GB"})], ""),
        ([pod("amd.com/gpu", labels={PRODUCT: "NVIDIA-A100-SXM4-80GB-SHARED"})], ""),
    ],
)
def test_several_processes_may_not_share_a_gpu(objects: list[Json], expected: str) -> None:
    messages = [
        message for name, message in messages_of(*objects) if name == "processes-on-shared-gpus"
    ]
    assert len(messages) == bool(expected)
    assert all(expected in message for message in messages)


def test_slices_that_count_as_gpus_are_not_shared_by_processes() -> None:
    assert [
        name for name, _ in messages_of(pod(labels={PRODUCT: "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}))
    ] == ["processes-on-mig"]
    assert messages_of(pod(count=1, labels={PRODUCT: "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"})) == []


@pytest.mark.parametrize(
    "text",
    ["version: v1\nsharing: 7", "version: v1\nsharing: {mps: [7]}", "version: v1\nsharing: [", "x"],
)
def test_a_configuration_of_wrong_types_says_nothing(text: str) -> None:
    assert messages_of(plugin(any=text), pod()) == []


def node(name: str, **labels: str) -> Json:
    allocatable = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "32"}
    metadata = {
        "name": name,
        "labels": {f"nvidia.com/gpu.{key}": value for key, value in labels.items()},
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "status": {"allocatable": allocatable},
    }


SHARED = node("a", product="NVIDIA-L4-SHARED", replicas="4")
CUT = node("b", product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb")
WHOLE = node("c", product="NVIDIA-L4")
UNLABELED = node("d")


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ([SHARED], ["processes-on-shared-gpus"]),
        ([CUT], ["processes-on-mig"]),
        ([SHARED, WHOLE], []),
        ([SHARED, UNLABELED], []),
        ([UNLABELED, plugin(any=SLICED)], ["processes-on-shared-gpus"]),
        ([WHOLE, plugin(any=SLICED)], []),
    ],
)
def test_labels_of_all_fitting_nodes_tell_how_gpus_are_shared(
    nodes: list[Json], names: list[str]
) -> None:
    assert [name for name, _ in messages_of(*nodes, pod())] == names


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ({"gpu": {"sharing": {"strategy": "time-slicing"}}}, TWICE),
        ({"gpu": {"sharing": {"strategy": "mps"}}}, REFUSED),
        ({"gpu": {"sharing": {"strategy": "mps", "refusesSeveral": False}}}, TWICE),
        (
            {
                "gpu": {"sharing": {"strategy": "mps", "refusesSeveral": False}},
                "versions": {"devicePlugin": "0.19"},
            },
            REFUSED,
        ),
        ({"gpu": {"sharing": {"strategy": "mig"}}}, "each sees one MIG slice"),
        (
            {
                "nodePools": {
                    "a": {
                        "labels": {PRODUCT: "NVIDIA-L4-SHARED"},
                        "allocatable": {"cpu": 64, "memory": "1Ti", GPU: 32},
                    }
                }
            },
            TWICE,
        ),
        ({}, ""),
    ],
)
def test_the_profile_tells_how_gpus_are_shared(cluster: Json, expected: str) -> None:
    profile = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": cluster}
    findings = ptcompile.lint(pod(), cluster=profile).diagnostics
    messages = [each.message for each in findings if each.name.startswith("processes-on-")]
    assert len(messages) == bool(expected)
    assert all(expected in message for message in messages)


def test_a_compiled_job_is_judged_too() -> None:
    resources = {"cpu": 8, "memory": "64Gi", "gpu": 2}
    spec = {
        "image": "a:1",
        "script": "t.py",
        "resources": resources,
        "elastic": {"nprocPerNode": 2},
    }
    job = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "t"},
        "spec": spec,
    }
    profile = {
        "kind": "ClusterProfile",
        "apiVersion": "ptcompile/v1",
        "spec": {"gpu": {"sharing": {"strategy": "mps"}}},
    }
    assert "PTC154" in {
        each.code for each in ptcompile.compile(job, cluster=profile, target="job").diagnostics
    }
