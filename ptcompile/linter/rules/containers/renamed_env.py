"""A variable of PyTorch has an old name.

PTC816 renamed-env: warning at style, by ptcompile.
Needs: nccl handling/streams/blocking/desync/timing/trace

What: a container sets NCCL_ASYNC_ERROR_HANDLING, NCCL_BLOCKING_WAIT, NCCL_DESYNC_DEBUG or another
variable whose name begins with TORCH_ since PyTorch 2.2.

Why: these belong to PyTorch, not to NCCL. The old names still work, with a warning at each start of
each process; a later release may drop them.

Example: pod.yaml with

      - name: pytorch
        env:
    -     - name: NCCL_ASYNC_ERROR_HANDLING  # <--
    +     - name: TORCH_NCCL_ASYNC_ERROR_HANDLING
            value: "1"

Fix: write the new name, for PyTorch 2.2 and later.

Source: PyTorch 2.2, ProcessGroupNCCL environment variables.
"""

from __future__ import annotations

from ptcompile.linter.environment import RENAMED_VARIABLES
from ptcompile.linter.rule import Findings, Subject, corrected_at


def check(subject: Subject) -> Findings:
    for entry in subject.variables:
        new_name = RENAMED_VARIABLES.get(entry.name)
        if new_name is not None:
            message = f"{entry.name} is called {new_name} since PyTorch 2.2"
            yield corrected_at(entry.name_path, message, new_name)
