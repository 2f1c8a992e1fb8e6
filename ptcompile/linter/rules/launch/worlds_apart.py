"""Several pods that should meet train separately.

What: torchrun runs with one node on every pod, though the pods know of one another: through MASTER_ADDR,
--master-addr, an endpoint, or the operator.

Why: torchrun takes the number of nodes from --nnodes or PET_NNODES, and 1 where there is neither. Each pod then
trains its own copy of the model to the end, and nothing shows it.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun  # <--
    -                     - --master-addr=train-node-0-0.train
    +                     - --nnodes=2
    +                     - --rdzv-backend=c10d
    +                     - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give torchrun --nnodes, --node-rank and --master-addr, or --nnodes and a c10d endpoint.

Source: PyTorch 2.13, torch/distributed/run.py: nnodes defaults to 1:1; Volcano 1.16, whose pytorch
plugin sets no PET_* variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

_TOLD = ("MASTER_ADDR", "WORLD_SIZE", "NNODES", "NUM_NODES")


def _check(subject: Subject) -> Iterator[Finding]:
    for found in subject.torchrun_groups:
        yield from _of(subject, found)


def _of(subject: Subject, found: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    first = found[0]
    if first.rendezvous.nodes != (1, 1) or count_nodes(found) < 2:
        return
    shared = first.rendezvous.backend != "static" and not first.is_local  # too-many-pods
    meant = subject.record.launch_fields.options or _told(first)
    if not first.is_standalone and not shared and meant and not _sweep(first):
        path = first.path_of("nnodes") if first.source_of("nnodes") != "default" else first.command_path
        yield found_at(
            path,
            f"torchrun expects 1 node, and there are {count_nodes(found)} pods: each trains alone",
            "add --nnodes, --node-rank and --master-addr, or remove what makes the number of nodes 1",
        )


def _sweep(one: TrainingRole) -> bool:
    """Whether each pod is given work of its own, and one node is asked for: the script's arguments differ."""
    if one.expanded.count < 2 or one.options.get("nnodes") not in ("1", "1:1") or one.source_of("nnodes") != "flag":
        return False
    return one.pod.launch.entry != one.pod.job.pod(one.expanded, 1).launch.entry


def _told(one: TrainingRole) -> bool:
    """Whether anything tells a pod of the others."""
    flags = one.launch.options
    return any(name in one.launch.env for name in _TOLD) or bool(
        {"master-addr", "node-rank", "rdzv-endpoint"} & flags.keys()
    )


RULE = Rule("worlds-apart", _check, severity="warning", stage="run", authority="torchrun")
