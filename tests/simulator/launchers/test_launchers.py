"""Options of accelerate, deepspeed and composer under torchrun's names."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.simulator.launchers import read_config
from ptcompile.simulator.launchers.command import read_command_line
from ptcompile.simulator.launchers.rendezvous import pod_rendezvous


@pytest.mark.parametrize(
    ("line", "endpoint", "nodes", "rank", "processes"),
    [
        (
            "accelerate launch --num_machines 4 --num-processes=32 --machine_rank 2 --main_process_ip a t.py",
            "a:29500", (4, 4), "2", 8,
        ),
        ("accelerate launch --num_machines=2 --main_process_ip=a --main_process_port=1 t.py", "a:1", (2, 2), "0", 4),
        ("deepspeed --no_ssh --num_nodes 2 --num_gpus 8 --node_rank=1 --master_addr a t.py", "a:29500", (2, 2), "1", 8),
        ("composer -n 8 --world_size=32 --node_rank=3 --master_addr=a --master_port=7 t.py", "a:7", (4, 4), "3", 8),
        ("composer -n 8 t.py", "m:2", (16, 16), "0", None),  # the environment supplies the rest
        ("python -m accelerate.commands.launch --num_machines=2 --main_process_ip=a t.py", "a:29500", (2, 2), "0", 4),
    ],
)  # fmt: skip
def test_options_of_launchers_become_a_rendezvous(
    line: str, endpoint: str, nodes: tuple[int, int], rank: str, processes: int | None
) -> None:
    env = {"MASTER_ADDR": "m", "MASTER_PORT": "2", "WORLD_SIZE": "128"} if endpoint == "m:2" else {}
    rendezvous = pod_rendezvous(read_command_line(line.split(), env), env, 4)
    assert (rendezvous.endpoint, rendezvous.nodes, rendezvous.node_rank) == (endpoint, nodes, rank)
    assert processes is None or rendezvous.processes == processes


def test_a_launcher_without_options_uses_its_environment() -> None:
    launch = read_command_line(["accelerate", "launch", "t.py"], {})
    assert pod_rendezvous(launch, {}, 4).nodes == (1, 1)
    assert pod_rendezvous(launch, {"MASTER_ADDR": "a", "WORLD_SIZE": "2"}, 4).nodes == (2, 2)


STREAM = """
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: %(namespace)s}
data:
  acc.yaml: |
    machine_rank: %(rank)s
    main_process_ip: train-master-0
    main_process_port: 29500
    num_machines: %(machines)s
    num_processes: 16  # both
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Master: &replica
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [accelerate, launch, --config_file=%(path)s, %(more)s]
              resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
              volumeMounts: [%(mount)s]
          volumes: [{name: conf, configMap: %(source)s}]
    Worker: *replica
"""
VALUES = {
    "namespace": "ml",
    "rank": "0",
    "machines": "2",
    "path": "/conf/acc.yaml",
    "more": "train.py",
    "mount": "{name: conf, mountPath: /conf}",
    "source": "{name: conf}",
}
SAME, ALONE, FEW = (
    ("same-node-rank", "error"),
    ("launcher-alone", "warning"),
    ("too-few-pods", "error"),
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {SAME}),
        ({"more": "--machine_rank=$(RANK), train.py"}, set()),
        ({"machines": "1"}, {ALONE}),
        ({"machines": "3", "more": "--machine_rank=$(RANK), train.py"}, {FEW}),
        ({"namespace": "other"}, set()),
        ({"path": "/conf/other.yaml"}, set()),
        (
            {
                "source": "{name: conf, items: [{key: acc.yaml, path: a.yaml}]}",
                "path": "/conf/a.yaml",
            },
            {SAME},
        ),
        ({"mount": "{name: conf, mountPath: /conf/acc.yaml, subPath: acc.yaml}"}, {SAME}),
        ({"mount": "{name: conf, mountPath: /con}"}, set()),
    ],
)
def test_a_config_file_configures_accelerate(
    changed: dict[str, str], expected: set[tuple[str, str]]
) -> None:
    found = {
        (problem.name, problem.severity)
        for problem in ptcompile.lint(STREAM % (VALUES | changed)).diagnostics
    }
    assert found & {SAME, ALONE, FEW} == expected


def test_only_settings_of_the_launch_are_read() -> None:
    assert read_config(
        "num_machines: '2'\nfsdp_config:\n  machine_rank: 1\nmixed_precision: bf16\n"
    ) == {"nnodes": "2"}
