"""Workers alone, without a Master, have no RANK and no WORLD_SIZE.

What: a PyTorchJob has several Workers, no Master and no elasticPolicy, and its command is Python or the image's own.

Why: the operator sets MASTER_ADDR, RANK and WORLD_SIZE where there is a Master, and only there. A script that
initialises torch.distributed from its environment fails, or trains alone on every pod.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
    -     Worker:  # <--
    -       replicas: 2
    +     Master:
    +       replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    +     Worker:
    +       replicas: 1
    +       restartPolicy: OnFailure
    +       template:
    +         spec:
    +           containers:
    +             - name: pytorch
    +               image: ghcr.io/acme/train:1.0
    +               command: [python, train.py]
    +               resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: make one of the Workers the Master.

Source: training-operator 1.9, SetPodEnv; kubeflow/trainer issues 1916 and 2800.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

_WORKER = ("spec", "pytorchReplicaSpecs", "Worker")


def _check(subject: Subject) -> Iterator[Finding]:
    spec = subject.spec
    if "Master" in nested_map(spec, "pytorchReplicaSpecs") or spec.get("elasticPolicy") is not None:
        return
    found = subject.trainers
    if count_nodes(found) > 1 and _by_environment(found[0]) and not found[0].unsure:
        yield found_at(
            _WORKER,
            f"{count_nodes(found)} Workers without a Master get no MASTER_ADDR, RANK and WORLD_SIZE",
            "make one of them the Master",
            on_key=True,
        )


def _by_environment(one: TrainingRole) -> bool:
    """Whether the processes can only know of one another by variables, and have none."""
    entry = one.launch.entry
    python = bool(entry) and entry[0].rpartition("/")[2].startswith("python")
    plain = one.seen.launcher == "image" or (one.seen.launcher == "command" and python)
    return plain and "MASTER_ADDR" not in one.launch.env


RULE = Rule("workers-without-rank", _check, severity="warning", stage="run", authority="training-operator")
