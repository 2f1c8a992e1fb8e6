"""CUDA_VISIBLE_DEVICES does not match the GPUs that the container requests.

PTC114 cuda-visible-devices: warning at run (differs), by ptcompile.
Needs: visible/affinity

What: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ZE_AFFINITY_MASK has an
index that is not below the number of the container's GPUs, or fewer indexes than it has GPUs, or
none: it is empty, -1 or a word.

Why: inside a container the GPUs are numbered from 0, whichever the node assigned. CUDA uses the
indexes up to the first that does not exist and ignores the rest, so the processes see fewer GPUs
than are paid for, or none.

Example: pod.yaml with

      - name: pytorch
    -   env:
    -     - name: CUDA_VISIBLE_DEVICES
    -       value: "3"  # <--
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: remove the variable: a container sees only its own GPUs.

Source: CUDA 13, HIP 7 and oneAPI, environment variables; Kubernetes 1.36, device plugins.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.devices import stack_of
from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at

_is_list = Pattern(r"\d{1,8}(?:\s{0,8},\s{0,8}\d{1,8}){0,255}").fullmatch
_is_nothing = Pattern(r"-1|[A-Za-z]{0,16}").fullmatch


def check(subject: Subject) -> Findings:
    processes = {
        role.path: role.rendezvous.processes or 0
        for role in subject.training_roles
        if role.is_torchrun
    }
    for container in subject.containers:
        stack = stack_of(container.limits)
        if stack is None:
            continue

        for entry in container.variables:
            if entry.name not in stack.visible or entry.value is None:
                continue

            problem = _problem(entry.value, container.accelerators)
            if problem is not None:
                is_short = processes.get(container.path, 0) > _count_visible(
                    entry.value, container.accelerators
                )
                yield found_at(
                    entry.value_path,
                    f"{entry.name}={entry.value}: {problem}",
                    "remove the variable",
                    fix_removing_variable(entry),
                    severity="error" if is_short else None,
                )


def _problem(value: str, count: int) -> str | None:
    """Return what is wrong with the value for a container with so many GPUs, or None."""
    if _is_nothing(value.strip()):
        return "the processes see none of the container's GPUs"
    if not _is_list(value.strip()):
        return None

    numbers = [int(index) for index in value.split(",")]
    beyond = next((number for number in numbers if number >= count), None)
    if beyond is not None:
        noun = "GPUs" if count > 1 else "GPU"
        return f"the container has {count} {noun}, numbered from 0, so GPU {beyond} does not exist"
    if len(set(numbers)) < count:
        return f"only {len(set(numbers))} of the container's {count} GPUs are visible"

    return None


def _count_visible(value: str, count: int) -> int:
    """Return how many GPUs a process sees: CUDA stops at the first index that does not exist."""
    numbers = [int(word) for word in value.split(",")] if _is_list(value.strip()) else []
    beyond = next((i for i, number in enumerate(numbers) if number >= count), len(numbers))
    return len(set(numbers[:beyond]))
