"""A memory limit is so small that no container can start.

PTC106 tiny-memory-limit: error at run (fails), by kubelet.
Needs: limits memory

What: `limits.memory` is less than 4 MiB, most often because the unit is missing, as in `memory:
64`.

Why: a plain number is bytes. Under a limit of a few bytes the container runtime itself is killed
while it sets the container up: the pod shows RunContainerError or OOMKilled and never runs a line
of Python.

Example: pod.yaml with

      resources:
        limits:
          cpu: 4
    -     memory: 64  # <--
    +     memory: 64Gi

Fix: write the unit: Gi, or Mi.

Source: Kubernetes 1.36, resource quantities; runc 1.2, a container init that is killed by a limit
that is too low.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_MIN_BYTES = 4 * 2**20
_MAX_GIBIBYTES = 4096
"""Largest number without a unit that was probably meant in Gi."""


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        limit = container.limits.get("memory")
        amount = quantity.parse(limit)
        if amount is None or not amount.is_integer or not 0 < amount.value < _MIN_BYTES:
            continue

        path = (*container.path, "resources", "limits", "memory")
        lacks_unit = str(limit).strip().isdigit() and amount.value <= _MAX_GIBIBYTES
        yield found_at(
            path,
            f"{limit} is {amount.value} bytes, but no container starts with less than 4 MiB",
            f"write the unit, such as {limit}Gi" if lacks_unit else "raise the limit",
            fix_setting(f"write {limit}Gi", path, f"{limit}Gi") if lacks_unit else None,
        )
