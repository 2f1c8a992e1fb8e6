"""A container requests more than any machine has.

PTC107 larger-than-any-node: warning at run (waits), by ptcompile.
Needs: limits/requests

What: a container requests more than 1920 CPUs, 32 TiB of memory or 16 whole GPUs.

Why: a pod runs on one node. It stays Pending forever, and an autoscaler cannot help. Most often it
is the number of GPUs of the whole job, or a CPU count without the `m`.

Example: job.yaml with

      restartPolicy: Never
      volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
      containers:
        - name: pytorch
          volumeMounts: [{name: dshm, mountPath: /dev/shm}]
          resources:
            limits:
              cpu: 64
              memory: 512Gi
    -         nvidia.com/gpu: 32  # <--
    +         nvidia.com/gpu: 8

Fix: request what one node has, with more pods.

Source: the largest machines that clouds rent in 2026: 16 GPUs (a2-megagpu-16g, p2.16xlarge), 1920
CPUs and 32 TiB (x4-megamem-1920, u7inh-32tb).
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.linter.devices import WHOLE_GPUS
from ptcompile.linter.rule import Findings, Subject, found_at

_MAX_AMOUNTS = {"cpu": 1920, "memory": 32 * 2**40, **dict.fromkeys(WHOLE_GPUS, 16)}
_LABELS = {"memory": "32Ti"}


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        seen = set()
        for path, name, written in container.resources:
            maximum = _MAX_AMOUNTS.get(name)
            amount = quantity.parse(written) if maximum and name not in seen else None
            if maximum and amount is not None and amount.nano > maximum * quantity.NANO:
                seen.add(name)
                yield found_at(
                    path,
                    f"{written} is more than any machine has ({_LABELS.get(name, maximum)}): "
                    "the pod stays Pending",
                    "request what one node has, with more pods"
                    if name != "cpu"
                    else f"write {written}m for thousandths of a CPU",
                )
