"""The roles of a job do not meet: they are started differently.

What: the roles that train have different endpoints, backends, numbers of nodes or rendezvous ids.

Why: the nodes of one job need the same settings. If the Master's command line and the Worker's differ, each waits
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

from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.torchrun import is_literal


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in subject.rendezvous_groups:
        yield from _check_group(roles)


def _check_group(roles: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    if all(role.rendezvous.nodes == (1, 1) and role.rendezvous.backend == "static" for role in roles):
        return  # reported by worlds-apart
    for role in roles[1:]:
        option, value, first_value = _first_difference(roles[0], role)
        if option:
            path = role.path_of(option)
            yield found_at(
                path,
                f"{role.expanded.name} has the {option} {value!r}, but {roles[0].expanded.name} has {first_value!r}: "
                "they never meet",
                "start all roles with the same command line",
            )


def _first_difference(first: TrainingRole, role: TrainingRole) -> tuple[str, str, str]:
    """Return the first rendezvous option that differs, then the role's value and the first role's."""
    pairs = [("rdzv-backend", role.rendezvous.backend, first.rendezvous.backend)]
    endpoint_option = "master-port" if role.source_of("master-port") == "flag" else "master-addr"
    endpoint_option = (
        endpoint_option
        if first.rendezvous.backend == "static" and not role.options.get("rdzv-endpoint")
        else "rdzv-endpoint"
    )
    if role.meeting is not first.meeting:
        pairs.append((endpoint_option, role.rendezvous.endpoint, first.rendezvous.endpoint))
    pairs.append(("nnodes", role.options.get("nnodes", ""), first.options.get("nnodes", "")))
    if role.rendezvous.backend != "static":
        pairs.append(("rdzv-id", role.options.get("rdzv-id", ""), first.options.get("rdzv-id", "")))
    for option, value, first_value in pairs:
        if value != first_value and is_literal(value) and is_literal(first_value):
            return option, value, first_value
    return "", "", ""


RULE = Rule("roles-disagree", _check, severity="error", stage="run", authority="torchrun")
