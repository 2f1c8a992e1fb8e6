"""The pods of a job use the loopback interface to reach one another.

PTC435 loopback-interface: error at run (fails), by ptcompile.
Needs: {MULTI_POD_KINDS} IFNAME lo

What: NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME or TP_SOCKET_IFNAME is lo in a job of several pods.

Why: the address of lo is 127.0.0.1 in every pod. Each process tells the others that address, and
they connect to themselves.

Example: jobset.yaml with

      - name: pytorch
        env:
    -     - {name: NCCL_SOCKET_IFNAME, value: lo}  # <--
    +     - {name: NCCL_SOCKET_IFNAME, value: eth0}
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: name the pod's interface, usually eth0, or exclude lo from NCCL's choice with ^lo.

Source: NCCL 2.27, environment variables; PyTorch 2.13, torch.distributed, common environment
variables.
"""

from __future__ import annotations

from ptcompile.linter.environment import INTERFACE_VARIABLES
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import count_nodes


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    if count_nodes(roles) <= 1 or roles[0].rendezvous.nodes == (1, 1):
        return

    for role in roles:
        for entry in role.container.variables:
            if entry.name in INTERFACE_VARIABLES and entry.text.strip().lstrip("=") == "lo":
                yield found_at(
                    entry.place,
                    f"lo reaches only the pod itself, but the job has {count_nodes(roles)} pods",
                    "name the pod's interface, such as eth0, or remove it",
                )
