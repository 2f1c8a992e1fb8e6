"""NCCL's errors are not detected, so processes wait for a lost peer with their GPUs.

PTC477 nccl-errors-ignored: warning at run (risks), by torchrun.
Needs: nccl async

What: TORCH_NCCL_ASYNC_ERROR_HANDLING=0 (or NCCL_ASYNC_ERROR_HANDLING=0) in a container with GPUs.

Why: PyTorch's watchdog then neither aborts a collective that timed out nor ends the process. If one
process is lost, all others wait in the next collective, keep their GPUs, and no restart begins.

Example: gpu_pod.yaml with

      command: [torchrun, --nproc-per-node=8, train.py]
      env:
    -   - {name: TORCH_NCCL_ASYNC_ERROR_HANDLING, value: "0"}  # <--
    +   - {name: TORCH_NCCL_ASYNC_ERROR_HANDLING, value: "1"}
      resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}

Fix: remove the variable.

Source: PyTorch 2.13, ProcessGroupNCCL.hpp: 3 (SkipCleanUp) is the default, and 0 is NoHandling.
"""

from __future__ import annotations

from ptcompile.linter.environment import variable_path
from ptcompile.linter.rule import Findings, Subject, found_at

_VARIABLES = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")


def check(subject: Subject) -> Findings:
    for path, written, view, pod in subject.views():
        if view is not pod.main or not sum(pod.devices.values()):
            continue
        for name in [name for name in _VARIABLES if pod.launch.env.get(name) == "0"]:
            yield found_at(
                variable_path(subject, path, written, name),
                f"{name}=0: if a process is lost, all others wait in a collective and keep their "
                "GPUs",
                "remove it",
            )
