"""Kueue may admit fewer pods than the training waits for.

PTC284 partly-admitted-world: warning at run (waits), by kueue.
Needs: kueue parallelism

What: a Job has the annotation kueue.x-k8s.io/job-min-parallelism, and its launcher waits for more
nodes than that.

Why: where the queue has no room for all pods, Kueue starts the Job with a smaller parallelism. A
rendezvous of a fixed number of nodes then waits for pods that come only when these have ended.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata:
        name: train
        labels: {kueue.x-k8s.io/queue-name: research}
    -   annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}  # <--
      spec:
        suspend: true
        completionMode: Indexed
        completions: 4
        parallelism: 4
        backoffLimit: 0
        template:
          spec:
            subdomain: train
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=4
                  - --node-rank=$(JOB_COMPLETION_INDEX)
                  - --master-addr=train-0.train
                  - train.py
                resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: remove the annotation, or let c10d take a range, such as --nnodes=2:4.

Source: Kueue 0.19, pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo lowers
parallelism).
"""

from __future__ import annotations

from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, found_at

_MINIMUM = "kueue.x-k8s.io/job-min-parallelism"


def check(subject: Subject) -> Findings:
    minimum = atoi(nested_string_map(subject.metadata, "annotations").get(_MINIMUM, ""))
    if minimum is not None and minimum < subject.min_nodes_to_start:
        yield found_at(
            ("metadata", "annotations", _MINIMUM),
            f"Kueue may start {minimum} pods, but {subject.min_nodes_to_start} wait for one another",
            f"remove it, or let the launcher start with {minimum} nodes",
            on_key=True,
        )
