"""Pods, PodGroup and plugin output that Volcano 1.16 creates for a Job.

Source: docs/facts/volcano.md#cases, #plugin-arguments, #the-pytorch-plugin, #the-env-plugin, #the-svc-plugin,
#other-plugins.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.templates import Template
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import expand
from ptcompile.operators.volcano.pods import describe_failures, is_recreated, lost_pod, restarts
from tests.operators.making import Json, container, env, pods, ports, task, volcano

PLUGIN: Json = {"pytorch": []}
ADDRESS = "test-pytorch-master-0.test-pytorch"


def four(*args: str) -> Json:
    """Return the Job of case C4: master 1, worker 2, extra 2; the master has a port 123."""
    master = task("master", 1, container(ports=[{"name": "own", "containerPort": 123}]))
    return volcano(master, task("worker", 2), task("extra", 2), plugins={"pytorch": list(args)})


def test_pods_without_a_master_have_no_pytorch_variables() -> None:
    """Case C1 of docs/facts/volcano.md#cases."""
    world = expand(volcano(task("worker"), plugins=PLUGIN))
    assert env(world.pods[0]) == {
        k: v for k, v in env(world.pods[0]).items() if k.startswith("VC_")
    }
    assert ports(world.pods[0]) == []
    assert any("no task is named 'master'" in note for note in world.notes)


@pytest.mark.parametrize(
    "existing", [[], [{"name": "pytorchjob-port", "containerPort": 23456}]], ids=["C2", "C3"]
)
def test_the_port_of_the_master_is_added_once(existing: list[Json]) -> None:
    """Cases C2 and C3 of docs/facts/volcano.md#cases."""
    pod = pods(
        volcano(task("master", 1, container(ports=existing)), task("worker"), plugins=PLUGIN)
    )
    variables = env(pod["test-pytorch-master-0"])
    assert (variables["MASTER_ADDR"], variables["MASTER_PORT"]) == (ADDRESS, "23456")
    assert (variables["WORLD_SIZE"], variables["RANK"]) == ("2", "0")
    assert ports(pod["test-pytorch-master-0"]) == [("pytorchjob-port", 23456)]


def test_tasks_other_than_master_and_worker_get_no_rank() -> None:
    """Cases C4 to C7 of docs/facts/volcano.md#cases."""
    world = pods(four())
    assert ports(world["test-pytorch-master-0"]) == [("own", 123), ("pytorchjob-port", 23456)]
    ranks = {name: env(pod).get("RANK") for name, pod in world.items()}
    assert ranks == {
        "test-pytorch-master-0": "0",
        "test-pytorch-worker-0": "1",
        "test-pytorch-worker-1": "2",
        "test-pytorch-extra-0": None,
        "test-pytorch-extra-1": None,
    }
    assert {env(pod)["WORLD_SIZE"] for pod in world.values()} == {"3"}
    assert ports(world["test-pytorch-extra-0"]) == [("pytorchjob-port", 23456)]


def test_before_1_12_every_task_counts() -> None:
    variables = env(pods(four(), versions=Versions(volcano=(1, 11)))["test-pytorch-worker-0"])
    assert variables["WORLD_SIZE"] == "5"


def inits(manifest: Json) -> dict[str, list[tuple[str, str | None]]]:
    return {
        n: [(c.name, c.image) for c in p.containers if c.init] for n, p in pods(manifest).items()
    }


def test_only_workers_wait_for_the_master() -> None:
    """Cases C8 to C10 of docs/facts/volcano.md#cases."""
    init_containers = inits(four("--wait-master-enabled"))
    assert init_containers["test-pytorch-worker-0"] == [("wait-for-master", "busybox:1.36.1")]
    assert init_containers["test-pytorch-master-0"] == []
    assert inits(four())["test-pytorch-worker-0"] == []


WAITING = {"pytorch": ["--wait-master-enabled"]}


def test_without_a_master_no_worker_waits() -> None:
    """Case C11 of docs/facts/volcano.md#cases."""
    assert inits(volcano(task("worker"), plugins=WAITING))["test-pytorch-worker-0"] == []


