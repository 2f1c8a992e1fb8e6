"""torchrun connects to a host that the runtime does not create.

PTC454 rank-zero-not-node: error at run (fails), by trainer.

What: the runtime has a torch policy, and its trainer's replicatedJob is not named node.

Why: Trainer always writes PET_MASTER_ADDR as <job>-node-0-0.<job>. If the replicatedJob has another
name, that host never exists, and every node waits for it.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
            replicatedJobs:
    -         - name: workers  # <--
    +         - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: name the replicatedJob node.

Source: Trainer 2.3, torch plugin (the name is a constant).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer.rules.runtime.reading import job_path, policy_of, trainer_jobs


def check(subject: Subject) -> Findings:
    if policy_of(subject) != "torch":
        return
    for index, replicated in trainer_jobs(subject):
        name = nested_string(replicated, "name")
        if name != "node" and len(trainer_jobs(subject)) == 1:
            path = job_path(index, "name")
            yield found_at(
                path,
                "PET_MASTER_ADDR is <job>-node-0-0.<job>, but the pods are named "
                f"<job>-{name}-0-...",
                "name it node",
                fix_setting("name it node", path, "node"),
            )
