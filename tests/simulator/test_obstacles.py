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


MEET = SERVICE % "train" + JOB % ("train", 2)


@pytest.mark.parametrize(
    ("text", "name", "is_certain"),
    [
        (
            MEET.replace("--node-rank=$(JOB_COMPLETION_INDEX)", "--node-rank=1"),
            "same-node-rank",
            True,
        ),
        (MEET.replace("--master-addr=head", "'--master-addr=a.b,c.d'"), "bad-endpoint", True),
        (MEET.replace("-addr=head", "-addr=10.1.2.3"), "literal-address", False),
        (MEET.replace("-addr=head", "-addr=93.184.216.34"), "literal-address", None),
        (MEET.replace("--nnodes=2", "--standalone"), "standalone-on-many-pods", True),
    ],
)
def test_endpoints_and_ranks_have_their_obstacles(
    text: str, name: str, is_certain: bool | None
) -> None:
    assert obstacles(text).get(name) is is_certain


@pytest.mark.parametrize(("jobs", "pods"), [(2, 2), (2, 3), (2, 4), (3, 4)])
def test_ranks_that_begin_again_in_each_job_are_an_obstacle(jobs: int, pods: int) -> None:
    text = JOB_SET % (jobs, pods, pods, jobs * pods)
    assert obstacles(text) == {"same-node-rank": True}
    assert obstacles(JOB_SET % (1, pods, pods, pods)) == {}


JOB_SET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
    - name: w
      replicas: %s
      template:
        spec:
          completions: %s
          parallelism: %s
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: t
                  image: train:1
                  command:
                    [torchrun, --nnodes=%s, --node-rank=$(JOB_COMPLETION_INDEX), --master-addr=train-w-0-0.train, t.py]
"""
PODS = """\
apiVersion: v1
kind: Service
metadata: {name: duo}
spec: {clusterIP: None, selector: {app: duo}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: duo}}
spec:
  hostname: a
  subdomain: duo
  containers: [{name: t, image: "a:1", command: [torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=%s, t.py]}]
---
apiVersion: v1
kind: Pod
metadata: {name: b, labels: {app: duo}}
spec:
  hostname: b
  subdomain: duo
  containers: [{name: t, image: "a:1", command: [torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=%s, t.py]}]
"""


def test_pods_of_two_objects_disagree_at_two_ports() -> None:
    assert obstacles(PODS % ("a.duo:29400", "a.duo:29401")) == {"roles-disagree": True}
    assert "roles-disagree" in {
        diagnostic.name for diagnostic in ptcompile.lint(PODS % ("a.duo:1", "a.duo:2")).diagnostics
    }
    assert "roles-disagree" not in obstacles(PODS % ("a.duo:29400", "a.duo"))


def test_c10d_publishes_names_that_need_a_service() -> None:
    nameless = (PODS % ("duo:29400", "duo:29400")).replace("  subdomain: duo\n", "")
    assert obstacles(nameless).get("unpublished-name") is False
    assert "unpublished-name" in {
        diagnostic.name for diagnostic in ptcompile.lint(nameless).diagnostics
    }
    assert "unpublished-name" not in obstacles(PODS % ("a.duo", "a.duo"))


@pytest.mark.parametrize("text", [SERVICE % "train" + JOB % ("train", 2), PYTORCHJOB % 2])
def test_jobs_that_meet_have_no_obstacle(text: str) -> None:
    assert obstacles(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        SERVICE % "train" + JOB % ("a", 4) + JOB % ("b", 4),
        (JOB % ("a", 2) + JOB % ("b", 2)).replace("head", "a-9.a"),
    ],
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