def test_a_container_of_the_user_that_waits_is_kept() -> None:
    """Case C12 of docs/facts/volcano.md#cases."""
    worker = task("worker")
    worker["template"]["spec"]["initContainers"] = [container("wait-for-master")]
    job = volcano(task("master"), worker, plugins=WAITING)
    assert inits(job)["test-pytorch-worker-0"] == [("wait-for-master", "img:1")]


def test_image_and_timeout_of_the_waiting_container_are_flags() -> None:
    """Case C13 of docs/facts/volcano.md#cases."""
    args = [
        "--wait-master-enabled",
        "--wait-master-image=alpine:latest",
        "--wait-master-timeout=600",
    ]
    pod = pods(volcano(task("master"), task("worker"), plugins={"pytorch": args}))[
        "test-pytorch-worker-0"
    ]
    waiting = pod.containers[0]
    assert waiting.image == "alpine:latest"
    assert waiting.command is not None
    assert "600" in waiting.command[2]


def test_the_master_address_is_the_host_name_of_the_template() -> None:
    """Case C14 of docs/facts/volcano.md#cases."""
    master = task("master")
    master["template"]["spec"] |= {"hostname": "h", "subdomain": "s"}
    variables = env(pods(volcano(master, task("worker"), plugins=PLUGIN))["test-pytorch-worker-0"])
    assert variables["MASTER_ADDR"] == "h.s"


def test_an_invalid_port_becomes_0() -> None:
    """Case C15 of docs/facts/volcano.md#cases."""
    assert env(pods(four("--port=abc"))["test-pytorch-worker-0"])["MASTER_PORT"] == "0"


def test_two_masters_share_a_rank() -> None:
    """Case C16 of docs/facts/volcano.md#cases."""
    world = pods(volcano(task("master", 2), task("worker", 2), plugins=PLUGIN))
    assert [env(p)["RANK"] for p in world.values()] == ["0", "0", "1", "2"]
    assert env(world["test-pytorch-worker-0"])["WORLD_SIZE"] == "4"


def test_unnamed_tasks_are_numbered() -> None:
    """Case C61 of docs/facts/volcano.md#cases."""
    tasks = [task("") for _ in range(4)]
    assert list(pods(volcano(*tasks))) == [f"test-pytorch-default{i}-0" for i in range(4)]


@pytest.mark.parametrize(
    ("replicas", "policy", "least"),
    [
        pytest.param(
            9, {"totalPartitions": 3, "partitionSize": 3, "minPartitions": 2}, 6, id="C62"
        ),
        pytest.param(4, {"totalPartitions": 2, "partitionSize": 2}, 4, id="C63"),
        pytest.param(5, None, 5, id="C64"),
    ],
)
def test_the_gang_has_the_least_partitions(replicas: int, policy: Json | None, least: int) -> None:
    """Cases C62 to C64 of docs/facts/volcano.md#cases."""
    more = {"partitionPolicy": policy} if policy else {}
    group = expand(volcano(task("t", replicas, **more))).pod_group
    assert group is not None
    assert group["minTaskMember"] == {"t": least}
    assert group["minMember"] == least


def test_a_pod_name_is_job_task_and_index() -> None:
    """Case C65 of docs/facts/volcano.md#cases."""
    assert "job1-task1-1" in pods(volcano(task("task1", 2), name="job1"))


def test_values_of_the_template_win() -> None:
    """Cases C66 and C67 of docs/facts/volcano.md#cases."""
    with_values = task("a")
    with_values["template"]["spec"] |= {"schedulerName": "mine", "priorityClassName": "high"}
    world = pods(volcano(with_values, task("b"), schedulerName="theirs", priorityClassName="low"))
    first, second = world["test-pytorch-a-0"].spec, world["test-pytorch-b-0"].spec
    assert (first["schedulerName"], first["priorityClassName"]) == ("mine", "high")
    assert (second["schedulerName"], second["priorityClassName"]) == ("theirs", "low")


