"""A job has more pods than the launcher allows nodes.

PTC407 too-many-pods: error at run (fails), by torchrun.
Needs: @too-many-pods

What: the number of pods that train is above the most nodes of the rendezvous.

Why: the last pods find the rendezvous complete. They hold their GPUs, wait, and fail after the join
timeout of 600 s, and the job with them; with a static rendezvous their rank is not below the number
of nodes.

Example: jobset.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
    -           - --nnodes=2  # <--
    +           - --nnodes=4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
                - train.py

Fix: make the number of nodes the number of pods.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py and
static_tcp_rendezvous.py.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("too-many-pods"):
        total = obstacle.pods
        most = obstacle.nodes
        if role.source_of("nnodes") == "operator":
            continue

        is_one_role = len(subject.training_roles) == 1 and role.rendezvous.nodes == (most, most)
        yield found_at(
            role.path_of("nnodes"),
            f"the job has {total} pods, but {role.launcher_name} takes at most {most} nodes: "
            f"{total - most} wait outside",
            f"write {total}, or use {most} pods",
            role.fix_to("nnodes", str(total), f"set nnodes to {total}") if is_one_role else None,
        )
