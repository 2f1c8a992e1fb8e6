"""The first Job that succeeds ends those that it trained with.

PTC736 success-of-any-job: warning at run (risks), by jobset.
Needs: successPolicy Any

What: successPolicy Any over several Jobs whose pods meet in one rendezvous.

Why: the ranks do not end at the same moment. When the first Job is complete the JobSet is, and the
others are deleted, rank 0 perhaps in the middle of its last checkpoint.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        successPolicy:
    -     operator: Any  # <--
    +     operator: All
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
                          - --nnodes=3
                          - --node-rank=$(JOB_COMPLETION_INDEX)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: worker
            replicas: 2
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
                          - --nnodes=3
                          - --node-rank=$(RANK)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        env:
                          - name: RANK
                            valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: use All, or name the Job with rank 0 in targetReplicatedJobs.

Source: JobSet 0.12, successPolicy.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_strings
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import (
    child_job,
    job_count,
    min_nodes,
    name_of,
    replicated_jobs,
)


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "successPolicy")
    if policy.get("operator") != "Any":
        return

    targets = set(nested_strings(policy, "targetReplicatedJobs"))
    counted = [
        replicated
        for _, replicated in replicated_jobs(subject)
        if not targets or name_of(replicated) in targets
    ]
    for replicated in counted:
        rendezvous = subject.waiting_roles.get(name_of(replicated))
        spec = child_job(replicated)
        parallelism = nested_int(spec, "parallelism", default=1)
        pods = nested_int(spec, "completions", default=parallelism)
        if rendezvous is None:
            continue

        nodes = min_nodes(rendezvous)
        if nodes > pods and sum(map(job_count, counted)) > 1:
            path = ("spec", "successPolicy", "operator")
            yield found_at(
                path,
                f"{nodes} pods of several Jobs train together, but the first Job that is done "
                "ends them all",
                "use the operator All, or name only the Job with rank 0",
                fix_setting("wait for all Jobs", path, "All"),
            )
            return
