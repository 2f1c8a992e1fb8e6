"""A pod that is drained or deleted fails the whole job on PyTorch 2.3 to 2.7.

PTC459 drain-closes-rendezvous: warning at run (risks), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} c10d/elasticPolicy

What: torchrun's agents meet by c10d and may meet again, with --max-restarts or a range of nodes, on
PyTorch 2.3 to 2.7. An official tag of pytorch/pytorch says which it is, else the profile's
versions.torch.

Why: a torchrun that receives SIGTERM, as the kubelet sends it when a node is drained, a spot node
is reclaimed or a pod is deleted, closes the rendezvous for every node. The others exit with status
1 (RendezvousClosedError) as soon as they meet again, restarts or not; a recreated pod finds the
rendezvous closed. Measured on 2.5.1; on 2.2.2 and 2.13.0 the others go on.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
    -         image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime  # <--
    +         image: pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime
              command:
                - torchrun
                - --nnodes=2:4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
                - --max-restarts=3
                - train.py
              env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use PyTorch 2.8 or newer.

Source: PyTorch 2.5.1, torch/distributed/elastic/agent/server/local_elastic_agent.py: _shutdown;
pull requests 117066 (2.3) and 152525 (2.8), issue 150916; `ptcompile rehearse FILE --drain
1,back=8s` shows it.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.rules.launch.shared_rendezvous_store import can_meet_again
from ptcompile.linter.training_roles import count_nodes, image_path, torch_version
from ptcompile.simulator.launchers.torchrun import closes_on_sigterm


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        rejoining = (
            (role, torch_version(role, subject.versions)) for role in roles if can_meet_again(role)
        )
        closing = next(
            ((role, torch) for role, torch in rejoining if closes_on_sigterm(torch)), None
        )
        if closing is not None and count_nodes(roles) > 1:
            role, (major, minor) = closing
            yield found_at(
                image_path(role),
                "a pod that is drained or deleted fails the others: on SIGTERM, torchrun of "
                f"PyTorch {major}.{minor} closes the rendezvous for every node",
                "use PyTorch 2.8 or newer",
            )
