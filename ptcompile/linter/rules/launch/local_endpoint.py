"""Every pod waits for the others at its own address.

What: torchrun should meet other nodes, but its endpoint is localhost: explicitly, or because none is set.

Why: torchrun reads --rdzv-endpoint, --master-addr and the PET_* variables, but not MASTER_ADDR or WORLD_SIZE. Without
them it meets at 127.0.0.1, where each pod is alone and waits until it gives up.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --rdzv-backend=c10d
    -                     - --rdzv-endpoint=localhost:29400  # <--
    +                     - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give torchrun an endpoint on the first pod: --rdzv-endpoint=HOST:PORT with c10d, or --master-addr and
--node-rank.

Source: PyTorch 2.13, torch/distributed/run.py, get_rdzv_endpoint, and parse_rendezvous_endpoint (an empty endpoint is
localhost).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in (*subject.rendezvous_groups, *subject.env_groups):
        yield from _check_group(subject, roles)


def _check_group(subject: Subject, roles: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    if count_nodes(roles) < 2 or subject.lacks_rendezvous:
        return
    first = roles[0]
    if first.rendezvous.nodes is None or first.rendezvous.nodes[1] < 2 or first.is_standalone:
        return  # torchrun rejects the number, or expects no other node: other rules report it
    if first.meeting.local_obstacle == RULE.name:
        path = first.path_of(_endpoint_option(first))
        path = first.command_path if path == first.unset_path else path
        yield found_at(
            path,
            f"each of {count_nodes(roles)} pods waits for {first.rendezvous.nodes_text} nodes at its own "
            f"{first.rendezvous.endpoint or 'localhost'}, where no other pod connects",
            "add --rdzv-endpoint with the first pod's name" + _unread_hint(first),
        )


def _endpoint_option(role: TrainingRole) -> str:
    return (
        "rdzv-endpoint" if role.options.get("rdzv-endpoint") or role.rendezvous.backend != "static" else "master-addr"
    )


def _unread_hint(role: TrainingRole) -> str:
    """Return a hint if the container sets MASTER_ADDR, which torchrun does not read; else ""."""
    return "; torchrun does not read MASTER_ADDR, but PET_MASTER_ADDR" if "MASTER_ADDR" in role.launch.env else ""


RULE = Rule("local-endpoint", _check, severity="error", stage="run", authority="torchrun")
