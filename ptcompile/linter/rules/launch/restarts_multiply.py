"""Restarts within restarts: a job that always fails is tried hundreds of times.

PTC723 restarts-multiply: warning at run (wastes), by ptcompile.
Needs: {TORCHRUN} {MULTI_POD_KINDS} restarts/maxRestarts

What: torchrun's max-restarts and the operator's retries multiply to a hundred starts or more.

Why: each retry of a pod resets torchrun's own restarts. A mistake in the script that fails every
time is then paid for a hundred times.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
    -   runPolicy: {backoffLimit: 20, cleanPodPolicy: Running}
    +   runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        elasticPolicy:
          minReplicas: 2
          maxReplicas: 2
          maxRestarts: 10  # <--
        pytorchReplicaSpecs:
          Worker:
            replicas: 2
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: let one of the two retry often: torchrun for processes that fail, the operator for pods and
nodes.

Source: PyTorch 2.13, torchrun --max-restarts; Kubernetes 1.36, backoffLimit; JobSet 0.12,
failurePolicy.maxRestarts; Volcano 1.16, maxRetry; training-operator 1.9, backoffLimit.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.spot import spot_label
from ptcompile.linter.training_roles import count_nodes

_MAX_ATTEMPTS = 100


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        role = roles[0]
        # when node 0 fails, all nodes fail
        pods_per_failure = count_nodes(roles) if role.rendezvous.backend == "c10d" else 1
        outer = subject.record.retries(subject.manifest) // pods_per_failure
        inner = role.restarts
        starts = (inner + 1) * (outer + 1)
        # the job expects to lose nodes
        if role.rendezvous.is_range or any(map(spot_label, subject.templates)):
            continue

        if inner > 0 and outer > 0 and starts >= _MAX_ATTEMPTS:
            yield found_at(
                role.path_of("max-restarts"),
                f"{inner} restarts by torchrun in each of {outer + 1} starts of a pod make up to "
                f"{starts} attempts",
                "let torchrun or the operator retry often, not both",
            )
