"""Every pod joins its own rendezvous: the id differs from pod to pod.

PTC478 rendezvous-id-differs: error at run (fails), by torchrun.
Needs: @rendezvous-id-differs

What: the rendezvous id of c10d or etcd has a value that no two pods share: the name or address of
the pod, its host name, a random number.

Why: the id is the name of the rendezvous. Pods with different ids wait for each other until the
timeout, at the same endpoint.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
        - --rdzv-endpoint=train-node-0-0.train:29400
    -   - --rdzv-id=$(POD)  # <--
    +   - --rdzv-id=train
        - train.py
    - env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]

Fix: use the same id on all pods, such as the name of the job.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py: the run id is the
key of the state.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("rendezvous-id-differs"):
        if role.is_torchrun:
            help = "use the same id on all pods, such as the name of the job"
            yield found_at(role.path_of("rdzv-id"), obstacle.sentence, help)
