"""What follows a failure and the end of a job: the sentences of two operators side by side."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.converter.endings import differing_sentences, rows_by_topic, topics_of
from ptcompile.report.text import concise, full

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  runPolicy: {backoffLimit: 3, cleanPodPolicy: None}
  pytorchReplicaSpecs:
    Master: &replica
      replicas: 1
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, image: "a/b:1", command: [torchrun, train.py]}]}}
    Worker: *replica
"""


def test_a_sentence_of_all_roles_is_written_once_without_them() -> None:
    before = ["Master, a lost node: x", "Worker, a lost node: x", "Worker restartPolicy Never: y"]
    assert differing_sentences(before, ["node: done"], ["master", "worker"], ["node"]) == (
        ["a lost node: x", "Worker restartPolicy Never: y"],
        ["done"],
    )


def test_a_sentence_of_both_sides_is_left_out() -> None:
    assert differing_sentences(
        ["Master: x", "Worker: x", "y"], ["node: x"], ["master", "worker"], ["node"]
    ) == (
        ["y"],
        [],
    )


@pytest.mark.parametrize(
    ("sentence", "topic"),
    [
        ("backoffLimit 0: the first failure fails the Job", "failures"),
        ("torchrun, a lost node 0: it hosts the store", "torchrun"),
        ("any task: PodEvicted -> RestartJob", "lost nodes"),
        ("master: TaskCompleted -> CompleteJob", "success"),
        ("cleanPodPolicy None: at the end all pods stay", "cleanup"),
        ("activeDeadlineSeconds 60: the Job fails when it has run that long", "time limits"),
    ],
)
def test_each_sentence_has_its_topic(sentence: str, topic: str) -> None:
    assert topics_of([sentence]) == [topic]


def test_rows_pair_the_sentences_of_a_topic() -> None:
    before = ["the job succeeds with its Master", "backoffLimit 3"]
    assert list(rows_by_topic(before, ["maxRestarts 1", "maxRetry 2"])) == [
        ("backoffLimit 3", "maxRestarts 1"),
        ("", "maxRetry 2"),
        ("the job succeeds with its Master", ""),
    ]


def test_the_full_report_lists_both_operators_in_two_columns() -> None:
    findings = [
        item for item in ptcompile.convert(JOB, target="jobset").diagnostics if item.comparison
    ]
    message = "spec: the JobSet handles failures, lost nodes, success and cleanup differently from the PyTorchJob"
    assert [item.message for item in findings] == [message]
    lines = full(findings, {None: JOB}).splitlines()
    title = next(i for i, line in enumerate(lines) if line.startswith("  = before (PyTorchJob) "))
    assert lines[title].endswith("| after (JobSet)")
    assert all(
        line[:4] == "    " and line[60] == "|" and len(line) <= 116 for line in lines[title + 1 :]
    )
    assert sum("lost node" in line for line in lines[title:]) == 1, "both roles share the sentence"
    assert concise(findings, {}).count("\n") == 1
