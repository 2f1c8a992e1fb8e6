"""What every pod will see: reading command lines, the rendezvous, totals, gangs, failures, text, JSON, law 5."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ptcompile.expand import PodView
from ptcompile.graph import GRAPHS
from ptcompile.quantity import parse
from ptcompile.simulating import simulate as simulate_text
from ptcompile.simulation import World, amounts, same_world, simulate
from ptcompile.simulation import world as world_module
from ptcompile.simulation.as_json import node_requirements
from ptcompile.simulation.launch import entry_words, read
from ptcompile.simulation.meeting import meeting
from ptcompile.simulation.overview import overview
from ptcompile.simulation.pod import Pod
from ptcompile.simulation.podtext import env_file, in_full
from ptcompile.simulation.rendezvous import AT_RENDEZVOUS, rendezvous
from ptcompile.versions import Versions
from tests.oracle import needs_rows, rows

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = sorted(path for path in (ROOT / "golden").glob("*/spec.yaml") if not path.parent.name.startswith("bad-"))
SCHEMA = json.loads((ROOT / "schemas" / "world.schema.json").read_text(encoding="utf-8"))

CONTAINER: dict[str, Any] = {
    "name": "pytorch",
    "image": "ghcr.io/acme/llama:2.1",
    "command": ["torchrun", "train.py"],
    "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
    "resources": {"limits": {"nvidia.com/gpu": 8, "cpu": "32", "memory": "256Gi"}},
}


def pytorchjob(workers: int = 3, *, container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{**CONTAINER, **(container or {})}]}}
    replicas = {"Master": {"replicas": 1, "template": template}, "Worker": {"replicas": workers, "template": template}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "llama", "namespace": "research"},
        "spec": {"nprocPerNode": "8", "pytorchReplicaSpecs": replicas, **spec},
    }


def pod_of(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    body = {"containers": [{"name": "main", "image": "i", **container}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": body}


def jobset(command: list[str], **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "i", "command": command}]}
    job = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": {"spec": pod}}
    replicated = {"name": "workers", "replicas": 2, "template": {"spec": job}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js"},
        "spec": {"replicatedJobs": [replicated], **spec},
    }


def volcano(workers: int = 2, *, min_available: int | None = None, **spec: Any) -> dict[str, Any]:
    line = "torchrun --nnodes=$WORLD_SIZE --nproc-per-node=2 --node-rank=${RANK} --master-addr=$MASTER_ADDR train.py"
    resources = {"limits": {"nvidia.com/gpu": 2}, "requests": {"cpu": 4}}
    container = {"name": "c", "image": "i", "command": ["sh", "-ec", line], "resources": resources}
    template = {"spec": {"restartPolicy": "OnFailure", "containers": [container]}}
    tasks = [{"name": name, "replicas": n, "template": template} for name, n in (("master", 1), ("worker", workers))]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "vj"},
        "spec": {
            "minAvailable": min_available if min_available is not None else workers + 1,
            "plugins": {"pytorch": [], "svc": []},
            "tasks": tasks,
            **spec,
        },
    }


def only(world: World) -> Any:
    assert len(world.jobs) == 1
    return world.jobs[0]


# Command lines


@pytest.mark.parametrize(
    ("argv", "launcher", "options", "entry"),
    [
        (["torchrun", "train.py", "--nnodes", "7"], "torchrun", {}, ("train.py", "--nnodes", "7")),
        # kubeflow.md 0: both spellings of each flag work
        (["torchrun", "--nproc_per_node=2", "--nnodes", "1:2", "t.py"], "torchrun",
         {"nproc-per-node": "2", "nnodes": "1:2"}, ("t.py",)),
        (["/opt/bin/torchrun", "--standalone", "-m", "pkg.train"], "torchrun",
         {"standalone": "1", "module": "1"}, ("pkg.train",)),
        (["python", "-u", "-m", "torch.distributed.run", "--nnodes=2", "t.py"], "torchrun", {"nnodes": "2"}, ("t.py",)),
        (["python3", "-m", "torch.distributed.launch", "--use_env", "t.py"], "torchrun", {"use-env": "1"}, ("t.py",)),
        (["numactl", "--interleave=all", "torchrun", "t.py"], "torchrun", {}, ("t.py",)),
        (["torchrun", "--", "t.py"], "torchrun", {}, ("t.py",)),
        (["python", "train.py", "--launcher", "torchrun"], "command", {},
         ("python", "train.py", "--launcher", "torchrun")),
        (["app", "--launcher", "torchrun"], "command", {}, ("app", "--launcher", "torchrun")),
        (["bash", "-c", "pip list && torchrun --nnodes=$N t.py"], "torchrun", {"nnodes": "4"}, ("t.py",)),
        (["bash", "-lc", "export X=${N}; exec torchrun --nnodes ${X:-1} \\\n  t.py # done"], "torchrun",
         {"nnodes": "4"}, ("t.py",)),
        (["sh", "-c", "N=9 torchrun --nnodes=\"$N\" 'a b.py'"], "torchrun", {"nnodes": "4"}, ("a b.py",)),
        (["sh", "-c", "torchrun --node-rank=${HOSTNAME##*-} t.py"], "torchrun", {"node-rank": "3"}, ("t.py",)),
        (["sh", "-c", "torchrun --nnodes=$(nproc --all) t.py"], "torchrun", {"nnodes": "$(nproc --all)"}, ("t.py",)),
        (["bash", "-c", "bash -c 'torchrun --nnodes=2 t.py'"], "torchrun", {"nnodes": "2"}, ("t.py",)),
        (["bash", "run.sh"], "command", {}, ("bash", "run.sh")),
        (["accelerate", "launch", "t.py"], "accelerate", {}, ("accelerate", "launch", "t.py")),
        (["deepspeed", "t.py"], "deepspeed", {}, ("deepspeed", "t.py")),
        (["tune", "run", "--nnodes", "2", "recipe"], "tune", {"nnodes": "2"}, ("recipe",)),
        (["bash", "-c"], "command", {}, ("bash", "-c")),
        (["bash", "-c", ""], "command", {}, ("bash", "-c", "")),
        ([], "image", {}, ()),
    ],
)  # fmt: skip
def test_launcher(argv: list[str], launcher: str, options: dict[str, str], entry: tuple[str, ...]) -> None:
    launch = read(argv, {"N": "4", "HOSTNAME": "job-3"})
    assert (launch.launcher, dict(launch.options), launch.entry) == (launcher, options, entry)


def test_an_assignment_before_the_command_is_in_its_environment() -> None:
    launch = read(["sh", "-c", "export A=1; PET_NNODES=3 torchrun t.py"], {})
    assert dict(launch.env) == {"A": "1", "PET_NNODES": "3"}
    assert launch.in_shell


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["python", "-u", "t.py", "--x"], ("t.py", "--x")),
        (["python3.12", "-X", "dev", "t.py"], ("t.py",)),
        (["python", "-m", "pkg"], ("-m", "pkg")),
        (["torchrun", "--nnodes=2", "-m", "pkg"], ("-m", "pkg")),
        (["torchrun", "--nnodes=2", "t.py", "--x"], ("t.py", "--x")),
    ],
)
def test_what_runs_in_the_end(argv: list[str], words: tuple[str, ...]) -> None:
    assert entry_words(read(argv, {})) == words


@given(st.text(alphabet="ab $(){}'\"\\;&|\n#=-:", max_size=60))
def test_any_script_can_be_read(script: str) -> None:
    read(["bash", "-c", script], {"a": "b"})


def test_a_long_script_of_open_quotes_takes_no_time() -> None:
    for piece in ("$(", "'\"", "${", '"\\'):
        started = time.process_time()
        read(["bash", "-c", piece * 30_000], {})
        assert time.process_time() - started < 5


# The rendezvous (kubeflow.md 0)


@pytest.mark.parametrize(
    ("argv", "env", "devices", "wanted"),
    [
        # the defaults
        (["torchrun", "t.py"], {}, 0, ("static", "127.0.0.1:29500", (1, 1), "0", 1, "1")),
        # PET_* alone make two agents meet
        (["torchrun", "t.py"],
         {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": "h",
          "PET_MASTER_PORT": "1"}, 0, ("static", "h:1", (2, 2), "1", 2, "4")),
        # a flag beats the variable
        (["torchrun", "--nnodes=4", "t.py"], {"PET_NNODES": "2"}, 0,
         ("static", "127.0.0.1:29500", (4, 4), "0", 1, "4")),
        # another backend ignores address, port and node rank
        (["torchrun", "--nnodes=2:4", "--nproc-per-node=8", "--rdzv-backend=c10d", "--rdzv-endpoint=h:29400", "t.py"],
         {"PET_NODE_RANK": "3"}, 8, ("c10d", "h:29400", (2, 4), AT_RENDEZVOUS, 8, "16 to 32")),
        # standalone overrides all
        (["torchrun", "--standalone", "--rdzv-endpoint=h:1", "t.py"], {}, 0,
         ("c10d", "localhost:0", (1, 1), AT_RENDEZVOUS, 1, "1")),
        (["torchrun", "--nproc-per-node=auto", "t.py"], {"PET_NNODES": "2"}, 4,
         ("static", "127.0.0.1:29500", (2, 2), "0", 4, "8")),
        (["torchrun", "--nproc-per-node=auto", "t.py"], {}, 0,
         ("static", "127.0.0.1:29500", (1, 1), "0", None, "1 x number of the host's cores (auto)")),
        # 0 and MIN over MAX crash torchrun
        (["torchrun", "--nnodes=4:2", "t.py"], {}, 0, ("static", "127.0.0.1:29500", None, "0", 1, "4:2 x 1")),
        (["torchrun", "--nnodes=0", "t.py"], {}, 0, ("static", "127.0.0.1:29500", None, "0", 1, "0 x 1")),
        # without torchrun
        (["python", "t.py"], {"MASTER_ADDR": "h", "MASTER_PORT": "1", "WORLD_SIZE": "4", "RANK": "2"}, 8,
         ("env", "h:1", (4, 4), "2", 1, "4")),
        (["python", "t.py"], {"PET_NNODES": "4"}, 8, ("none", "", (1, 1), "0", 1, "1")),
    ],
)  # fmt: skip
def test_rendezvous(argv: list[str], env: dict[str, str], devices: int, wanted: tuple[object, ...]) -> None:
    seen = rendezvous(read(argv, env), env, devices)
    assert (seen.backend, seen.endpoint, seen.nodes, seen.node_rank, seen.processes, seen.world_text) == wanted


@pytest.mark.parametrize(
    ("argv", "env", "note"),
    [
        (["torchrun", "t.py"], {"PET_STANDALONE": ""}, "torchrun does not start: PET_STANDALONE is ''"),
        (["torchrun", "--nnodes=4:2", "t.py"], {}, "torchrun does not start: nnodes '4:2'"),
        (["torchrun", "--nproc-per-node=gpu", "t.py"], {}, "torchrun does not start without a device"),
        (["torchrun", "--nproc-per-node=8 ", "t.py"], {}, "torchrun does not start: nproc-per-node '8 '"),
        (["accelerate", "launch", "t.py"], {}, "accelerate launch does not read PET_* variables"),
        (["python", "t.py"], {"PET_NNODES": "4"}, "nobody reads the PET_* variables"),
        ([], {"PET_NNODES": "4"}, "the image's own command is not known"),
    ],
)
def test_rendezvous_notes(argv: list[str], env: dict[str, str], note: str) -> None:
    assert any(one.startswith(note) for one in rendezvous(read(argv, env), env, 0).notes)


# Whole jobs


def test_pytorchjob_as_a_whole() -> None:
    job = only(simulate([pytorchjob()]))
    found = meeting(job)
    assert found is not None
    assert (found.nodes, found.processes, found.host, found.notes) == (4, (32, 32), "llama-master-0", ())
    assert found.first.endpoint == "llama-master-0:23456"
    assert amounts.as_text(job.totals()) == {"nvidia.com/gpu": "32", "cpu": "128", "memory": "1Ti"}
    assert job.pod_group["minMember"] == 4
    assert job.pod_group["minResources"]["nvidia.com/gpu"] == "32"  # kubeflow.md 1.9: limits where no requests are


def test_pod_of_a_world() -> None:
    pod = simulate([pytorchjob()]).pods[2]
    assert (pod.name, pod.hostname, pod.role, pod.index) == ("llama-worker-1", "llama-worker-1", "worker", 1)
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


@pytest.mark.parametrize("name", ["llama-worker-2", "js-workers-1-1", "js-workers-1-1-*****", "vj-worker-1", "alone"])
def test_a_pod_is_found_by_its_name(name: str) -> None:
    world = simulate([pytorchjob(), jobset(["torchrun"]), volcano(), pod_of({})])
    assert [pod.name for pod in world.pods.named(name)] == [name.removesuffix("-*****")]


def test_no_pod_of_that_name() -> None:
    assert simulate([pytorchjob()]).pods.named("llama-worker-3") == []


@pytest.mark.parametrize(
    ("manifest", "notes"),
    [
        (pytorchjob(), []),
        (volcano(), ["NetworkPolicy", "Volcano runs"]),
        # kubeflow.md 3.3: resnet-cifar10 passes only master address and port
        (jobset(["torchrun", "--master-addr=js-workers-0-0.js", "t.py"]), ["4 pods expect one node each"]),
        # kubeflow.md 7.2 J10: the completion index starts again in each Job
        (jobset(["torchrun", "--nnodes=4", "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=js-workers-0-0.js",
                 "t.py"]), ["js-workers-0-"]),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"]), []),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=gone:1", "t.py"]),
         ["no pod and no Service of this stream answers to gone"]),
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd.infra:2379", "t.py"]), []),
        (jobset(["torchrun", "--nnodes=5", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"]),
         ["the rendezvous waits for 5 nodes, and there are 4 pods"]),
        # J04: no host names
        (jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", "--rdzv-endpoint=js-workers-0-0.js:1", "t.py"],
                network={"enableDNSHostnames": False}), ["no pod and no Service", "c10d hands out a pod's own host"]),
        # kubeflow.md 1.5: worker only, not elastic: every pod waits for itself (#1988)
        ({**pytorchjob(), "spec": {"pytorchReplicaSpecs": {
            "Worker": pytorchjob()["spec"]["pytorchReplicaSpecs"]["Worker"]}}}, ["every pod waits for itself"]),
        # elastic with a Master: agents are workers + 1
        (pytorchjob(elasticPolicy={"minReplicas": 1, "maxReplicas": 3}), ["4 pods come to a rendezvous of at most 3"]),
        # plain python with an integer nprocPerNode waits for processes that nobody starts (#1790)
        (pytorchjob(container={"command": ["python", "t.py"]}), ["the rendezvous waits for 32 processes"]),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said(manifest: dict[str, Any], notes: list[str]) -> None:
    job = only(simulate([manifest]))
    found = meeting(job)
    assert found is not None
    said = [*found.notes, *job.notes]
    for note in notes:
        assert any(one.startswith(note) for one in said), said
    if not notes:
        assert said == []


def test_a_service_of_the_same_stream_gives_dns() -> None:
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
    alone, together = meeting(only(simulate([job]))), meeting(only(simulate([service, job])))
    assert alone is not None
    assert together is not None
    assert alone.host is None
    assert (together.host, together.notes) == ("j-0-*****", ())
    beside = meeting(only(simulate([job], others=[service])))
    assert beside is not None
    assert beside.to_dict() == together.to_dict()


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


def test_what_makes_no_pods_is_counted() -> None:
    world = simulate([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}, {}])
    assert world.skipped == ("Deployment/web", "a document without kind")
    assert "makes no pods: Deployment/web" in overview(world)


def test_items_of_a_list_count() -> None:
    world = simulate([{"apiVersion": "v1", "kind": "List", "items": [pod_of({}), None, 5]}])
    assert [pod.name for pod in world.pods] == ["alone"]


def test_operators_differ_by_version() -> None:
    old = simulate([pytorchjob()], versions=Versions(training_operator=(1, 6))).pods[0].env
    assert "PET_NNODES" not in old  # kubeflow.md 1.5 history
    assert old["PYTHONUNBUFFERED"] == "0"


# What pods ask for


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, {"cpu": "2"}),
        ({"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]}, {"cpu": "1"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}] * 2}, {"cpu": "2"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"resources": {"requests": {"cpu": 3}}}]}, {"cpu": "3"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": 3}}}]}, {"cpu": "4"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": 1}}},
                             {"resources": {"requests": {"cpu": 2}}}]}, {"cpu": "3"}),
        ({"containers": [{}], "resources": {"requests": {"cpu": 5}}}, {"cpu": "5"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}], "overhead": {"cpu": "250m"}}, {"cpu": "1250m"}),
        ({"containers": [{"resources": {"requests": {"cpu": "x"}}}]}, {}),
        ({}, {}),
    ],
)  # fmt: skip
def test_requests_of_a_pod(spec: dict[str, Any], wanted: dict[str, str]) -> None:
    assert amounts.as_text(amounts.of_pod(spec)) == wanted


@pytest.mark.parametrize(
    ("min_available", "wanted"),
    [(3, {"cpu": "12"}), (2, {"cpu": "8"}), (1, {"cpu": "4"})],
    ids=["all", "two", "one"],
)
def test_volcano_min_resources(min_available: int, wanted: dict[str, str]) -> None:
    """volcano.md 3.3: only requests count, so a GPU in limits alone is missing."""
    group = only(simulate([volcano(min_available=min_available)])).pod_group
    assert group["minResources"] == wanted


def test_node_requirements_in_words() -> None:
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100", "h100"]}]}]
    spec = {
        "nodeSelector": {"zone": "a"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "tolerations": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"operator": "Exists"}],
    }
    assert list(node_requirements(spec)) == [
        "zone is a",
        "gpu In a100, h100",
        "may be tainted k=v:NoSchedule",
        "may be tainted any taint=*",
    ]


# What happens on failure


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (pod_of({}), "restartPolicy Always: a container that ends is restarted in its pod by the kubelet, for ever"),
        # kubeflow.md 1.7
        (pytorchjob(), "no backoffLimit: restarts are not counted and go on for ever"),
        (pytorchjob(runPolicy={"backoffLimit": 0}), "backoffLimit 0: the job fails when"),
        (pytorchjob(runPolicy={"cleanPodPolicy": "All"}), "cleanPodPolicy All: at the end all pods are deleted"),
        (pytorchjob(runPolicy={"ttlSecondsAfterFinished": 0}), "ttlSecondsAfterFinished 0"),
        (pytorchjob(), "the job succeeds with its Master"),
        # volcano.md 1.5
        (volcano(), "no policy for PodFailed: a failed pod is not made again"),
        (volcano(policies=[{"events": ["PodFailed"], "action": "RestartJob"}]), "any task: PodFailed -> RestartJob"),
        (volcano(), "maxRetry 3"),
        # kubeflow.md 3.3
        (jobset(["x"]), "no failurePolicy: the first Job that fails fails the JobSet"),
        (jobset(["x"], failurePolicy={"maxRestarts": 4}), "failurePolicy: a failed Job starts all Jobs again, at most"),
        (jobset(["x"]), "workers: backoffLimit 0: the first failure fails the Job"),
        ({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"activeDeadlineSeconds": 9}},
         "activeDeadlineSeconds 9: then the TrainJob fails"),
    ],
)  # fmt: skip
def test_on_failure(manifest: dict[str, Any], sentence: str) -> None:
    said = only(simulate([manifest])).failure
    assert any(one.startswith(sentence) for one in said), said


def test_a_policy_for_failed_pods_silences_the_warning() -> None:
    said = only(simulate([volcano(policies=[{"event": "*", "action": "RestartJob"}])])).failure
    assert not any(one.startswith("no policy") for one in said)


# Text


def test_wide_roles_are_folded() -> None:
    text = overview(simulate([pytorchjob(255)]))
    assert "llama-worker-1 .. llama-worker-254  likewise" in text
    assert "  llama-worker-0 .. llama-worker-254: as llama-master-0 but RANK=1..255, PET_NODE_RANK=1..255" in text
    assert "llama-worker-7" not in text
    assert "  +  RANK                0" in text
    assert "     NCCL_DEBUG          INFO" in text


def test_an_index_that_starts_again_is_not_a_run() -> None:
    assert "JOB_COMPLETION_INDEX=1, 0 .. 1" in overview(simulate([jobset(["torchrun", "t.py"])]))


def test_values_stand_beside_what_was_written() -> None:
    env = [
        {"name": "A", "value": "x"},
        {"name": "B", "value": "$(A)/$(LATER)"},
        {"name": "LATER", "value": "y"},
        {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "S", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
    ]
    container = {"env": env, "command": ["run", "$(A)"], "args": ["$(S)"]}
    text = in_full(simulate([pod_of(container)]).pods[0])
    lines = [line.split() for line in text.splitlines()]
    assert ["B", "x/$(LATER)", "written", "$(A)/$(LATER)"] in lines
    assert ["NS", "default", "from", "metadata.namespace"] in lines
    assert "command      run x\n" in text
    assert "as written run '$(A)'" in text
    assert "<secret:hf/token>" in text


def test_a_pod_in_full() -> None:
    text = in_full(simulate([pytorchjob()]).pods[3])
    for line in (
        "Pod/llama-worker-2  (worker 2 of PyTorchJob/llama, namespace research)",
        "    ranks        24 to 31",
        "    endpoint     llama-master-0:23456 (llama-master-0)",
        "  init container init-pytorch",
        "  container pytorch  (trains)",
        "    ports        23456/TCP (pytorchjob-port)",
    ):
        assert line in text


def test_env_file() -> None:
    env = [
        {"name": "A", "value": "x #y"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
        {"name": "URL", "value": "https://$(TOKEN)@host"},
        {"name": "LINES", "value": "a\nb"},
        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "A", "value": "last"},
    ]
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"mode": "fast"}}
    source = {"secretRef": {"name": "all"}}
    world = simulate([settings, pod_of({"env": env, "envFrom": [source]})])
    assert env_file(world.pods[0]).splitlines() == [
        "# alone: container main of Pod/alone",
        "# all of secret:all",
        "# TOKEN: secret:hf/token",
        "# URL: https://<secret:hf/token>@host",
        "# LINES: 'a\\nb' cannot stand in such a file",
        "MAP=fast",
        "# IP: status.podIP",
        "POD=alone",
        "A=last",
    ]


def test_env_file_knows_volcanos_own_configmap() -> None:
    lines = env_file(simulate([volcano()]).pods.named("vj-worker-1")[0]).splitlines()
    assert "VC_WORKER_HOSTS=vj-worker-0.vj,vj-worker-1.vj" in lines
    assert "RANK=2" in lines


EVIL = "e\x1b[31m\u202evil<script>\"'&"


def test_nothing_steers_a_terminal() -> None:
    """Every word of the manifest that is a person's own."""
    world = simulate([_poisoned(pytorchjob()), _poisoned(volcano()), _poisoned(pod_of({"env": [{"name": "A"}]}))])
    pods = list(world.pods)
    assert pods
    for text in (overview(world), *(in_full(pod) for pod in pods), *(env_file(pod) for pod in pods)):
        assert all(line.isprintable() for line in text.split("\n"))
    assert "\\x1b" in overview(world)


