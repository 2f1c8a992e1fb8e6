"""Every pod uses itself as the rendezvous endpoint.

PTC402 own-host-endpoint: error at run (fails), by torchrun.
Needs: @own-host-endpoint

What: the rendezvous endpoint is the pod's own name or address: $(hostname), $(hostname -i),
$HOSTNAME or status.podIP.

Why: the endpoint must be the same on every pod. With its own address, each pod opens its own store
and waits there for others that wait elsewhere.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
    -   - --rdzv-endpoint=$(POD_IP):29400  # <--
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py
    - env:
    -   - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}

Fix: write the name of the first pod.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py: the host is
whose own address the endpoint is.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("own-host-endpoint"):
        yield found_at(
            role.endpoint_path,
            f"each of {obstacle.pods} pods meets at its own address, where no other pod connects",
            "write the name of the first pod, the same on all pods",
        )
