"""A debugging switch is on and slows the training.

What: a container with accelerators sets CUDA_LAUNCH_BLOCKING=1, TORCH_DISTRIBUTED_DEBUG=DETAIL, NCCL_DEBUG=TRACE or
PYTORCH_NO_CUDA_MEMORY_CACHING=1.

Why: each makes every kernel, every collective or every allocation wait for a check. A job is slower by a third or by
several times, for its whole life.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    -       env:
    -         - name: CUDA_LAUNCH_BLOCKING  # <--
    -           value: "1"

Fix: remove the variable when you have finished debugging.

Source: CUDA 13, CUDA_LAUNCH_BLOCKING; PyTorch 2.13, TORCH_DISTRIBUTED_DEBUG and CUDA memory management; NCCL 2.29,
NCCL_DEBUG.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.devices import accelerators
from ptcompile.linter.rule import Finding, Rule, Subject, found_at

_COSTS = {
    ("CUDA_LAUNCH_BLOCKING", "1"): "the CPU waits for every kernel",
    ("TORCH_DISTRIBUTED_DEBUG", "DETAIL"): "all ranks check every collective first",
    ("NCCL_DEBUG", "TRACE"): "NCCL logs every call",
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"): "the driver handles every allocation",
}


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        for entry in container.variables:
            cost = _COSTS.get((entry.name, (entry.value or "").upper()))
            if cost is not None and accelerators(container):
                path = entry.name_path
                yield found_at(
                    path,
                    f"{entry.name}={entry.value}: {cost}, for as long as the job runs",
                    "remove the variable when debugging is done",
                    Fix(f"remove {entry.name}", (Edit("remove", entry.path),), safe=False),
                )


RULE = Rule("debug-left-on", _check, severity="warning", stage="run", authority="ptcompile")
