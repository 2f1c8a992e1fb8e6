"""A static rendezvous has no range of nodes.

PTC412 static-range: warning at run (differs), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} nnodes

What: the number of nodes is a range such as 2:4, and the backend is static, which is torchrun's own
default.

Why: a static rendezvous waits for the most nodes of the range and never continues with fewer, so
the job is not elastic.

Example: jobset.yaml with

      - name: pytorch
    +   env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
        command:
          - torchrun
          - --nnodes=1:2  # <--
    -     - --node-rank=$(JOB_COMPLETION_INDEX)
    -     - --master-addr=train-node-0-0.train
    +     - --max-restarts=3
    +     - --rdzv-backend=c10d
    +     - --rdzv-endpoint=train-node-0-0.train:29400
          - train.py

Fix: add --rdzv-backend=c10d and an endpoint, or write one number.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py: the world is as
large as the most nodes.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import count_nodes


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        role = roles[0]
        low, high = role.rendezvous.nodes or (1, 1)
        if (
            role.rendezvous.backend == "static"
            and low < high <= count_nodes(roles)
            and role.source_of("nnodes") != "operator"
        ):
            yield found_at(
                role.path_of("nnodes"),
                f"a static rendezvous waits for {high} nodes and never continues with {low}",
                "add --rdzv-backend=c10d and --rdzv-endpoint, or write one number",
            )
