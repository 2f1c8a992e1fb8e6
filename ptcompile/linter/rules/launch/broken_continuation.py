"""Whitespace after a backslash ends a command of a shell script early.

PTC473 broken-continuation: error at run (fails), by kubelet.
Needs: {SHELLS} {TRAINING_LAUNCHERS}/python/python3/pip

What: a line of a script ends with a backslash and a space, a tab or a carriage return.

Why: a backslash continues a line only directly before the newline. Before a space it makes an
argument of that space; the command ends with the line, and the next line becomes a separate
command: "--nproc_per_node=8: command not found".

Example: pod.yaml with

      command: [bash, -c]
      args:
    -   - "set -e\\ntorchrun --nproc_per_node=1 \\\\ \\n  train.py"  # <--
    +   - "set -e\\ntorchrun --nproc_per_node=1 \\\\\\n  train.py"

Fix: remove the whitespace after the backslash.

Source: POSIX 2024, 2.2.1 Escape Character.
"""

from __future__ import annotations

from ptcompile.diagnostics import shorten
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.shell.calls import broken_continuation


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        call = container.call
        line = broken_continuation(call.text) if call is not None else None
        if line is not None:
            yield found_at(
                container.script_path,
                f"the shell ends the command after {shorten(line, 40)!r}: whitespace follows the "
                "backslash",
                "remove the whitespace after the backslash",
            )
