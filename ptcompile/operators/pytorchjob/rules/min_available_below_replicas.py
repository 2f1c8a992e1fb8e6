"""The gang is smaller than the job needs to start.

What: runPolicy.schedulingPolicy.minAvailable is below the number of replicas of a job without elasticPolicy.

Why: the scheduler starts that many pods as soon as they fit. They hold their GPUs and wait at the rendezvous for the
rest, and two such jobs may wait for each other forever.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy:
          backoffLimit: 3
          cleanPodPolicy: Running
          schedulingPolicy:
    -       minAvailable: 1  # <--
    +       minAvailable: 2
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
          Worker:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the number of replicas, or remove it, which means the same.

Source: training-operator 1.9, gang scheduling: PodGroup.minMember is minAvailable; PyTorch 2.13, static rendezvous.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_int, as_mapping, nested_map
from ptcompile.linter.rule import Findings, Subject, found_at

_PATH = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")


def check(subject: Subject) -> Findings:
    min_available = nested_map(subject.spec, "runPolicy", "schedulingPolicy").get("minAvailable")
    replicas = nested_map(subject.spec, "pytorchReplicaSpecs")
    total = sum(as_int(as_mapping(replica).get("replicas"), 1) for replica in replicas.values() if replica is not None)
    if (
        not isinstance(min_available, int)
        or isinstance(min_available, bool)
        or subject.spec.get("elasticPolicy") is not None
    ):
        return
    if 0 < min_available < total:
        yield found_at(
            _PATH,
            f"{min_available} of {total} pods may start, and hold their GPUs while they wait for the rest",
            f"write {total}, or remove it",
            Fix(f"set minAvailable to {total}", (Edit("set", _PATH, total),), safe=False),
        )
