"""The launcher waits for more nodes than the job has pods.

PTC406 too-few-pods: error at run (fails), by torchrun.
Needs: @too-few-pods

What: the number of nodes is above the number of pods that train: --nnodes, PET_NNODES, or the
fewest nodes of a range.

Why: the rendezvous is complete when that many nodes have joined. With fewer pods it waits until its
timeout, and all GPUs wait with it.

Example: jobset.yaml with

      command:
        - torchrun
    -   - --nnodes=4  # <--
    +   - --nnodes=2
        - --rdzv-backend=c10d
        - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: make the number of nodes the number of pods.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous: static waits for the most nodes, the
others for the fewest.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.workload import POD


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("too-few-pods"):
        total = obstacle.pods
        needed = obstacle.nodes
        # a Pod, or a Job of one pod, may join pods of other files
        if subject.kind == POD or (subject.kind == ("batch/v1", "Job") and role.expanded.count < 2):
            continue
        if not obstacle.is_certain or role.source_of("nnodes") == "operator":
            continue

        # with other roles, a smaller nnodes might split one training into several
        is_only_role = len(subject.training_roles) == 1
        processes = role.rendezvous.processes or 1
        help_text = f"write {total}, or use {needed} pods"
        if processes > 1 and needed == total * processes:
            help_text = f"write {total}: {needed} is the number of processes, not of nodes"
        yield found_at(
            role.path_of("nnodes"),
            f"{role.launcher_name} waits for {needed} nodes, but the job has "
            f"{pluralize(total, 'pod')}",
            help_text,
            role.fix_to("nnodes", str(total), f"set nnodes to {total}") if is_only_role else None,
        )
