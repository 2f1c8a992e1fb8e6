"""Pods that wait for one another run one after another.

PTC448 serial-ranks: error at run (fails), by kubelet.
Needs: completions/parallelism

What: a Job's parallelism, which is 1 where it is absent, is below its completions, so that fewer
pods run at once than the rendezvous waits for.

Why: the first pods wait for ranks that are created only when the first have succeeded: nothing ever
trains.

Example: one_node_jobset.yaml with

      completions: 2
    - parallelism: 1  # <--
    + parallelism: 2
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=2
                - --node-rank=$(JOB_COMPLETION_INDEX)
                - --master-addr=train-node-0-0.train
                - train.py
              resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: set parallelism to completions.

Source: Kubernetes, Job parallelism; JobSet 0.12 does not change it.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import Json, nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import (
    child_job,
    child_path,
    concurrent_pods,
    min_nodes,
    name_of,
    replicated_jobs,
)


def check(subject: Subject) -> Findings:
    replicated_list = replicated_jobs(subject)
    serial = [
        (index, job)
        for index, job in replicated_list
        if nested_int(child_job(job), "parallelism", default=1) < _completions_of(job)
    ]
    running = sum(concurrent_pods(job) for _, job in replicated_list) if serial else 0
    for index, replicated in serial:
        spec = child_job(replicated)
        completions = _completions_of(replicated)
        rendezvous = subject.waiting_roles.get(name_of(replicated))
        if rendezvous is None or min_nodes(rendezvous) <= running:
            continue

        path = child_path(
            index, "completions" if spec.get("parallelism") is None else "parallelism"
        )
        yield found_at(
            path,
            f"{running} pods run at once and {min_nodes(rendezvous)} wait for one another: the "
            "others are created only when these have succeeded",
            f"set parallelism to {completions}",
            fix_setting(
                f"set parallelism to {completions}",
                child_path(index, "parallelism"),
                completions,
            ),
        )


def _completions_of(replicated: Json) -> int:
    return nested_int(child_job(replicated), "completions")
