"""OMP_NUM_THREADS is above the container's CPU limit.

PTC115 threads-above-cpus: warning at run (slows), by kubelet.
Needs: threads limits

What: the number of threads per process is larger than the number of CPUs that all processes of the
container share.

Why: more threads than CPUs are throttled by the kernel: each parallel region waits for threads that
may not run, and the GPUs wait with them.

Example: pod.yaml with

      - name: pytorch
        env:
          - name: OMP_NUM_THREADS
    -       value: "64"  # <--
    +       value: "8"
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: divide the CPUs by the processes of the container.

Source: Kubernetes 1.36, CPU limits are enforced by throttling; OpenMP 5.2, OMP_NUM_THREADS.
"""

from __future__ import annotations

from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes import quantity
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        for entry in container.variables:
            if (
                entry.name not in _VARIABLES
                or not entry.value
                or not is_short_number(entry.value, 7)
            ):
                continue

            limit = quantity.parse(container.limits.get("cpu"))
            if limit is not None and 0 < limit.nano < int(entry.value) * quantity.NANO:
                path = entry.value_path
                cpus = max(1, limit.nano // quantity.NANO)
                yield found_at(
                    path,
                    f"{entry.value} threads share {limit} CPUs and are throttled",
                    f"use at most {cpus}",
                    fix_setting(f"set {entry.name} to {cpus}", path, str(cpus)),
                )
