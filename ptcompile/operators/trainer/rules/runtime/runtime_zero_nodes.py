"""numNodes of the runtime is below 1 and treated as 1.

PTC846 runtime-zero-nodes: warning at style, by trainer.
Needs: numNodes

What: mlPolicy.numNodes is 0 or negative.

Why: Trainer raises it to 1 unless a TrainJob sets it.

Example: runtime.yaml with

      mlPolicy:
    -   numNodes: 0  # <--
    +   numNodes: 1
        torch: {}

Fix: write 1.

Source: Trainer 2.3, runtime framework.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    num_nodes = nested_value(subject.spec, "mlPolicy", "numNodes")
    if type(num_nodes) is int and num_nodes < 1:
        path = ("spec", "mlPolicy", "numNodes")
        yield found_at(
            path,
            f"{num_nodes} is treated as 1",
            "write 1",
            fix_setting("set numNodes to 1", path, 1, safe=True),
        )
