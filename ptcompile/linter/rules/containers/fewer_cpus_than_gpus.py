"""A container has fewer CPUs than GPUs.

PTC108 fewer-cpus-than-gpus: warning at run (slows), by kubelet.
Needs: gpu cpu

What: the CPU limit of a container is below the number of its whole GPUs.

Why: each GPU is fed by at least one process that reads, decodes and launches kernels. Under a CPU
limit smaller than the number of GPUs the processes are throttled and the GPUs wait. Often the limit
was meant in cores and written in thousandths.

Example: gpu_pod.yaml with

      command: [torchrun, --nproc-per-node, "8", train.py]
      resources:
        limits:
    -     cpu: 64m  # <--
    +     cpu: 64
          memory: 256Gi
          nvidia.com/gpu: 8

Fix: raise the CPU limit; 8 to 16 cores for each GPU are usual.

Source: Kubernetes 1.36, CPU limits are enforced by throttling; PyTorch 2.13, one process for each
GPU.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes import quantity
from ptcompile.linter.devices import count_whole_gpus
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        count = count_whole_gpus(container)
        cpu_limit = container.limits.get("cpu")
        amount = quantity.parse(cpu_limit) if count else None
        if amount is not None and 0 < amount.nano < count * quantity.NANO:
            yield found_at(
                (*container.path, "resources", "limits", "cpu"),
                f"{cpu_limit} for {pluralize(count, 'GPU')}: the processes that feed them are "
                "throttled",
                f"raise the limit to at least {count} CPUs, better 8 per GPU",
            )
