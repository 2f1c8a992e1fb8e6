"""The rendezvous looks for etcd on the first Worker.

PTC429 etcd-on-a-worker: warning at run (fails), by training-operator.
Needs: elasticPolicy etcd

What: elasticPolicy.rdzvBackend is etcd or etcd-v2, and rdzvHost is not given.

Why: the operator then takes the first Worker for the host, where no etcd listens.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        elasticPolicy:
          minReplicas: 2
          maxReplicas: 2
          rdzvId: train
          rdzvBackend: etcd-v2  # <--
    +     rdzvHost: etcd.infra.svc.cluster.local
    +     rdzvPort: 2379
        pytorchReplicaSpecs:
          Worker:
            replicas: 2
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give rdzvHost and rdzvPort of the etcd server, or use c10d, which needs none.

Source: training-operator 1.9, SetElasticEnv: PET_RDZV_ENDPOINT is the first Worker where rdzvHost
is not given.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_BACKEND = ("spec", "elasticPolicy", "rdzvBackend")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "elasticPolicy")
    if policy.get("rdzvBackend") not in ("etcd", "etcd-v2") or policy.get("rdzvHost") is not None:
        return
    for role in subject.training_roles:
        if {"rdzv-endpoint", "rdzv-backend"} & role.launch.options.keys():
            return

    yield found_at(
        _BACKEND,
        f"without rdzvHost the endpoint is {subject.name}-worker-0, where no etcd listens",
        "add rdzvHost and rdzvPort, or use c10d",
        fix_setting("use c10d", _BACKEND, "c10d"),
    )