def _poisoned(data: Any) -> Any:
    """Every string that is not a kind or a version, with a control sequence behind it."""
    if isinstance(data, dict):
        kept = ("apiVersion", "kind", "restartPolicy")
        return {k: v if k in kept else _poisoned(v) for k, v in data.items()}
    if isinstance(data, list):
        return [_poisoned(v) for v in data]
    return data + EVIL if isinstance(data, str) and parse(data) is None else data


# JSON


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_json_form_is_as_its_schema_says(path: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(_golden(path).to_dict())))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_field_that_the_schema_does_not_know_is_refused() -> None:
    data = simulate([pytorchjob()]).to_dict()
    data["pods"][0]["more"] = 1
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(data)


def test_json_of_a_large_world_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate([pytorchjob(2**31 - 1)])
    data = world.to_dict()
    assert (data["podsTotal"], data["folded"], len(data["pods"])) == (2**31, True, 11)
    assert data["pods"][-1]["name"] == f"llama-worker-{2**31 - 2}"
    monkeypatch.setattr(world_module, "WIDE", 100)
    assert len(simulate([pytorchjob(200)]).to_dict()["pods"]) == 11
    assert len(simulate([pytorchjob(200)]).to_dict(all_pods=True)["pods"]) == 201


# Law 5: whatever the target, the same world


