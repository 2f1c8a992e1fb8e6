"""A debugging switch is on and slows or breaks the training.

PTC819 debug-left-on: warning at run (slows), by ptcompile.
Needs: blocking/distributed/trace/caching

What: a container with accelerators sets CUDA_LAUNCH_BLOCKING=1, TORCH_DISTRIBUTED_DEBUG=DETAIL,
NCCL_DEBUG=TRACE or PYTORCH_NO_CUDA_MEMORY_CACHING=1; or TORCH_DISTRIBUTED_DEBUG=DETAIL is set where
processes without accelerators train, which Gloo connects.

Why: each makes every kernel, every collective or every allocation wait for a check. A job is slower
by a third or by several times, for its whole life. With Gloo, the check itself ends all processes
with SIGSEGV at the first collective that differs, instead of saying which one.

Example: pod.yaml with

      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    - env:
    -   - name: CUDA_LAUNCH_BLOCKING  # <--
    -     value: "1"

Fix: remove the variable when you have finished debugging.

Source: CUDA 13, CUDA_LAUNCH_BLOCKING; PyTorch 2.13, TORCH_DISTRIBUTED_DEBUG and CUDA memory
management; NCCL 2.29, NCCL_DEBUG; Gloo with DETAIL: measured on PyTorch 2.13.
"""

from __future__ import annotations

from ptcompile.linter.containers import starts_training
from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at
from ptcompile.world.templates import ManifestContainer

_COSTS = {
    ("CUDA_LAUNCH_BLOCKING", "1"): "the CPU waits for every kernel",
    ("TORCH_DISTRIBUTED_DEBUG", "DETAIL"): "all ranks check every collective first",
    ("NCCL_DEBUG", "TRACE"): "NCCL logs every call",
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"): "the driver handles every allocation",
}
_COSTS_OF_GLOO = {
    (
        "TORCH_DISTRIBUTED_DEBUG",
        "DETAIL",
    ): "with Gloo, the first collective that differs ends all ranks with SIGSEGV"
}


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if container.accelerators:
            costs = _COSTS
        elif _starts_python(container):
            costs = _COSTS_OF_GLOO
        else:
            continue

        for entry in container.variables:
            cost = costs.get((entry.name, entry.text.upper()))
            if cost is not None:
                yield found_at(
                    entry.name_path,
                    f"{entry.name}={entry.value}: {cost}, for as long as the job runs",
                    "remove the variable when debugging is done",
                    fix_removing_variable(entry),
                )


def _starts_python(container: ManifestContainer) -> bool:
    """Return whether the container trains: it starts a launcher or a Python script."""
    if not container.is_main:
        return False
    return starts_training(container) or any(
        word.endswith(".py") for word in container.launch.entry
    )
