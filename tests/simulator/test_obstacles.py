"""What keeps pods from meeting is decided once: predictions have what rules of the linter report."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.kubernetes.index import Objects
from ptcompile.simulator.world import simulate

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: head}
spec: {selector: {app: %s}, ports: [{port: 29500}]}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    metadata: {labels: {app: train}}
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: train:1
          command: [torchrun, --nnodes=%s, --node-rank=$(JOB_COMPLETION_INDEX), --master-addr=head, train.py]
---
"""
PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: pytorch, image: a:1, command: [torchrun, --nnodes=2, train.py]}]}}}
    Worker: {template: {spec: {containers: [{name: pytorch, image: a:1, command: [torchrun, --nnodes=%s, train.py]}]}}}
"""


def obstacles(text: str) -> dict[str, bool]:
    """Return whether each obstacle of the first job is certain, by its name."""
    objects: list[Any] = [item for item in yaml.safe_load_all(text) if item]
    return {item.name: item.is_certain for item in simulate(Objects(objects)).jobs[0].obstacles}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SERVICE % "other" + JOB % ("train", 2), "endpoint-misses-pods"),
        (SERVICE % "train" + JOB % ("a", 4) + JOB % ("b", 4), "same-node-rank"),
        (PYTORCHJOB % 3, "roles-disagree"),
        (SERVICE % "train" + JOB % ("train", 3), "too-few-pods"),
        (SERVICE % "train" + JOB % ("train", 1), "worlds-apart"),
    ],
)
def test_a_prediction_has_what_a_rule_reports(text: str, name: str) -> None:
    assert obstacles(text).get(name) is True
    assert name in {item.name for item in ptcompile.lint(text).diagnostics}


@pytest.mark.parametrize("text", [SERVICE % "train" + JOB % ("train", 2), PYTORCHJOB % 2])
def test_jobs_that_meet_have_no_obstacle(text: str) -> None:
    assert obstacles(text) == {}


@pytest.mark.parametrize(
    "text",
    [SERVICE % "train" + JOB % ("a", 4) + JOB % ("b", 4), (JOB % ("a", 2) + JOB % ("b", 2)).replace("head", "a-9.a")],
)
def test_jobs_of_one_stream_are_freed_without_garbage_collection(text: str) -> None:
    ptcompile.lint(text)
    gc.collect()
    gc.disable()
    try:
        ptcompile.lint(text)
        assert gc.collect() == 0
    finally:
        gc.enable()
