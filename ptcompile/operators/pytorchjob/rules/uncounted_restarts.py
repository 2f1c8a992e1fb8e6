"""The backoffLimit is never reached: these restarts are not counted.

What: runPolicy.backoffLimit is set, and every role restarts by ExitCode.

Why: the limit counts restarts of containers within running pods. With ExitCode the operator deletes
the pod and makes a new one, whose count begins at 0, so retries go on forever.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy:
          cleanPodPolicy: Running
          backoffLimit: 3  # <--
        pytorchReplicaSpecs:
          Master:
            replicas: 1
    -       restartPolicy: ExitCode
    +       restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use OnFailure, or limit the job by activeDeadlineSeconds.

Source: training-operator 1.9, PastBackoffLimit; kubeflow/trainer issues 1589 and 2045.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at

_PATH = ("spec", "runPolicy", "backoffLimit")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "runPolicy")
    restarts = [
        nested_value(replica, "restartPolicy")
        for replica in nested_map(subject.spec, "pytorchReplicaSpecs").values()
    ]
    is_limited = policy.get("activeDeadlineSeconds") is not None or not restarts

    if (
        policy.get("backoffLimit") is not None
        and not is_limited
        and all(restart == "ExitCode" for restart in restarts)
    ):
        yield found_at(
            _PATH,
            "with restartPolicy ExitCode a failed pod is recreated and its restarts count from 0: "
            "the limit is never reached",
            "use OnFailure, or add activeDeadlineSeconds",
        )
