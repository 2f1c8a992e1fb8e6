"""The pod that hosts the store of the rendezvous is not the one with rank 0, and may leave before
it.

PTC771 store-not-on-rank-0: warning at run (risks), by torchrun.
Needs: @store-not-on-rank-0

What: the endpoint of a c10d rendezvous names a pod whose host name is not the first in the order of
the names.

Why: c10d gives rank 0 to the node whose host name sorts first, even if the endpoint names another.
Rank 0 usually evaluates and saves at the end. torchrun on the pod that hosts the store waits 300
seconds for the others after its own processes have ended. Then it exits with the store, and
torchrun on every pod that still works fails and stops its processes. If the operator hands the
address out, as LWS_LEADER_ADDRESS, it is a note: `<name>-0-1` sorts before `<name>-0`.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      backoffLimit: 24
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=4
                - --rdzv-backend=c10d
    -           - --rdzv-endpoint=train-node-0-3.train:29400  # <--
    +           - --rdzv-endpoint=train-node-0-0.train:29400
                - train.py
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: let the endpoint name the pod whose host name sorts first.

Source: PyTorch 2.13, torch/distributed/elastic/agent/server/api.py (exit_barrier_timeout, which
torchrun has no option for) and rendezvous/dynamic_rendezvous.py (ranks are in the order of the
nodes' addresses); pytorch issue 118891.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("store-not-on-rank-0"):
        # a variable of the operator has the host: there is no other endpoint to write
        written = {entry.name for entry in role.container.variables}
        is_given = any(
            value == role.rendezvous.host and name not in written
            for name, value in role.pod.variables.items()
        )
        yield found_at(
            role.endpoint_path,
            obstacle.sentence,
            "use the static rendezvous, which gives rank 0 to --node-rank=0"
            if is_given
            else f"let the endpoint name {obstacle.better}",
            severity="note" if is_given else None,
        )
