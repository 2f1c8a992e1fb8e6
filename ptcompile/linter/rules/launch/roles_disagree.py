"""The roles of a job do not meet: they are started differently.

What: the roles that train have different endpoints, backends, numbers of nodes or rendezvous ids.

Why: the nodes of one job need the same settings. Where the Master's command line and the Worker's differ, each waits
for the others somewhere else.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
          Worker:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
    -               command: [torchrun, --master-port=29501, train.py]  # <--
    +               command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start all roles with the same command line.

Source: PyTorch 2.13, torch/distributed/run.py: backend, endpoint, id and number of nodes make the rendezvous.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole
from ptcompile.simulator.launchers.torchrun import is_literal


def _check(subject: Subject) -> Iterator[Finding]:
    for found in subject.rendezvous_groups:
        yield from _of(found)


def _of(found: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    if all(one.rendezvous.nodes == (1, 1) and one.rendezvous.backend == "static" for one in found):  # worlds-apart
        return
    for one in found[1:]:
        option, mine, theirs = _difference(found[0], one)
        if option:
            path = one.path_of(option)
            yield found_at(
                path,
                f"{one.expanded.name} has the {option} {mine!r} and {found[0].expanded.name} has {theirs!r}: they "
                "do not meet",
                "start all roles with the same command line",
            )


def _difference(first: TrainingRole, one: TrainingRole) -> tuple[str, str, str]:
    """The first option of the rendezvous in which two roles differ, and their values."""
    pairs = [("rdzv-backend", one.rendezvous.backend, first.rendezvous.backend)]
    which = "master-port" if one.source_of("master-port") == "flag" else "master-addr"
    which = which if first.rendezvous.backend == "static" and not one.options.get("rdzv-endpoint") else "rdzv-endpoint"
    pairs.append((which, one.rendezvous.endpoint, first.rendezvous.endpoint))
    pairs.append(("nnodes", one.options.get("nnodes", ""), first.options.get("nnodes", "")))
    if one.rendezvous.backend != "static":
        pairs.append(("rdzv-id", one.options.get("rdzv-id", ""), first.options.get("rdzv-id", "")))
    for option, mine, theirs in pairs:
        if mine != theirs and is_literal(mine) and is_literal(theirs):
            return option, mine, theirs
    return "", "", ""


RULE = Rule("roles-disagree", _check, severity="error", stage="run", authority="torchrun")
