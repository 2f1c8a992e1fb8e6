"""Restarts on one node that the others do not notice.

PTC413 static-restarts: warning at run (differs), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} restarts/maxRestarts

What: --max-restarts is above 0 with a static rendezvous of several nodes.

Why: with a static rendezvous a node that restarts its processes does not tell the others. The
others wait in a collective operation until it times out, and each such failure costs their restarts
too.

Example: jobset.yaml with

      - name: pytorch
    +   env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
        command:
          - torchrun
          - --nnodes=2
    -     - --node-rank=$(JOB_COMPLETION_INDEX)
    -     - --master-addr=train-node-0-0.train
    +     - --rdzv-backend=c10d
    +     - --rdzv-endpoint=train-node-0-0.train:29400
          - --max-restarts=3  # <--
          - train.py

Fix: use c10d, which starts all nodes again together; or leave restarts to the operator.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py:
num_nodes_waiting is always 0; torchrun's documentation shows restarts with c10d.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import count_nodes


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        if count_nodes(roles) <= 1:
            continue

        for role in roles:
            several = role.rendezvous.nodes is not None and role.rendezvous.nodes.most > 1
            if role.rendezvous.backend == "static" and several and role.restarts > 0:
                yield found_at(
                    role.path_of("max-restarts"),
                    "with a static rendezvous a node restarts only its own processes, up to "
                    f"{role.rendezvous.max_restarts} times, and the others wait for them until a "
                    "timeout",
                    "add --rdzv-backend=c10d and --rdzv-endpoint, or let the operator restart the "
                    "job",
                )
                break
