"""Variables that torchrun sets for its processes itself.

PTC833 env-that-torchrun-sets: warning at style, by torchrun.
Needs: {TORCHRUN} rank/world

What: a container that torchrun starts sets RANK, LOCAL_RANK, WORLD_SIZE or another variable of a
process, and the command line does not use it.

Why: torchrun overwrites these for every process that it starts, and reads none of them. In the
manifest they only mislead the reader.

Example: pod.yaml with

      command:
        - torchrun
        - --nproc-per-node=1
        - train.py
    - env:
    -   - {name: WORLD_SIZE, value: "4"}  # <--

Fix: remove them; torchrun's own options are --nnodes, --node-rank and --nproc-per-node.

Source: PyTorch 2.13, torch/distributed/elastic, the environment that torchrun gives its workers.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at
from ptcompile.linter.training_roles import TrainingRole

_PROCESS_VARIABLES = frozenset(
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"}
)

_COUNTS = frozenset({"RANK", "WORLD_SIZE"})


def check(subject: Subject) -> Findings:
    for role in (role for group in subject.torchrun_groups for role in group):
        texts = [*role.container.tokens, *(entry.text for entry in role.container.variables)]
        for entry in role.container.variables:
            name = entry.name
            # reserved-env reports variables that the operator sets too; a shell script may use any
            if (
                name not in _PROCESS_VARIABLES
                or role.user_entry(name) is not entry
                or role.launch.in_shell
                or any(f"$({name})" in text for text in texts)
            ):
                continue
            if name in _COUNTS and _counts_nodes(role):
                continue

            yield found_at(
                entry.place,
                f"torchrun sets {name} for each process, so none of them sees this value",
                f"remove {name}",
                fix_removing_variable(entry),
            )


def _counts_nodes(role: TrainingRole) -> bool:
    """Return whether all four env:// variables are set and count nodes, so that every reader gets
    correct values.

    ptcompile sets them for every command that it does not start itself.
    """
    names = {entry.name for entry in role.container.variables}
    if not {"MASTER_ADDR", "MASTER_PORT", *_COUNTS} <= names:
        return False
    last = role.expanded.count - 1
    size = role.pod.variables.get("WORLD_SIZE")
    ranks = [role.pod.job.pod(role.expanded, index).variables.get("RANK") for index in (0, last)]
    return size == str(last + 1) and ranks == ["0", str(last)]