@pytest.mark.parametrize(("claims", "count"), [(("pvc1", "pvc2"), 2), (("pvc1", "pvc1"), 1)])
def test_each_claim_is_mounted_once(claims: tuple[str, str], count: int) -> None:
    """Case C68 of docs/facts/volcano.md#cases."""
    volumes = [{"mountPath": f"/{i}", "volumeClaimName": c} for i, c in enumerate(claims)]
    pod = pods(volcano(task("t"), volumes=volumes))["test-pytorch-t-0"]
    assert (len(pod.volumes), len(pod.containers[0].mounts)) == (count, count)


@pytest.mark.parametrize(
    ("size", "index", "label"),
    [
        pytest.param(2, 1, "0", id="C69: size 2, index 1"),
        pytest.param(2, 3, "1", id="C69: size 2, index 3"),
        pytest.param(5, 10, "2", id="C70: size 5, index 10"),
        pytest.param(0, 1, "0", id="C70: size 0, index 1"),
    ],
)
def test_the_partition_is_the_index_over_its_size(size: int, index: int, label: str) -> None:
    """Cases C69 and C70 of docs/facts/volcano.md#cases."""
    policy = {"totalPartitions": 6, "partitionSize": size}
    pod = pods(volcano(task("t", 12, partitionPolicy=policy)))[f"test-pytorch-t-{index}"]
    assert pod.labels["volcano.sh/partition-id"] == label


def test_a_task_without_partitions_has_no_label() -> None:
    """Case C70 of docs/facts/volcano.md#cases."""
    assert "volcano.sh/partition-id" not in pods(volcano(task("t")))["test-pytorch-t-0"].labels


def rank_of(name: str, *tasks: Json) -> str:
    return pods(volcano(*tasks, plugins={"hcclrank": []}))[f"test-pytorch-{name}"].annotations[
        "hccl/rankIndex"
    ]


def test_hcclrank_keeps_an_annotation_and_else_counts() -> None:
    """Case C80 of docs/facts/volcano.md#cases."""
    kept = task("master")
    kept["template"]["metadata"] = {"annotations": {"hccl/rankIndex": "9"}}
    assert rank_of("master-0", kept) == "9"
    assert (
        rank_of("master-0", task("master", 1, container(env=[{"name": "RANK", "value": "5"}])))
        == "5"
    )
    assert rank_of("master-2", task("master", 3)) == "2"
    assert rank_of("worker-1", task("master", 2), task("worker", 2)) == "3"


def test_env_and_svc_give_host_names_and_hosts() -> None:
    """Source: docs/facts/volcano.md#the-env-plugin, #the-svc-plugin."""
    t = task("a-b", 2)
    t["template"]["spec"]["initContainers"] = [container("init")]
    world = expand(volcano(t, plugins={"env": [], "svc": ["--publish-not-ready-addresses"]}))
    pod = world.pods[1]
    assert (pod.hostname, pod.subdomain) == ("test-pytorch-a-b-1", "test-pytorch")
    assert pod.dns == "test-pytorch-a-b-1.test-pytorch.default.svc.cluster.local"
    for found in pod.containers:
        names = [e["name"] for e in found.env]
        assert names == ["VK_TASK_INDEX", "VC_TASK_INDEX", "VC_A_B_HOSTS", "VC_A_B_NUM"]
    assert world.services[0]["spec"]["publishNotReadyAddresses"] is True
    data = world.configmaps[0]["data"]
    assert data["a_b.host"] == "test-pytorch-a-b-0.test-pytorch\ntest-pytorch-a-b-1.test-pytorch"
    assert data["VC_A_B_NUM"] == "2"


def test_mpi_brings_a_service_and_ssh() -> None:
    """Source: docs/facts/volcano.md#the-mutating-webhook."""
    world = expand(volcano(task("master"), plugins={"mpi": []}))
    assert [s["metadata"]["name"] for s in world.services] == ["test-pytorch"]
    assert "/root/.ssh" in [m["mountPath"] for m in world.pods[0].containers[0].mounts]


def test_mpi_gives_the_master_the_hosts_of_the_workers() -> None:
    """Source: docs/facts/volcano.md#other-plugins."""
    world = pods(volcano(task("master"), task("worker", 2), plugins={"mpi": []}))
    hosts = "test-pytorch-worker-0.test-pytorch,test-pytorch-worker-1.test-pytorch"
    assert env(world["test-pytorch-master-0"])["MPI_HOST"] == hosts
    assert "MPI_HOST" not in env(world["test-pytorch-worker-0"])
    assert ports(world["test-pytorch-worker-0"]) == [("mpijob-port", 22)]