def _golden(path: Path) -> World:
    cluster = path.parent / "cluster.yaml"
    return simulate_text(path.read_bytes(), cluster=cluster.read_bytes() if cluster.exists() else None)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_the_same_world_for_every_target(path: Path) -> None:
    world = _golden(path)
    if not world.jobs:
        assert world.diagnostics
    worlds = [World((job,)) for job in world.jobs]
    assert [same_world(worlds[0], other) for other in worlds[1:]] == [[]] * (len(worlds) - 1 if worlds else 0)


def _changed(manifest: dict[str, Any], change: str) -> dict[str, Any]:
    out = copy.deepcopy(manifest)
    container = out["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    if change == "env":
        container["env"] = [{"name": "NCCL_DEBUG", "value": "WARN"}]
    elif change == "runs":
        container["command"] = ["torchrun", "other.py"]
    elif change == "limits":
        container["resources"] = {"limits": {"nvidia.com/gpu": 4}}
    elif change == "training pods":
        out["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 4
    elif change == "processes":
        out["spec"]["nprocPerNode"] = "4"
    elif change == "nothing answers":
        for role in out["spec"]["pytorchReplicaSpecs"].values():
            role["template"]["spec"]["containers"][0]["command"] = ["torchrun", "--master-addr=gone", "train.py"]
    elif change == "ranks":
        for role in out["spec"]["pytorchReplicaSpecs"].values():
            role["template"]["spec"]["containers"][0]["command"] = ["torchrun", "--node-rank=0", "train.py"]
    elif change == "max-restarts":
        for role in out["spec"]["pytorchReplicaSpecs"].values():
            role["template"]["spec"]["containers"][0]["command"] = ["torchrun", "--max-restarts=2", "train.py"]
    return out


@pytest.mark.parametrize(
    "change", ["env", "runs", "limits", "training pods", "processes", "nothing answers", "ranks", "max-restarts"]
)
def test_a_difference_is_seen(change: str) -> None:
    plain = pytorchjob()
    assert same_world(simulate([plain]), simulate([copy.deepcopy(plain)])) == []
    said = same_world(simulate([plain]), simulate([_changed(plain, change)]))
    assert any(change in one for one in said), said


# The operators' own answers, and any data at all


@needs_rows
@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_json_names_pods_as_the_operators_do(operator: str) -> None:
    right = wrong = 0
    for row, manifest in list(rows(operator))[::9]:
        if row["accepted"] and row.get("pods"):
            names = {pod["name"] for pod in simulate([manifest]).to_dict()["pods"]}
            right += sum(pod["name"] in names for pod in row["pods"])
            wrong += sum(pod["name"] not in names for pod in row["pods"])
    assert right > 20
    assert wrong <= right * 0.005


@needs_rows
@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_nothing_raises_on_what_people_write(operator: str) -> None:
    for _, manifest in list(rows(operator))[::40]:
        _everything(simulate([manifest]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from([pytorchjob(), volcano(), jobset(["torchrun"]), pod_of({})]), st.data())
def test_any_data_is_taken(manifest: dict[str, Any], data: st.DataObject) -> None:
    out = copy.deepcopy(manifest)
    node: Any = out["spec"]
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.integers(0, 3)) == 0 or not isinstance(node[key], dict | list):
            node[key] = data.draw(JSON)
            break
        node = node[key]
    _everything(simulate([out]))


def _everything(world: World) -> None:
    json.dumps(world.to_dict())
    overview(world)
    for pod in list(world.pods.folded())[:2]:
        in_full(pod)
        env_file(pod)
    for draw in GRAPHS.values():
        draw(world)


def test_a_wide_job_costs_what_a_narrow_one_does() -> None:
    """Issue 6: 10,000 pods in under 5 times the time of 100, folded."""

    def cost(workers: int) -> float:
        best = 9.0
        for _ in range(3):
            started = time.process_time()
            overview(simulate([pytorchjob(workers), volcano(workers)]))
            best = min(best, time.process_time() - started)
        return best

    assert cost(10_000) < 5 * cost(100)


# The function of the public API


SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: i, script: t.py, nodes: 2}
"""


def test_a_spec_is_simulated_for_every_target_that_can_express_it() -> None:
    world = simulate_text(SPEC)
    assert world.ok
    assert [job.target for job in world.jobs] == ["job", "pytorchjob", "volcano"]
    assert [job.target for job in simulate_text(SPEC, target="volcano").jobs] == ["volcano"]
    assert all(len(list(job.pods())) == 2 for job in world.jobs)


def test_a_spec_with_mistakes_gives_findings() -> None:
    world = simulate_text(SPEC.replace("script", "scripd"), filename="s.yaml")
    assert not world.ok
    assert not world.jobs
    assert {d.filename for d in world.diagnostics} == {"s.yaml"}


@pytest.mark.parametrize("text", ["", "a: [", b"\xff\xfe\x00", "- 1\n- 2", "kind: Pod\n---\nx: {"])
def test_bad_text_is_a_finding(text: str | bytes) -> None:
    world = simulate_text(text)
    assert not world.ok
    json.dumps(world.to_dict())


def test_the_profile_says_which_versions_run() -> None:
    cluster = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: old}\nspec: {versions: {trainingOperator: '1.6'}}\n"
    assert "PET_NNODES" not in simulate_text(yaml.safe_dump(pytorchjob()), cluster=cluster).pods[0].env
    assert not simulate_text(SPEC, cluster="kind: 5").ok


def test_a_mapping_is_taken_and_not_changed() -> None:
    manifest = pytorchjob()
    before = copy.deepcopy(manifest)
    _everything(simulate_text(manifest))
    assert manifest == before


def test_views_are_reachable() -> None:
    pod = simulate([pytorchjob()]).pods[0]
    assert isinstance(pod, Pod)
    assert isinstance(pod.view, PodView)
    assert [container.name for container in pod.containers] == ["pytorch"]
