"""The number of Workers is outside the elastic range.

What: Worker.replicas is below elasticPolicy.minReplicas or above maxReplicas, and no metrics scale the job.

Why: with fewer Workers the rendezvous is never complete; with more Workers some wait outside, holding their GPUs.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
    -   elasticPolicy: {maxRestarts: 3, minReplicas: 3, maxReplicas: 4}
    +   elasticPolicy: {maxRestarts: 3, minReplicas: 2, maxReplicas: 4}
        pytorchReplicaSpecs:
          Worker:
            replicas: 2  # <--
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set replicas to a number in the range.

Source: training-operator 1.9, which does not compare them; PyTorch 2.13, dynamic rendezvous.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_int, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject

_REPLICAS = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")


def _check(subject: Subject) -> Iterator[Finding]:
    policy = nested_map(subject.spec, "elasticPolicy")
    if not policy or policy.get("metrics"):
        return
    workers = as_int(nested_map(subject.spec, "pytorchReplicaSpecs", "Worker").get("replicas"), 1)
    pods = workers + (nested_map(subject.spec, "pytorchReplicaSpecs").get("Master") is not None)
    low, high = policy.get("minReplicas"), policy.get("maxReplicas")
    least = as_int(high if low is None else low, workers)
    most = as_int(low if high is None else high, workers)
    if least > most or least < 1 or any("nnodes" in one.launch.options for one in subject.trainers):
        return
    why = "the rendezvous waits for more" if pods < least else f"{workers - most} wait outside the rendezvous"
    if pods < least or workers > most:
        right = least if pods < least else most
        yield found_at(
            _REPLICAS,
            f"{workers} {'Worker' if workers == 1 else 'Workers'} for a range of {least} to {most} nodes: {why}",
            "set replicas to a number in the range",
            Fix(f"set replicas to {right}", (Edit("set", _REPLICAS, right),), safe=False),
        )


RULE = Rule("elastic-replicas-out-of-range", _check, severity="warning", stage="run", authority="torchrun")