def test_ray_without_head_fails() -> None:
    """Source: docs/facts/volcano.md#other-plugins."""
    world = expand(volcano(task("worker"), plugins={"ray": []}))
    assert len(world.pods) == 0
    assert "no task is named 'head'" in world.refused[0]


def test_the_host_network_sets_the_dns_policy() -> None:
    """Source: docs/facts/volcano.md#the-mutating-webhook."""
    t = task("t")
    t["template"]["spec"]["hostNetwork"] = True
    assert pods(volcano(t))["test-pytorch-t-0"].spec["dnsPolicy"] == "ClusterFirstWithHostNet"


def _policies(*policies: Json, task_policies: list[Json] | None = None, **spec: Any) -> Json:
    tasks = [task("master"), task("worker", 2, policies=task_policies or [])]
    return volcano(*tasks, policies=list(policies), **spec)


EVICTED: Json = {"event": "PodEvicted"}


@pytest.mark.parametrize(
    ("manifest", "recreated"),
    [
        (_policies(), "pod"),
        (_policies({**EVICTED, "action": "RestartJob"}), "job"),
        (_policies({**EVICTED, "action": "RestartJob"}, maxRetry=1), "none"),
        (_policies({**EVICTED, "action": "RestartJob"}, maxRetry=2), "job"),
        (_policies({**EVICTED, "action": "RestartJob"}, maxRetry=0), "job"),  # 0 means 3
        (_policies({**EVICTED, "action": "RestartTask"}), "role"),
        (_policies({**EVICTED, "action": "RestartTask"}, maxRetry=1), "none"),
        (_policies({"event": "*", "action": "AbortJob"}), "none"),
        (_policies({"events": ["PodFailed", "PodEvicted"], "action": "RestartPod"}), "pod"),
        (_policies({"event": "PodFailed", "action": "AbortJob"}), "none"),
        (
            _policies(
                {"event": "PodFailed", "action": "RestartJob"},
                {**EVICTED, "action": "TerminateJob"},
            ),
            "job",
        ),
        (_policies({"event": "PodFailed", "action": "RestartPod"}, maxRetry=1), "none"),
        (
            _policies(
                {"exitCode": 143, "action": "RestartPod"}, {**EVICTED, "action": "RestartJob"}
            ),
            "pod",
        ),
        (
            _policies({"exitCode": 3, "action": "RestartPod"}, {**EVICTED, "action": "RestartJob"}),
            "job",
        ),
        (_policies({"event": "PodFailed"}, {**EVICTED, "action": "RestartJob"}), "job"),
        (
            _policies(
                {**EVICTED, "action": "RestartJob"},
                task_policies=[{**EVICTED, "action": "RestartTask"}],
            ),
            "role",
        ),
    ],
)
def test_a_lost_pod_follows_the_first_policy(manifest: Json, recreated: str) -> None:
    """docs/facts/volcano.md: PodFailed comes first; the first policy decides, the task's before the job's."""
    assert lost_pod(manifest, "worker").recreated == recreated


