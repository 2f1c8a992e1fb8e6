"""The pods meet at a fixed address of the pods' network.

PTC466 literal-address: warning at run (fails), by torchrun.
Needs: @literal-address

What: the endpoint is an address of a private network, all nodes are pods of the files, and none is
on its node's network.

Why: a pod gets its address when it is created, and another one each time. The address of the last
run leads to nothing, or to another pod, and every pod waits there until the rendezvous times out.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
    -   - --rdzv-endpoint=10.42.7.19:29400  # <--
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: write the DNS name of the first pod.

Source: Kubernetes 1.36, Pods: every pod gets its own address for its lifetime; pytorch issue 91940.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("literal-address"):
        yield found_at(role.endpoint_path, obstacle.sentence, "write the DNS name of the first pod")
