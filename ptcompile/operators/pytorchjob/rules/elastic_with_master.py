"""The Master of an elastic job makes one node more than the range allows.

PTC439 elastic-with-master: warning at run (fails), by training-operator.
Needs: elasticPolicy Master Worker

What: a PyTorchJob has an elasticPolicy and a Master, and with the Master there are more pods than
maxReplicas.

Why: the range is of Workers, but the Master's torchrun joins the same rendezvous. One of the pods
waits outside, and if that is the Master the job never succeeds.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
    -   elasticPolicy: {minReplicas: 1, maxReplicas: 1, rdzvHost: train-master-0}
    +   elasticPolicy: {minReplicas: 2, maxReplicas: 2}
        pytorchReplicaSpecs:
    -     Master:  # <--
    -       replicas: 1
    +     Worker:
    +       replicas: 2
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    -     Worker:
    -       replicas: 1
    -       restartPolicy: OnFailure
    -       template:
    -         spec:
    -           containers:
    -             - name: pytorch
    -               image: ghcr.io/acme/train:1.0
    -               command: [torchrun, train.py]
    -               resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: make the Master one of the Workers, which is what an elastic job is made of.

Source: training-operator 1.9, SetPodEnv: PET_NNODES is the range of the Workers on every pod.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.rule import Findings, Subject, found_at

_MASTER = ("spec", "pytorchReplicaSpecs", "Master")


def check(subject: Subject) -> Findings:
    policy = subject.spec.get("elasticPolicy")
    replicas = nested_map(subject.spec, "pytorchReplicaSpecs")
    if policy is None or replicas.get("Master") is None or replicas.get("Worker") is None:
        return

    workers = nested_int(replicas, "Worker", "replicas", default=1)
    low = nested_int(subject.spec, "elasticPolicy", "minReplicas", default=workers)
    max_nodes = nested_int(subject.spec, "elasticPolicy", "maxReplicas", default=low)
    if workers <= max_nodes < workers + 1 and "nnodes" not in subject.launch_options:
        yield found_at(
            _MASTER,
            f"with {pluralize(workers, 'Worker')} it is node number {workers + 1} of a "
            f"rendezvous of at most {max_nodes}: one pod waits outside",
            "make the Master one of the Workers",
            on_key=True,
        )