def test_policies_of_another_task_do_not_count() -> None:
    manifest = _policies(task_policies=[{**EVICTED, "action": "AbortJob"}])
    assert lost_pod(manifest, "master").recreated == "pod"


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (
            _policies(),
            "no policy for PodFailed: a failed pod is not recreated, and the others wait for it",
        ),
        (_policies(), "maxRetry 3: the restart with that number fails the job instead"),
        (_policies(maxRetry=0), "maxRetry 3: the restart with that number fails the job instead"),
        (_policies(maxRetry=2**31 - 1), "maxRetry 2147483647: restarts are unlimited"),
        (_policies(minSuccess=1), "minSuccess 1: the job is done when that many pods succeeded"),
        (
            _policies({"event": "PodFailed", "action": "RestartJob"}),
            "any task: PodFailed -> RestartJob",
        ),
        (_policies({"event": "PodFailed"}), "any task: PodFailed -> nothing"),
        (
            _policies({"event": "PodFailed", "action": "RestartJob"}),
            "the policy for PodFailed never applies: the kubelet restarts containers, so no pod fails",
        ),
        (
            _policies(task_policies=[{"exitCode": 3, "action": "AbortJob"}]),
            "worker: exit code 3 -> AbortJob",
        ),
        (
            _policies({"event": "PodFailed", "action": "RestartJob"}),
            "a drained pod that ends with an error is PodFailed, as after a crash; PodEvicted is one that exits 0, "
            "never ran or is deleted by force",
        ),
        (
            _policies(task_policies=[{"event": "TaskCompleted", "action": "CompleteJob"}]),
            "worker: a process that exits 0 on SIGTERM completes the job when its node is drained",
        ),
    ],
)
def test_the_sentences_say_what_a_failure_causes(manifest: Json, sentence: str) -> None:
    assert sentence in list(describe_failures(manifest))


@pytest.mark.parametrize(
    ("policies", "exit_code", "restart", "expected"),
    [
        ([], 1, "Never", []),
        ([], 1, None, [("container", None)]),
        ([], None, None, [("pod", None)]),
        ([{"event": "PodFailed", "action": "RestartJob"}], 1, "Never", [("job", 2)]),
        ([{"event": "PodFailed", "action": "RestartPod"}], 1, "Never", [("pod", 2)]),
        ([{"event": "PodFailed", "action": "AbortJob"}], 1, "Never", []),
        ([{"exitCode": 1, "action": "RestartTask"}], 1, "Never", [("role", 2)]),
        ([{"exitCode": 1, "action": "RestartTask"}], 2, "Never", []),
        (
            [{"event": "TaskFailed", "action": "RestartJob"}],
            1,
            None,
            [("container", 2), ("job", 2)],
        ),
        ([{**EVICTED, "action": "RestartJob"}], None, None, [("job", 2)]),
        ([{"event": "PodFailed", "action": "RestartPod"}], None, "Never", [("pod", 2)]),
        (
            [{"event": "PodFailed", "action": "AbortJob"}, {**EVICTED, "action": "RestartJob"}],
            None,
            "Never",
            [],
        ),
    ],
)
def test_the_first_matching_policy_answers_a_failed_pod(
    policies: list[Json],
    exit_code: int | None,
    restart: str | None,
    expected: list[tuple[str, int | None]],
) -> None:
    manifest = _policies(*policies)
    for item in manifest["spec"]["tasks"] if restart is not None else ():
        item["template"]["spec"]["restartPolicy"] = restart
    assert [
        (answer.scope, answer.limit) for answer in restarts(manifest, "worker", exit_code)
    ] == expected


def test_an_unknown_plugin_has_a_note() -> None:
    notes = expand(volcano(task("a"), plugins={"svc": [], "nope": []})).notes
    assert [note for note in notes if "plugin" in note] == [
        "unknown plugin 'nope': it does nothing"
    ]


@pytest.mark.parametrize(
    ("policy", "network", "expected"),
    [
        (None, True, "ClusterFirstWithHostNet"),
        ("Default", True, "Default"),
        (None, False, None),
        (None, None, None),
    ],
)
def test_the_host_network_decides_the_dns_policy(
    policy: str | None, network: bool | None, expected: str | None
) -> None:
    spec = {
        key: value
        for key, value in {"dnsPolicy": policy, "hostNetwork": network}.items()
        if value is not None
    }
    manifest = volcano(task("a"))
    manifest["spec"]["tasks"][0]["template"]["spec"].update(spec)
    assert expand(manifest).pods[0].spec.get("dnsPolicy") == expected


@pytest.mark.parametrize(
    ("action", "expected"), [("RestartTask", True), ("AbortJob", False), ({}, False), (None, False)]
)
def test_a_restarting_policy_recreates_pods(action: object, expected: bool) -> None:
    manifest = {
        "spec": {
            "policies": [{"event": "PodEvicted", "action": action}],
            "tasks": [{"name": "worker"}],
        }
    }
    assert is_recreated(manifest, Template((), None)) is expected
