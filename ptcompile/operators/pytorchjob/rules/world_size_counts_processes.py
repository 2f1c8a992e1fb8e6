"""WORLD_SIZE counts processes that are never started.

PTC130 world-size-counts-processes: warning at run (fails), by training-operator.
Needs: nprocPerNode Master

What: nprocPerNode is a number above 1, and the command is Python and not torchrun.

Why: the operator sets WORLD_SIZE to pods times nprocPerNode, and starts one process per pod.
init_process_group waits for the others until it times out.

Example: pytorchjob.yaml with

    - nprocPerNode: "4"  # <--
    + nprocPerNode: "1"
      pytorchReplicaSpecs:
        Master:
          template:
            spec:
              containers:
                - name: pytorch
                  command: [python, train.py]
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

Source: training-operator 1.9, SetPodEnv; kubeflow/trainer issue 1790. A script that starts its own
processes needs no change.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_NPROC = ("spec", "nprocPerNode")


def check(subject: Subject) -> Findings:
    processes = atoi(nested_string(subject.spec, "nprocPerNode")) or 1
    roles = subject.training_roles
    if (
        processes < 2
        or "Master" not in nested_map(subject.spec, "pytorchReplicaSpecs")
        or not roles
    ):
        return

    pods = count_nodes(roles)
    if all(_starts_one_process(role) for role in roles):
        yield found_at(
            _NPROC,
            f"WORLD_SIZE is {pods * processes}, and python starts one process in each of "
            f"{pluralize(pods, 'pod')}",
            "start the script with torchrun, or leave nprocPerNode out",
            fix_removing("remove nprocPerNode", _NPROC),
        )


def _starts_one_process(role: TrainingRole) -> bool:
    """Return whether the command is Python with a script, or with a module that is not a
    launcher.
    """
    entry = role.launch.entry
    if role.rendezvous.launcher != "command" or role.is_uncertain() or not entry:
        return False
    program, *arguments = entry
    module = "".join(arguments[1:2]) if arguments[:1] == ["-m"] else ""
    is_python = basename(program).startswith("python")
    return is_python and not module.startswith(("accelerate", "deepspeed", "torch", "lightning"))
