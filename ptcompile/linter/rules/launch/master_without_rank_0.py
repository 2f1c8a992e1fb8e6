"""The address of the master is not the pod with rank 0.

PTC411 master-without-rank-0: error at run (fails), by torchrun.
Needs: @master-without-rank-0

What: with a static rendezvous the endpoint is a pod of the job, and that pod's node rank is not 0.

Why: the node with rank 0 opens the store. Nothing listens at the address of another pod, and every
node waits there.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --node-rank=$(JOB_COMPLETION_INDEX)
    -   - --master-addr=train-node-0-1.train  # <--
    +   - --master-addr=train-node-0-0.train
        - train.py

Fix: write the name of the pod that has rank 0.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py: the store is on
the node with rank 0.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("master-without-rank-0"):
        if not obstacle.is_certain:
            continue  # another file may have the pod with rank 0
        if obstacle.option:
            example = f": write $({obstacle.better}), which begins at 0" if obstacle.better else ""
            yield found_at(
                role.path_of(obstacle.option),
                obstacle.sentence,
                f"give the first pod the rank 0{example}",
            )
        else:
            yield found_at(
                role.endpoint_path, obstacle.sentence, "write the name of the pod that has rank 0"
            )
