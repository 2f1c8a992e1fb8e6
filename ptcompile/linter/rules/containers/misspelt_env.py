"""A variable's name is almost one that NCCL or PyTorch reads.

PTC815 misspelt-env: warning at run (differs), by ptcompile.
Needs: env

What: a name with a prefix of NCCL or PyTorch (NCCL_, TORCH_, GLOO_, OMP_, PYTORCH_, CUDA_) is one
typo away from a variable that they read, such as NCCL_SOCKET_IFNAMES.

Why: a variable that nothing reads causes no error. The setting has no effect.

Example: pod.yaml with

      - name: pytorch
        env:
    -     - name: NCCL_SOCKET_IFACE  # <--
    +     - name: NCCL_SOCKET_IFNAME
            value: eth0

Fix: write the name that is read.

Source: NCCL 2.29, environment variables; PyTorch 2.13, torch.distributed; OpenMP 5.2.
"""

from __future__ import annotations

from ptcompile.linter.environment import closest_variable
from ptcompile.linter.rule import Findings, Subject, corrected_at


def check(subject: Subject) -> Findings:
    for entry in subject.variables:
        suggestion = closest_variable(entry.name)
        if suggestion is not None:
            message = f"nothing reads {entry.name} (did you mean {suggestion}?)"
            yield corrected_at(entry.name_path, message, suggestion)
