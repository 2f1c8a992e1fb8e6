"""The config file of accelerate in a ConfigMap of the stream."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.simulator.launchers.accelerate import read_config

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
SAME, ALONE, FEW = ("same-node-rank", "error"), ("launcher-alone", "warning"), ("too-few-pods", "error")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {SAME}),
        ({"more": "--machine_rank=$(RANK), train.py"}, set()),
        ({"machines": "1"}, {ALONE}),
        ({"machines": "3", "more": "--machine_rank=$(RANK), train.py"}, {FEW}),
        ({"namespace": "other"}, set()),
        ({"path": "/conf/other.yaml"}, set()),
        ({"source": "{name: conf, items: [{key: acc.yaml, path: a.yaml}]}", "path": "/conf/a.yaml"}, {SAME}),
        ({"mount": "{name: conf, mountPath: /conf/acc.yaml, subPath: acc.yaml}"}, {SAME}),
        ({"mount": "{name: conf, mountPath: /con}"}, set()),
    ],
)
def test_a_config_file(changed: dict[str, str], expected: set[tuple[str, str]]) -> None:
    found = {(problem.name, problem.severity) for problem in ptcompile.lint(STREAM % (VALUES | changed)).diagnostics}
    assert found & {SAME, ALONE, FEW} == expected


def test_settings() -> None:
    assert read_config("num_machines: '2'\nfsdp_config:\n  machine_rank: 1\nmixed_precision: bf16\n") == {"nnodes": "2"}
