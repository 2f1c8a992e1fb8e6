"""Workers alone, without elasticPolicy, do not meet.

PTC437 workers-without-rendezvous: error at run (fails), by training-operator.
Needs: {TORCHRUN}

What: a PyTorchJob has several Workers, no Master and no elasticPolicy, and torchrun is given no
endpoint.

Why: the operator sets the address of the rendezvous for a Master or for an elastic job. With
neither, torchrun takes 127.0.0.1 and rank 0 on every pod, and waits for the other nodes forever.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
    +   elasticPolicy: {minReplicas: 2, maxReplicas: 2}
        pytorchReplicaSpecs:
          Worker:  # <--
            replicas: 2
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add elasticPolicy with the number of Workers, or make one of them the Master.

Source: training-operator 1.9, SetPodEnv: MASTER_* and PET_MASTER_* only with a Master, PET_RDZV_*
only with elasticPolicy; kubeflow/trainer issue 1988.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.linter.training_roles import count_nodes

_WORKER = ("spec", "pytorchReplicaSpecs", "Worker")


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    total = count_nodes(roles)
    if total < 2 or roles[0].rendezvous.nodes == (1, 1):
        return

    if subject.lacks_rendezvous and subject.torchrun_groups:
        policy = {"minReplicas": total, "maxReplicas": total}
        yield found_at(
            _WORKER,
            f"{total} Workers without a Master or an elasticPolicy have no place to meet: each "
            "waits for itself",
            "add elasticPolicy, or make one of them the Master",
            fix_setting("add elasticPolicy", ("spec", "elasticPolicy"), policy),
            on_key=True,
        )
