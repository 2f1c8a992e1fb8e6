"""A memory request is so small that it reserves nothing.

PTC117 tiny-memory-request: warning at run (risks), by kubelet.
Needs: requests memory

What: `requests.memory` is less than 4 MiB, most often because the unit is missing (`64`) or is m
(`512m`).

Why: a plain number is bytes, and m is a thousandth of a byte. The scheduler places the pod on a
node without enough memory: the pod is evicted first, or the node runs out of memory.

Example: pod.yaml with

      resources:
        requests:
          cpu: 4
    -     memory: 64  # <--
    +     memory: 64Gi

Fix: write the unit: Gi, or Mi.

Source: Kubernetes 1.36, resource quantities and scheduling by requests.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.linter.rule import Findings, Subject, found_at

_MIN_BYTES = 4 * 2**20


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        request = container.requests.get("memory")
        amount = quantity.parse(request)
        if amount is None or not 0 < amount.value < _MIN_BYTES:
            continue

        limit = quantity.parse(container.limits.get("memory"))
        if limit is not None and 0 < limit.value < _MIN_BYTES:
            continue  # reported by tiny-memory-limit or fractional-bytes

        path = (*container.path, "resources", "requests", "memory")
        size = f"{amount.nano / quantity.NANO:g}"
        yield found_at(
            path,
            f"{request} is {size} bytes, which reserves nothing",
            "write the unit, such as Gi",
        )
