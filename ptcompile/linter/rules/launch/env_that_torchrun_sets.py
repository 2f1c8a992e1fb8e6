"""Variables that torchrun sets for its processes itself.

What: a container that torchrun starts sets RANK, LOCAL_RANK, WORLD_SIZE or another variable of a process, and the
command line does not use it.

Why: torchrun overwrites these for every process that it starts, and reads none of them. In the manifest they only
mislead the reader.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - torchrun
              - --nproc-per-node=1
              - train.py
    -       env:
    -         - {name: WORLD_SIZE, value: "4"}  # <--
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: remove them; torchrun's own options are --nnodes, --node-rank and --nproc-per-node.

Source: PyTorch 2.13, torch/distributed/elastic, the environment that torchrun gives its workers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_mappings, as_string
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole

_NAMES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"})

_OF_NODES = frozenset({"RANK", "WORLD_SIZE"})


def _check(subject: Subject) -> Iterator[Finding]:
    for one in (one for found in subject.torchrun_groups for one in found):
        counted = _counts_nodes(one)
        for i, entry in enumerate(as_mappings(one.spec.get("env"))):
            name = as_string(entry.get("name"))
            # An operator's own of the same name is reserved-env's; a script may use any.
            if name not in _NAMES or one.env_index(name) != i or _used(one, name) or one.launch.in_shell:
                continue
            if counted and name in _OF_NODES:
                continue
            path = (*one.path, "env", i)
            yield found_at(
                path,
                f"torchrun sets {name} for each process, and this value is seen by none of them",
                f"remove {name}",
                Fix(f"remove {name}", (Edit("remove", path),), safe=False),
            )


def _counts_nodes(one: TrainingRole) -> bool:
    """Return whether the four variables of env:// are all written and count nodes: whoever reads them reads the truth.

    ptcompile gives them to every command that it does not start itself.
    """
    names = {as_string(entry.get("name")) for entry in as_mappings(one.spec.get("env"))}
    last, size = one.expanded.count - 1, one.pod.env.get("WORLD_SIZE")
    ranks = [one.pod.job.pod(one.expanded, index).env.get("RANK") for index in (0, last)]
    return {"MASTER_ADDR", "MASTER_PORT", *_OF_NODES} <= names and size == str(last + 1) and ranks == ["0", str(last)]


def _used(one: TrainingRole, name: str) -> bool:
    """Whether the command line or another variable is made of it."""
    values = [as_string(entry.get("value")) for entry in as_mappings(one.spec.get("env"))]
    return any(f"$({name})" in word for word in (*values, *(word for _, _, word in one.indexed_tokens())))


RULE = Rule("env-that-torchrun-sets", _check, severity="warning", stage="style", authority="torchrun")
