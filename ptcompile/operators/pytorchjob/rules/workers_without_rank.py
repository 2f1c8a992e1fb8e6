"""Workers alone, without a Master, have no RANK and no WORLD_SIZE.

PTC438 workers-without-rank: warning at run (apart), by training-operator.

What: a PyTorchJob has several Workers, no Master and no elasticPolicy, and its command is Python or
the image's own.

Why: the operator sets MASTER_ADDR, RANK and WORLD_SIZE where there is a Master, and only there. A
script that initializes torch.distributed from its environment fails, or trains alone on every pod.

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

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.operators.pytorchjob.pods import lacks_master

_WORKER = ("spec", "pytorchReplicaSpecs", "Worker")


def check(subject: Subject) -> Findings:
    if not lacks_master(subject.spec):
        return

    roles = subject.training_roles
    if count_nodes(roles) > 1 and _relies_on_environment(roles[0]) and not roles[0].is_uncertain():
        yield found_at(
            _WORKER,
            f"{count_nodes(roles)} Workers without a Master get no MASTER_ADDR, RANK and "
            "WORLD_SIZE",
            "make one of them the Master",
            on_key=True,
        )


def _relies_on_environment(role: TrainingRole) -> bool:
    """Return whether the processes can find one another only through variables, which are not
    set.
    """
    if "MASTER_ADDR" in role.launch.env:
        return False
    if role.rendezvous.launcher == "image":
        return True
    program = next(iter(role.launch.entry), "")
    return role.rendezvous.launcher == "command" and basename(program).startswith("python")
