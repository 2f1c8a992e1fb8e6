"""A rank starts only after the ranks that wait for it have completed.

PTC450 rank-waits-for-complete: error at run (fails), by jobset.
Needs: dependsOn

What: a replicatedJob dependsOn another with the status Complete, and the other's pods wait for its
pods.

Why: the first ones wait in the rendezvous for the others, and these are created when the first ones
are done: nothing ever trains.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --node-rank=$(RANK)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        env:
                          - name: RANK
                            valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: worker
            dependsOn:
    -         - {name: node, status: Complete}  # <--
    +         - {name: node, status: Ready}
            template:
              spec:
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --node-rank=$(RANK)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        env:
                          - name: RANK
                            valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: write status: Ready, or remove dependsOn.

Source: JobSet 0.12, dependsOn.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import (
    concurrent_pods,
    min_nodes,
    name_of,
    replicated_jobs,
)


def check(subject: Subject) -> Findings:
    if not any(replicated.get("dependsOn") for _, replicated in replicated_jobs(subject)):
        return
    waiting = subject.waiting_roles
    if not waiting:  # no role waits, or there are too many to read
        return

    pods = {
        name_of(replicated): concurrent_pods(replicated)
        for _, replicated in replicated_jobs(subject)
    }
    for job_index, replicated in replicated_jobs(subject):
        for i, dependency in enumerate(nested_maps(replicated, "dependsOn")):
            required_job = nested_string(dependency, "name")
            rendezvous = waiting.get(required_job)
            if rendezvous is None or dependency.get("status") != "Complete":
                continue

            later = _started_after(subject, required_job)
            earlier_pods = sum(count for name, count in pods.items() if name not in later)
            nodes = min_nodes(rendezvous)
            if nodes > earlier_pods:
                path = ("spec", "replicatedJobs", job_index, "dependsOn", i)
                yield found_at(
                    path,
                    f"{nodes} pods must meet in {required_job}, but only {earlier_pods} exist "
                    "until it completes",
                    "write status: Ready",
                    fix_setting("wait for Ready", (*path, "status"), "Ready"),
                )


def _started_after(subject: Subject, first: str) -> set[str]:
    """Return the replicatedJobs that start only after `first` completes, directly or through
    others.
    """
    later: set[str] = set()
    # the webhook lets dependsOn name only earlier ones
    for _, replicated in replicated_jobs(subject):
        for dependency in nested_maps(replicated, "dependsOn"):
            required_job = nested_string(dependency, "name")
            waits_for_first = required_job == first and dependency.get("status") == "Complete"
            if waits_for_first or required_job in later:
                later.add(name_of(replicated))

    return later - {first}
