"""A launcher starts fewer processes than the pod has GPUs.

PTC104 idle-gpus: warning at run (wastes), by torchrun.
Needs: {NODE_LAUNCHERS} {VENDORS}

What: the processes per node are fewer than the accelerators of the container, or not set, and
torchrun starts one. accelerate's --num_processes counts the processes of all nodes.

Why: a process of a data parallel job drives one GPU. The others are paid for and idle.

Example: gpu_pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=1  # <--
    +   - --nproc-per-node=8
        - train.py
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}

Fix: run one process per GPU, or request fewer GPUs. Ignore it if one process drives several GPUs.

Source: PyTorch 2.13, torch/distributed/run.py: nproc-per-node defaults to 1; Accelerate 1.10,
utils/launch.py: num_processes // num_machines per node.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.devices import count_one_process_devices
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers import LAUNCHERS


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        gpus = count_one_process_devices(role.pod)
        processes = role.rendezvous.processes
        is_known = role.is_torchrun or role.rendezvous.launcher in LAUNCHERS

        if (
            is_known
            and processes is not None
            and 0 < processes < gpus
            and not role.is_uncertain("nproc-per-node")
        ):
            yield found_at(
                role.path_or_command("nproc-per-node"),
                f"{role.launcher_name} starts {pluralize(processes, 'process', 'es')} on a node "
                f"with {gpus} GPUs",
                _help(role, gpus),
                role.fix_to("nproc-per-node", str(gpus), f"run {gpus} processes per node"),
            )


def _help(role: TrainingRole, gpus: int) -> str:
    if role.is_torchrun:
        return f"write --nproc-per-node={gpus}"
    nodes = role.rendezvous.nodes
    if role.launch.launcher == "accelerate" and nodes is not None:
        return f"write --num_processes={gpus * nodes.most}: it counts the processes of all nodes"
    return "start one process per GPU of each node"
