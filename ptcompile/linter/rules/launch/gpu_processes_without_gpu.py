"""torchrun counts GPUs in a pod that requests none.

PTC432 gpu-processes-without-gpu: warning at run (fails), by torchrun.
Needs: {TORCHRUN} gpu/xpu {NPROC}

What: the processes per node are `gpu` or `xpu`, and no container of the pod requests an
accelerator.

Why: torchrun raises "Cuda is not available." where the pod sees no GPU, and does not start.

Example: pod.yaml with

      command:
        - torchrun
        - --nproc-per-node=gpu  # <--
        - train.py
    - resources: {limits: {cpu: 8, memory: 64Gi}}
    + resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: request GPUs in resources.limits, or write a number of processes.

Source: PyTorch 2.13, torch/distributed/run.py, determine_local_world_size.
"""

from __future__ import annotations

from ptcompile.linter.devices import may_see_devices
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        nproc = role.options.get("nproc-per-node", "")
        if nproc in ("gpu", "xpu") and not may_see_devices(role.pod):
            yield found_at(
                role.path_of("nproc-per-node"),
                f"torchrun should start one process per device ({nproc}), but the pod requests "
                "none",
                "request GPUs in resources.limits, or write a number",
            )
