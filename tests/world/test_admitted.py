"""Pods as admission leaves them: the same findings as if the values were in the file, and who wrote them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run
from ptcompile.simulator.world import simulate
from tests.linter.rules.launch.making import Json, pod

CPU_AND_MEMORY = {"cpu": "500m", "memory": "512Mi"}
SHM: Json = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}
MOUNT: Json = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 - a path of the pod


def limit_range(namespace: str = "ml", name: str = "d", **item: Any) -> Json:
    spec = {"limits": [{"type": "Container", **item}]}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def gpu_pod(**limits: str) -> Json:
    """Return a Pod of four GPUs that sets only these limits besides."""
    manifest = pod("torchrun", "--nproc-per-node=4", "t.py", volumeMounts=[MOUNT])
    manifest["metadata"]["namespace"] = "ml"
    manifest["spec"]["volumes"] = [SHM]
    manifest["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 4, **limits}}
    return manifest


def names_and_severities(manifest: Json, *others: Json) -> list[tuple[str, str]]:
    return sorted(
        (finding.name, finding.severity) for finding in run(manifest, stream=[manifest, *others])
    )


def qos(manifest: Json, *others: Json) -> str:
    return str(simulate([manifest, *others]).pods[0].qos)


@pytest.mark.parametrize("manifest", [gpu_pod(), gpu_pod(memory="512Mi"), gpu_pod(cpu="500m")])
def test_a_default_is_as_good_as_a_written_limit(manifest: Json) -> None:
    written, default = gpu_pod(**CPU_AND_MEMORY), limit_range(default=CPU_AND_MEMORY)
    assert names_and_severities(manifest, default) == names_and_severities(written)
    assert qos(manifest, default) == qos(written) == "Guaranteed"


def test_a_default_of_another_namespace_is_none() -> None:
    elsewhere = limit_range(namespace="web", default=CPU_AND_MEMORY)
    assert names_and_severities(gpu_pod(), elsewhere) == names_and_severities(gpu_pod())
    assert qos(gpu_pod(), elsewhere) == "BestEffort"


def test_a_range_that_the_server_rejects_writes_nothing() -> None:
    rejected = limit_range(default=CPU_AND_MEMORY, max={"memory": "1Mi"})
    assert qos(gpu_pod(), rejected) == "BestEffort"


def test_the_finding_stands_in_the_file_and_names_the_writer() -> None:
    manifest = gpu_pod()
    (problem,) = run(
        manifest,
        stream=[manifest, limit_range(default=CPU_AND_MEMORY)],
        only={"fewer-cpus-than-gpus"},
    )
    assert problem.path == ("spec", "containers", 0, "resources", "limits")
    assert problem.message.startswith("spec.containers[0].resources.limits: 500m for 4 GPUs")
    assert problem.message.endswith("(cpu is set by LimitRange ml/d)")
    assert problem.fix is None


def test_several_ranges_are_named_by_their_namespace() -> None:
    ranges = [limit_range(name=name, default=CPU_AND_MEMORY) for name in "ab"]
    manifest = gpu_pod()
    (problem,) = run(manifest, stream=[manifest, *ranges], only={"fewer-cpus-than-gpus"})
    assert problem.message.endswith("(cpu is set by LimitRanges of ml)")


def test_a_limit_is_its_own_request_before_defaults() -> None:
    (pod,) = simulate([gpu_pod(**CPU_AND_MEMORY), limit_range(defaultRequest={"cpu": "100m"})]).pods
    assert pod.resources == {"limits": {"nvidia.com/gpu": 4, **CPU_AND_MEMORY}}


def test_a_runtime_class_adds_its_overhead_and_its_nodes() -> None:
    runtime_class = {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata",
        "overhead": {"podFixed": {"memory": "1Gi"}}, "scheduling": {"nodeSelector": {"pool": "kata"}},
    }  # fmt: skip
    manifest = gpu_pod(**CPU_AND_MEMORY)
    manifest["spec"]["runtimeClassName"] = "kata"
    (pod,) = simulate([manifest, runtime_class]).pods
    assert str(pod.requests["memory"]) == "1536Mi"
    assert pod.view.node_selector == {"pool": "kata"}


def test_gangs_count_what_their_operator_sees() -> None:
    task = {"name": "a", "replicas": 2, "template": {"spec": gpu_pod()["spec"]}}
    job: Json = {
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v", "namespace": "ml"},
        "spec": {"minAvailable": 2, "tasks": [task]},
    }  # fmt: skip
    (simulated,) = simulate([job, limit_range(default=CPU_AND_MEMORY)]).jobs
    assert simulated.pod_group is not None
    assert "memory" not in simulated.pod_group["minResources"]
    assert str(simulated.totals()["memory"]) == "1Gi"
