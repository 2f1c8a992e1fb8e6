"""The rendezvous of whole jobs, and what keeps pods from meeting."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.versions import Versions
from ptcompile.simulator.as_text import overview
from ptcompile.simulator.rendezvous import job_rendezvous, volume_sources
from ptcompile.simulator.world import simulate
from tests.simulator.worlds import CONTAINER, jobset, only, pod_of, pytorchjob, volcano


def test_a_pytorchjob_meets_at_its_master() -> None:
    job = only(simulate([pytorchjob()]))
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert (rendezvous.nodes, rendezvous.processes, rendezvous.host, rendezvous.notes) == (
        4,
        (32, 32),
        "llama-master-0",
        (),
    )
    assert rendezvous.first.endpoint == "llama-master-0:23456"
    assert amounts.as_text(job.totals()) == {"nvidia.com/gpu": "32", "cpu": "128", "memory": "1Ti"}
    assert job.pod_group["minMember"] == 4
    # docs/facts/training-operator.md#gangs: limits replace missing requests
    assert job.pod_group["minResources"]["nvidia.com/gpu"] == "32"


def test_a_pod_of_a_world_has_its_fields() -> None:
    pod = simulate([pytorchjob()]).pods[2]
    assert (pod.name, pod.hostname, pod.role, pod.index) == (
        "llama-worker-1",
        "llama-worker-1",
        "worker",
        1,
    )
    assert pod.dns == "llama-worker-1.research.svc.cluster.local"
    assert list(pod.env)[:2] == ["NCCL_DEBUG", "PYTHONUNBUFFERED"]
    assert pod.env["RANK"] == "2"
    assert (pod.command, pod.args, pod.qos) == (["torchrun", "train.py"], None, "Burstable")
    assert pod.resources == CONTAINER["resources"]


def test_pods_are_a_sequence() -> None:
    pods = simulate([pytorchjob(), pod_of({})]).pods
    assert len(pods) == 5
    assert [pod.name for pod in pods] == [pods[i].name for i in range(5)]
    assert pods[-1].name == "alone"
    assert [pod.name for pod in pods[3:]] == ["llama-worker-2", "alone"]
    with pytest.raises(IndexError):
        pods[5]


@pytest.mark.parametrize(
    "name", ["llama-worker-2", "js-workers-1-1", "js-workers-1-1-*****", "vj-worker-1", "alone"]
)
def test_a_pod_is_found_by_its_name(name: str) -> None:
    world = simulate([pytorchjob(), jobset(["torchrun"]), volcano(), pod_of({})])
    assert [pod.name for pod in world.pods.named(name)] == [name.removesuffix("-*****")]


def test_an_unknown_name_finds_no_pod() -> None:
    assert simulate([pytorchjob()]).pods.named("llama-worker-3") == []


@pytest.mark.parametrize(
    ("manifest", "notes"),
    [
        (pytorchjob(), []),
        (volcano(), ["NetworkPolicy", "Volcano runs"]),
        # docs/facts/jobset.md#pods: resnet-cifar10 passes only master address and port
        (jobset(["torchrun", "--master-addr=js-workers-0-0.js", "t.py"]), ["each of the 4 pods expects one node"]),
        # docs/facts/jobset.md#pods: the completion index starts again in each Job
        (jobset(["torchrun", "--nnodes=4", "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=js-workers-0-0.js",
                 "t.py"]), ["js-workers-0-"]),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"]), []),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=gone:1", "t.py"]),
         ["no pod and no Service in this stream answers to gone"]),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd.infra:2379", "t.py"]), []),
        (jobset(["torchrun", "--nnodes=5", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"]),
         ["the rendezvous waits for 5 nodes, but the job has 4 pods"]),
        # without DNS host names
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"],
                network={"enableDNSHostnames": False}), ["no pod and no Service"]),
        # docs/facts/training-operator.md#environment: only Workers, not elastic: every pod waits for itself (#1988)
        ({**pytorchjob(), "spec": {"pytorchReplicaSpecs": {
            "Worker": pytorchjob()["spec"]["pytorchReplicaSpecs"]["Worker"]}}}, ["every pod waits for itself"]),
        # elastic with a Master: one torchrun more than there are Workers
        (pytorchjob(elasticPolicy={"minReplicas": 1, "maxReplicas": 3}), ["4 pods join a rendezvous of at most 3"]),
        # plain python with an integer nprocPerNode waits for processes that are never started (#1790)
        (pytorchjob(container={"command": ["python", "t.py"]}), ["the rendezvous waits for 32 processes"]),
    ],
)  # fmt: skip
def test_obstacles_are_noted(manifest: dict[str, Any], notes: list[str]) -> None:
    job = only(simulate([manifest]))
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    all_notes = [*rendezvous.notes, *job.notes]
    for note in notes:
        assert any(text.startswith(note) for text in all_notes), all_notes
    if not notes:
        assert [text for text in all_notes if "init container" not in text] == []


def test_a_service_in_the_stream_gives_dns_names() -> None:
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": {"spec": {
            "subdomain": "s", "containers": [{"name": "c", "command": ["torchrun", "--nnodes=2",
            "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=j-0.s", "t.py"]}]}}},
    }  # fmt: skip
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "selector": {"job-name": "j"}},
    }  # fmt: skip
    alone, together = (
        job_rendezvous(only(simulate([job]))),
        job_rendezvous(only(simulate([service, job]))),
    )
    assert alone is not None
    assert together is not None
    assert alone.host is None
    assert (together.host, together.notes) == ("j-0-*****", ())
    separate = job_rendezvous(only(simulate([job], others=[service])))
    assert separate is not None
    assert separate.to_dict() == together.to_dict()


def test_a_runtime_may_come_from_another_file() -> None:
    train = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "tj"},
        "spec": {"runtimeRef": {"name": "mine"}, "trainer": {"numNodes": 2, "command": ["torchrun", "t.py"]}},
    }  # fmt: skip
    node = {"name": "node", "image": "of-the-runtime"}
    replicated = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"containers": [node]}}},
        },
    }
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "mine"},
        "spec": {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [replicated]}}},
    }  # fmt: skip
    world = simulate([train], others=[runtime])
    assert [pod.main and pod.main.image for pod in world.pods] == ["of-the-runtime"] * 2
    assert [pod.rendezvous.node_rank for pod in world.pods] == ["0", "1"]
    assert simulate([runtime, train]).skipped == ()


def test_objects_without_pods_are_listed() -> None:
    world = simulate(
        [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}}, {}]
    )
    assert world.skipped == ("DaemonSet/web", "a document without kind")
    assert "makes no pods: DaemonSet/web" in overview(world)


def test_items_of_a_list_are_simulated() -> None:
    world = simulate([{"apiVersion": "v1", "kind": "List", "items": [pod_of({}), None, 5]}])
    assert [pod.name for pod in world.pods] == ["alone"]


def test_operators_differ_by_version() -> None:
    old = simulate([pytorchjob()], versions=Versions(training_operator=(1, 6))).pods[0].env
    assert "PET_NNODES" not in old  # docs/facts/training-operator.md#what-releases-changed
    assert old["PYTHONUNBUFFERED"] == "0"


def test_frequently_used_pods_are_built_once() -> None:
    job = only(simulate([pytorchjob()]))
    worker = job.roles[-1]
    assert worker.count == 3
    assert all(job.pod(worker, i) is job.pod(worker, i) for i in range(3))
    assert [job.pod(worker, i).index for i in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("nodes", "per_node", "processes", "text"),
    [
        ("3", 8, (24, 24), "24"),
        ("2:3", 8, (16, 24), "16 to 24"),
        ("2:9", 8, (16, 24), "16 to 24"),  # three pods
        ("1:3", 1, (1, 3), "1 to 3"),
    ],
)
def test_the_number_of_processes_is_known_or_a_text(
    nodes: str, per_node: int, processes: tuple[int, int], text: str
) -> None:
    command = ["torchrun", f"--nnodes={nodes}", f"--nproc-per-node={per_node}", "--rdzv-backend=c10d",
               "--rdzv-endpoint=llama-master-0:29400", "t.py"]  # fmt: skip
    rendezvous = job_rendezvous(only(simulate([pytorchjob(2, container={"command": command})])))
    assert rendezvous is not None
    assert (rendezvous.nodes, rendezvous.processes, rendezvous.processes_text) == (
        3,
        processes,
        text,
    )


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"persistentVolumeClaim": {"claimName": "a"}}, ("claim", "a")),
        ({"configMap": {"name": "a"}}, ("configmap", "a")),
        ({"secret": {"secretName": "a"}}, ("secret", "a")),
        ({"hostPath": {"path": "/a"}}, ("host", "/a")),
        ({"nfs": {"server": "s", "path": "/a"}}, ("nfs", "/a")),
        ({"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}, ("memory", "8Gi")),
        ({"emptyDir": {"medium": "Memory"}}, ("memory", "")),
        ({"emptyDir": {"sizeLimit": "8Gi"}}, ("scratch", "8Gi")),
        ({"emptyDir": {}}, ("scratch", "")),
        ({"csi": {"driver": "d"}}, ("csi", "")),
        ({}, ("scratch", "")),
    ],
)
def test_volumes_have_their_sources(volume: dict[str, Any], expected: tuple[str, str]) -> None:
    assert volume_sources({"volumes": [{"name": "v", **volume}]}) == [("v", *expected)]
