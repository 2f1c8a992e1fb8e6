"""The world of a LeaderWorkerSet: pods of a group, their names and variables, and the rules of ranks and rendezvous."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.operators.table import expand

TORCHRUN = "torchrun --nnodes=$LWS_GROUP_SIZE --node-rank=$LWS_WORKER_INDEX --master-addr=$LWS_LEADER_ADDRESS train.py"
SET = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: grpo, namespace: rl}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec:
        containers:
          - name: trainer
            image: ghcr.io/acme/train:1.0
            command: [bash, -c, "COMMAND"]
            resources: {requests: {cpu: 8, memory: 64Gi}, limits: {memory: 64Gi, nvidia.com/gpu: 1}}
"""


def _set(command: str = TORCHRUN, **changes: str) -> str:
    text = SET.replace("COMMAND", command)
    for old, new in changes.items():
        text = text.replace({"size": "size: 3", "replicas": "replicas: 1"}[old], new)
    return text


def _codes(text: str) -> list[str]:
    return sorted({d.code for d in ptcompile.lint(text).diagnostics if d.severity != "note"})


def _pods(text: str) -> list[Any]:
    return list(expand(yaml.safe_load(text)).pods)


def test_leader_and_workers_have_the_names_that_the_controller_gives() -> None:
    pods = _pods(_set())
    assert [pod.name for pod in pods] == ["grpo-0", "grpo-0-1", "grpo-0-2"]
    assert [pod.dns for pod in pods][:2] == [
        f"{name}.grpo.rl.svc.cluster.local" for name in ("grpo-0", "grpo-0-1")
    ]
    assert [pod.labels["leaderworkerset.sigs.k8s.io/worker-index"] for pod in pods] == [
        "0",
        "1",
        "2",
    ]
    (service,) = expand(yaml.safe_load(_set())).services
    assert service["metadata"]["name"] == "grpo"
    assert service["spec"]["publishNotReadyAddresses"] is True


