"""A memory or storage limit ends in m, which means a thousandth of a byte.

PTC105 fractional-bytes: error at run (fails), by kubelet.
Needs: limits

What: a limit of memory or ephemeral storage is below 1 MiB and not a whole number of bytes, such as
`512m`.

Why: `m` means milli for every resource. `512m` is half a byte, with which no container starts. The
API server only warns.

Example: pod.yaml with

      resources:
        limits:
          cpu: 4
    -     memory: 512m  # <--
    +     memory: 512Mi

Fix: write Mi for mebibytes, M for megabytes.

Source: Kubernetes 1.36, resource quantities, and the API server's own warning on fractional bytes.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_MEBI = 2**20


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        for name in ("memory", "ephemeral-storage"):
            amount = quantity.parse(container.limits.get(name))
            if amount is not None and not amount.is_integer and 0 < amount.value < _MEBI:
                limit = str(container.limits[name])
                path = (*container.path, "resources", "limits", name)
                number = limit.strip().removesuffix("m")
                intended = f"{number}Mi" if number.isdigit() and limit.endswith("m") else None
                yield found_at(
                    path,
                    f'fractional byte value "{amount.rounded()}" is invalid, must be an integer: '
                    "the suffix m is a thousandth",
                    f"write {intended or 'an amount in Mi or Gi'}",
                    fix_setting(f"write {intended}", path, intended) if intended else None,
                )
