"""WORLD_SIZE counts processes that are never started.

What: nprocPerNode is a number above 1, and the command is Python and not torchrun.

Why: the operator sets WORLD_SIZE to pods times nprocPerNode, and starts one process per pod. init_process_group waits
for the others until it times out.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
    -   nprocPerNode: "4"  # <--
    +   nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
          Worker:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the script with torchrun, or leave nprocPerNode out.

Source: training-operator 1.9, SetPodEnv; kubeflow/trainer issue 1790. A script that starts its own processes is right
as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import as_string, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

_NPROC = ("spec", "nprocPerNode")


def _check(subject: Subject) -> Iterator[Finding]:
    processes = atoi(as_string(subject.spec.get("nprocPerNode"))) or 1
    found = subject.trainers
    if processes < 2 or "Master" not in nested_map(subject.spec, "pytorchReplicaSpecs") or not found:
        return
    pods = count_nodes(found)
    if all(_one_process(one) for one in found):
        yield found_at(
            _NPROC,
            f"WORLD_SIZE is {pods * processes}, and python starts one process in each of {pods} "
            f"{'pod' if pods == 1 else 'pods'}",
            "start the script with torchrun, or leave nprocPerNode out",
            Fix("remove nprocPerNode", (Edit("remove", _NPROC),), safe=False),
        )


def _one_process(one: TrainingRole) -> bool:
    """Whether the command is Python with a script or a module that is no launcher."""
    entry = one.launch.entry
    if one.seen.launcher != "command" or one.unsure or not entry:
        return False
    started = entry[2] if len(entry) > 2 and entry[1] == "-m" else ""
    python = entry[0].rpartition("/")[2].startswith("python")
    return python and not started.startswith(("accelerate", "deepspeed", "torch", "lightning"))


RULE = Rule("world-size-counts-processes", _check, severity="warning", stage="run", authority="training-operator")