def test_variables_of_the_controller_come_first_and_replace_the_users() -> None:
    manifest = yaml.safe_load(_set())
    (container,) = manifest["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    container["env"] = [
        {"name": "A", "value": "$(LWS_GROUP_SIZE)"},
        {"name": "LWS_GROUP_SIZE", "value": "9"},
    ]
    leader, worker, _ = ptcompile.simulate([manifest]).pods
    assert leader.env["LWS_LEADER_ADDRESS"] == worker.env["LWS_LEADER_ADDRESS"] == "grpo-0.grpo.rl"
    assert [worker.env[name] for name in ("LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "A")] == [
        "3",
        "1",
        "3",
    ]


def test_own_template_of_the_leader_is_its_role() -> None:
    manifest = yaml.safe_load(_set())
    both = manifest["spec"]["leaderWorkerTemplate"]
    both["leaderTemplate"] = both["workerTemplate"]
    expansion = expand(manifest)
    assert [(role.name, role.count) for role in expansion.roles] == [("leader", 1), ("worker", 2)]
    assert [pod.name for pod in expansion.pods] == ["grpo-0", "grpo-0-1", "grpo-0-2"]


def test_each_group_has_its_subdomain() -> None:
    text = _set() + "  networkConfig: {subdomainPolicy: UniquePerReplica}\n"
    assert [pod.subdomain for pod in _pods(text)] == ["grpo-0"] * 3
    assert ptcompile.simulate(text).pods[2].env["LWS_LEADER_ADDRESS"] == "grpo-0.grpo-0.rl"


def test_each_group_is_a_world_and_groups_of_one_pod_are_one() -> None:
    several = expand(yaml.safe_load(_set(replicas="replicas: 4")))
    assert len(several.pods) == 3
    assert (
        several.notes[-1] == "4 groups of 3 pods, each with its own leader: only the first is shown"
    )
    alone = _pods(_set(replicas="replicas: 4", size="size: 1"))
    assert [pod.name for pod in alone] == ["grpo-0", "grpo-1", "grpo-2", "grpo-3"]
    assert _pods(_set(replicas="replicas: 0")) == []


def test_world_is_simulated_as_that_of_a_job() -> None:
    job = ptcompile.simulate(_set()).to_dict()["jobs"][0]
    rendezvous = job["rendezvous"]
    assert (rendezvous["endpoint"], rendezvous["nodes"], rendezvous["host"]) == (
        "grpo-0.grpo.rl:29500",
        [3, 3],
        "grpo-0",
    )
    assert (rendezvous["processes"], rendezvous["notes"]) == ([3, 3], [])


@pytest.mark.parametrize(
    ("command", "changes", "codes"),
    [
        (TORCHRUN, {}, []),
        (TORCHRUN, {"replicas": "replicas: 4"}, []),
        (TORCHRUN.replace("$LWS_GROUP_SIZE", "3"), {}, []),
        (TORCHRUN.replace("$LWS_GROUP_SIZE", "4"), {}, ["PTC406"]),
        (TORCHRUN.replace("$LWS_GROUP_SIZE", "2"), {}, ["PTC407"]),
        (TORCHRUN.replace("$LWS_WORKER_INDEX", "0"), {}, ["PTC410"]),
        (TORCHRUN.replace("$LWS_LEADER_ADDRESS", "localhost"), {}, ["PTC403"]),
        (TORCHRUN.replace("$LWS_LEADER_ADDRESS", "grpo-0.grpo"), {}, []),
        (TORCHRUN.replace("$LWS_LEADER_ADDRESS", "grpo-0.other"), {}, ["PTC404"]),
        (
            "python -m sglang.launch_server --nnodes $LWS_GROUP_SIZE --node-rank $LWS_WORKER_INDEX",
            {},
            [],
        ),
    ],
)
def test_rules_of_worlds_apply(command: str, changes: dict[str, str], codes: list[str]) -> None:
    reported = _codes(_set(command, **changes))
    assert [code for code in reported if code.startswith("PTC4")] == codes


SERVING = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: vllm}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      metadata: {labels: {role: leader}}
      spec: &pod
        containers:
          - name: vllm
            image: vllm/vllm-openai:v0.10.0
            command:
              - sh
              - -c
              - "bash /examples/multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
                 python3 -m vllm.entrypoints.openai.api_server --port 8080 --model m --tensor-parallel-size 8"
            resources: {limits: {nvidia.com/gpu: 8, memory: 1124Gi}, requests: {cpu: 125}}
            ports: [{containerPort: 8080}]
            readinessProbe: {tcpSocket: {port: 8080}, initialDelaySeconds: 15, periodSeconds: 10}
            volumeMounts: [{mountPath: /dev/shm, name: dshm}]
        volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 15Gi}}]
    workerTemplate: {spec: *pod}
"""


def test_example_of_a_server_has_no_warning() -> None:
    """LeaderWorkerSet's guide for vLLM."""
    assert [d for d in ptcompile.lint(SERVING).diagnostics if d.severity != "note"] == []


def test_leader_that_hosts_the_store_is_not_rank_0() -> None:
    """c10d sorts host names, and a hyphen sorts before the period: rank 0 is on the first worker."""
    c10d = "torchrun --nnodes=3 --rdzv-backend=c10d --rdzv-endpoint=HOST:29400 train.py"
    for host, severity in (("$LWS_LEADER_ADDRESS", "note"), ("grpo-0.grpo", "warning")):
        manifest = yaml.safe_load(_set(c10d.replace("HOST", host)))
        both = manifest["spec"]["leaderWorkerTemplate"]
        both["leaderTemplate"] = both["workerTemplate"]
        report = ptcompile.lint([manifest])
        assert [d.severity for d in report.diagnostics if d.name == "store-not-on-rank-0"] == [
            severity
        ]


def test_the_sentences_say_what_a_failure_causes() -> None:
    manifest = yaml.safe_load(_set())
    texts = []
    for policy in ("None", "Default", "RecreateGroupOnPodRestart", None):
        manifest["spec"]["leaderWorkerTemplate"]["restartPolicy"] = policy
        job = ptcompile.simulate([manifest]).to_dict()["jobs"][0]
        texts.append(job["onFailure"][0].partition(": ")[2])
    assert texts[0] == texts[1] != texts[2] == texts[3]
    assert texts[2].startswith("all pods of its group are recreated")
