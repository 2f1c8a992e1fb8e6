"""torchrun starts more processes than the pod has GPUs.

PTC103 more-processes-than-gpus: error at run (fails), by torchrun.
Needs: {NODE_LAUNCHERS} {NPROC}/num/processes/n/config

What: the processes per node, from the command line, a PET_* variable or the operator's field, are
more than the accelerators of the container.

Why: each process takes the GPU of its local rank. The one beyond the last GPU dies with "invalid
device ordinal", and torchrun ends all others.

Example: gpu_pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=8  # <--
    +   - --nproc-per-node=4
        - train.py
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}

Fix: run as many processes as there are GPUs, or request more GPUs.

Source: PyTorch 2.13, torch/distributed/run.py: LOCAL_RANK counts the processes of a node;
training-operator 1.9 and Trainer 2.3, the fields that become PET_NPROC_PER_NODE.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.devices import count_one_process_devices
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers import LAUNCHERS


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        gpus = count_one_process_devices(role.pod)
        processes = role.rendezvous.processes
        if not gpus or processes is None or processes <= gpus:
            continue

        is_known = role.is_torchrun or role.rendezvous.launcher in LAUNCHERS
        # envFrom cannot change a flag outside of a script
        is_flag = role.source_of("nproc-per-node") == "flag" and not role.launch.in_shell
        if is_known and (is_flag or not role.is_uncertain("nproc-per-node")):
            yield found_at(
                role.path_of("nproc-per-node"),
                f"{processes} processes on a node with {pluralize(gpus, 'GPU')}: the extra ones "
                "find no device",
                f"request {processes} GPUs, or run {gpus}",
                role.fix_to("nproc-per-node", str(gpus), f"run {gpus} processes per node"),
            )
