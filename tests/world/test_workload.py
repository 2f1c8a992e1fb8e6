"""Rules that read several objects of a stream: they use the cluster's releases and simulate each object once."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import Stream
from ptcompile.linter.rules.policies import closed_network
from ptcompile.simulator import job, meeting
from tests.conftest import ROOT

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train-%s}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    metadata: {labels: {app: train}}
    spec:
      restartPolicy: Never
      subdomain: train
      containers:
        - name: main
          image: train:1
          command: [torchrun, --nnodes=6, --node-rank=%s, --master-addr=train-a-0.train, train.py, train-b-0.train]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: train}}
"""
TEXT = "---\n".join([SERVICE, *(JOB % (name, "$(JOB_COMPLETION_INDEX)") for name in "abc")])


def test_related_objects_use_the_same_releases() -> None:
    old = Versions(kubernetes=(1, 27))
    stream = Stream(list(yaml.safe_load_all(TEXT)), old)
    met = [
        member.pod.job
        for members in meeting._members_by_place(stream.objects, old).values()
        for member in members
    ]
    named = meeting.jobs_of(stream.objects, old)
    closed = [pod.job for pods in closed_network._training_pods(stream).values() for pod in pods]
    assert [len({*map(id, met)}), len(named), len(closed)] == [3, 3, 3]
    assert {job.versions for job in (*met, *named, *closed)} == {old}


def test_each_object_is_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[str] = []

    def counted(manifest: Any, *rest: Any) -> job.SimulatedJob:
        simulated.append(manifest["metadata"]["name"])
        return job_of(manifest, *rest)

    job_of = job.job_of
    monkeypatch.setattr(job, "job_of", counted)
    report = ptcompile.lint(TEXT)
    assert sorted(simulated) == ["train-a", "train-b", "train-c"]
    assert "same-node-rank" in {diagnostic.name for diagnostic in report.diagnostics}


def test_checked_objects_are_not_kept() -> None:
    stream = Stream(list(yaml.safe_load_all(TEXT)))
    for manifest in stream.objects:
        list(ptcompile.linter.run(manifest, stream=stream))
    assert not stream.subjects


@pytest.mark.parametrize(
    ("command", "same"),
    [
        (
            "torchrun, --nnodes=2, --node-rank=$(JOB_COMPLETION_INDEX), --master-addr=train-0.train, train.py",
            False,
        ),
        ("torchrun, --nnodes=2, --node-rank=0, --master-addr=train-0.train, train.py", True),
        (
            "torchrun, --nnodes=2, --node-rank=0, --master-addr=train-0.train, train.py, "
            "--node-rank=$(JOB_COMPLETION_INDEX)",
            True,
        ),
        (
            "torchrun, --nnodes=2, --node-rank=$(JOB_COMPLETION_INDEX), --node-rank=0, --master-addr=train-0.train, "
            "train.py",
            True,
        ),
    ],
)
def test_ranks_are_those_of_the_launcher(command: str, same: bool) -> None:
    """Even if the rank is a single variable and the command lines of the other pods are not read."""
    text = (
        JOB.replace("train-%s", "train").partition("          command:")[0]
        + f"          command: [{command}]\n"
    )
    diagnostics = ptcompile.lint(text).diagnostics
    assert ("same-node-rank" in {diagnostic.name for diagnostic in diagnostics}) == same


def test_objects_are_freed_without_garbage_collection() -> None:
    """The command disables garbage collection, so reference cycles would stay in memory for every file."""
    text = (ROOT / "golden" / "elastic-range" / "job.yaml").read_text(encoding="utf-8")
    ptcompile.lint(text)
    # what the tests before left in memory is not looked through
    gc.freeze()
    gc.disable()
    try:
        ptcompile.lint(text)
        assert gc.collect() == 0
    finally:
        gc.enable()
