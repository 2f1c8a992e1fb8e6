"""The range of nodes ends above the number of pods.

PTC832 range-above-pods: warning at style (slows), by torchrun.
Needs: {TORCHRUN} nnodes/{RUNTIME_KINDS} {CLOSED_KINDS}/{RUNTIME_KINDS}

What: the most nodes of --nnodes are more than the pods of a job whose number of pods is fixed.

Why: torchrun waits its last call (30 seconds) at every rendezvous for nodes that cannot come, since
nothing adds pods to this kind of job.

Example: jobset.yaml with

      - name: pytorch
        env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
        command:
          - torchrun
    -     - --nnodes=1:4  # <--
    +     - --nnodes=1:2
          - --max-restarts=3
          - --rdzv-backend=c10d
          - --rdzv-endpoint=train-node-0-0.train:29400
          - train.py

Fix: end the range at the number of pods.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py, last_call_timeout.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import count_nodes


def check(subject: Subject) -> Findings:
    if subject.record.rendezvous.open:
        return

    for roles in subject.torchrun_groups:
        first = roles[0]
        total = count_nodes(roles)
        low, high = first.rendezvous.nodes or (1, 1)
        if low <= total < high and first.rendezvous.backend not in ("static", "none") and total > 1:
            nodes = f"{low}:{total}"
            yield found_at(
                first.path_of("nnodes"),
                f"torchrun takes up to {high} nodes, but the job has {total} pods: it waits for "
                "more at every rendezvous",
                f"write {nodes}",
                first.fix_to("nnodes", nodes, f"set nnodes to {nodes}")
                if len(roles) == 1
                else None,
            )
