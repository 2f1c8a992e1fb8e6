"""The gang is smaller than the number of pods that wait for one another.

PTC230 partial-gang: warning at run (waits), by volcano.
Needs: minAvailable

What: minAvailable is below the number of nodes that the job's pods wait for: WORLD_SIZE, or
torchrun's minimum number of nodes.

Why: Volcano starts minAvailable pods as soon as they fit. They hold their GPUs and wait for ranks
that may never fit: two such jobs can hold half of the cluster each, forever.

Example: volcano_roles.yaml with

    - minAvailable: 1  # <--
    + minAvailable: 3

Fix: set minAvailable to the number of pods, or remove it: the default is all of them.

Source: Volcano 1.16, PodGroup minMember; volcano#3373, #2462.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import tasks_with_pods


def check(subject: Subject) -> Findings:
    min_available = nested_int(subject.spec, "minAvailable")
    total = sum(task.replicas for _, task in tasks_with_pods(subject))
    required = min(subject.min_nodes_to_start, total) if 0 < min_available < total else 0
    if min_available < required:
        path = ("spec", "minAvailable")
        yield found_at(
            path,
            f"{min_available} of {total} pods are enough to start, but {required} wait for one "
            "another: running pods hold their devices without training",
            f"set minAvailable to {required}",
            fix_setting(f"set minAvailable to {required}", path, required),
        )
