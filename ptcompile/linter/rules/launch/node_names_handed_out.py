"""c10d publishes host names of nodes, which the others may not resolve.

PTC470 node-names-handed-out: warning at run (fails), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} hostNetwork/{RUNTIME_KINDS} c10d/elasticPolicy

What: pods on their node's network (hostNetwork) meet by c10d, and torchrun does not get their
address.

Why: the node with rank 0 tells the others where to find it by its own host name, which is the
machine's. Where no DNS server of the cluster knows the machines, all time out and exit with status
1. Measured: none of 6 jobs met, and with the address all did within 2 seconds.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          hostNetwork: true  # <--
          dnsPolicy: ClusterFirstWithHostNet
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
                - train.py
    +         env: [{name: PET_LOCAL_ADDR, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set PET_LOCAL_ADDR from the field status.podIP, or give --local-addr; leave it where nodes'
names resolve in pods.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py: socket.getfqdn()
unless local_addr is given; `ptcompile rehearse` shows it.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_LOCAL_ADDR_ENTRY = {
    "name": "PET_LOCAL_ADDR",
    "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
}


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        first = next((role for role in roles if _publishes_host_name(role)), None)
        if first is None or count_nodes(roles) < 2:
            continue

        fix = Fix(
            "set PET_LOCAL_ADDR to the pod's address",
            (Edit("append", (*first.path, "env"), _LOCAL_ADDR_ENTRY),),
        )
        yield found_at(
            (*first.path[:-2], "hostNetwork"),
            "on the node's network, c10d publishes the node's host name, which the pods of other "
            "nodes may not resolve",
            "set PET_LOCAL_ADDR from the field status.podIP",
            fix if first.spec.get("env") else None,
        )


def _publishes_host_name(role: TrainingRole) -> bool:
    local_address = role.launch.options.get("local-addr") or role.launch.env.get("PET_LOCAL_ADDR")
    return role.pod.on_host and role.meets_by_c10d and not local_address
