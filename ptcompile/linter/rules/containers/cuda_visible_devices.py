"""CUDA_VISIBLE_DEVICES does not match the GPUs that the container requests.

What: the list of indexes has one that is not below the number of GPUs, or fewer indexes than the container has GPUs.

Why: inside a container the GPUs are numbered from 0, whichever the node assigned. CUDA uses the indexes up to the first
that does not exist and ignores the rest, so the processes see fewer GPUs than are paid for, or none.

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
    -       env:
    -         - name: CUDA_VISIBLE_DEVICES
    -           value: "3"  # <--
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: remove the variable: a container sees only its own GPUs.

Source: CUDA 13, environment variables; Kubernetes 1.36, device plugins.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.devices import count_whole_gpus
from ptcompile.linter.rule import Finding, Rule, Subject, found_at

_VARIABLE = "CUDA_VISIBLE_DEVICES"


def _check(subject: Subject) -> Iterator[Finding]:
    processes = {role.path: role.rendezvous.processes or 0 for role in subject.training_roles if role.is_torchrun}
    for container in subject.containers:
        for entry in container.variables:
            count = count_whole_gpus(container) if entry.name == _VARIABLE and entry.value else 0
            problem = _problem(entry.value or "", count) if count else None
            if problem is not None:
                path = entry.value_path
                yield found_at(
                    path,
                    f"{_VARIABLE}={entry.value}: {problem}",
                    "remove the variable",
                    Fix(f"remove {_VARIABLE}", (Edit("remove", entry.path),), safe=False),
                    severity="error"
                    if processes.get(container.path, 0) > _count_visible(entry.value or "", count)
                    else None,
                )


def _problem(value: str, count: int) -> str | None:
    indexes = [index.strip() for index in value.split(",")]
    if not all(index.isascii() and index.isdigit() and len(index) < 9 for index in indexes):
        return None
    numbers = [int(index) for index in indexes]
    beyond = next((number for number in numbers if number >= count), None)
    if beyond is not None:
        return (
            f"the container has {count} GPU{'s' if count > 1 else ''}, numbered from 0, so GPU {beyond} does not exist"
        )
    if len(set(numbers)) < count:
        return f"only {len(set(numbers))} of the container's {count} GPUs are visible"
    return None


def _count_visible(value: str, count: int) -> int:
    """Return how many GPUs a process sees: CUDA stops at the first index that does not exist."""
    numbers = [int(word) for word in value.split(",")]
    beyond = next((i for i, number in enumerate(numbers) if number >= count), len(numbers))
    return len(set(numbers[:beyond]))


RULE = Rule("cuda-visible-devices", _check, severity="warning", stage="run", authority="ptcompile")
