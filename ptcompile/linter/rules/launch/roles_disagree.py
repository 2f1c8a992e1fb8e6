"""The roles of a job do not meet: they are started differently.

PTC405 roles-disagree: error at run (fails), by torchrun.
Needs: @roles-disagree

What: the roles that train have different endpoints, backends, numbers of nodes or rendezvous ids.

Why: the nodes of one job need the same settings. If the Master's command line and the Worker's
differ, each waits for the others somewhere else.

Example: pytorchjob.yaml with

      pytorchReplicaSpecs:
        Worker:
          replicas: 1
          restartPolicy: OnFailure
          template:
            spec:
              containers:
                - name: pytorch
                  image: ghcr.io/acme/train:1.0
    -             command: [torchrun, --master-port=29501, train.py]  # <--
    +             command: [torchrun, train.py]
                  resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start all roles with the same command line.

Source: PyTorch 2.13, torch/distributed/run.py: backend, endpoint, id and number of nodes make the
rendezvous.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("roles-disagree"):
        if obstacle.is_certain and not role.member.is_env_script:
            yield found_at(
                role.path_of(obstacle.option),
                obstacle.sentence,
                "start all roles with the same command line",
            )
