"""A variable turns off the fast paths between the GPUs of a pod.

PTC146 nccl-path-disabled: warning at run (slows), by ptcompile.
Needs: nccl p2p/shm disable/level

What: NCCL_P2P_DISABLE=1, NCCL_P2P_LEVEL=LOC or NCCL_SHM_DISABLE=1 in a container with several GPUs.

Why: without P2P, NCCL uses neither NVLink nor PCIe between GPUs, and without shared memory too all
traffic in the pod goes over the network. Both are workarounds for broken machines.

Example: gpu_pod.yaml with

      command: [torchrun, --nproc-per-node=8, train.py]
      env:
    -   - {name: NCCL_P2P_DISABLE, value: "1"}  # <--
    +   - {name: NCCL_P2P_DISABLE, value: "0"}
      resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}

Fix: remove the variable.

Source: NCCL 2.28, environment variables.
"""

from __future__ import annotations

from ptcompile.linter.environment import variable_path
from ptcompile.linter.rule import Findings, Subject, found_at

_PATHS = {"NCCL_P2P_DISABLE": "P2P", "NCCL_SHM_DISABLE": "shared memory"}
_P2P_LEVELS = ("LOC", "0")


def check(subject: Subject) -> Findings:
    for path, written, view, pod in subject.views():
        if view is not pod.main:
            continue

        env = pod.launch.env
        gpus = pod.devices.get("nvidia.com/gpu", 0)
        for name, transport in _PATHS.items():
            if gpus > 1 and env.get(name) == "1":
                yield found_at(
                    variable_path(subject, path, written, name),
                    f"{name}=1: NCCL uses no {transport} between the {gpus} GPUs of the pod, which is "
                    "many times slower",
                    "remove it",
                )

        if gpus > 1 and env.get("NCCL_P2P_LEVEL") in _P2P_LEVELS:
            yield found_at(
                variable_path(subject, path, written, "NCCL_P2P_LEVEL"),
                f"NCCL_P2P_LEVEL={env['NCCL_P2P_LEVEL']}: NCCL uses no P2P between the {gpus} "
                "GPUs of the pod",
                "remove it",
            )
