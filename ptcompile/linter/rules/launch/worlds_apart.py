"""Several pods that should meet train separately.

What: torchrun runs with one node on every pod, though the pods know of one another: through MASTER_ADDR,
--master-addr, an endpoint, or the operator.

Why: torchrun takes the number of nodes from --nnodes or PET_NNODES, and 1 if neither is set. Each pod then
trains its own copy of the model to the end, and nothing shows it.

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
                          - torchrun  # <--
    -                     - --master-addr=train-node-0-0.train
    +                     - --nnodes=2
    +                     - --rdzv-backend=c10d
    +                     - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give torchrun --nnodes, --node-rank and --master-addr, or --nnodes and a c10d endpoint.

Source: PyTorch 2.13, torch/distributed/run.py: nnodes defaults to 1:1; Volcano 1.16, whose pytorch
plugin sets no PET_* variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_PEER_VARIABLES = ("MASTER_ADDR", "WORLD_SIZE", "NNODES", "NUM_NODES")


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in subject.torchrun_groups:
        yield from _check_group(subject, roles)


def _check_group(subject: Subject, roles: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    first = roles[0]
    if first.rendezvous.nodes != (1, 1) or count_nodes(roles) < 2:
        return
    shares_endpoint = first.rendezvous.backend != "static" and not first.is_local  # reported by too-many-pods
    is_intended = subject.record.launch_fields.options or _knows_peers(first)
    if not first.is_standalone and not shares_endpoint and is_intended and not _is_sweep(first):
        path = first.path_of("nnodes") if first.source_of("nnodes") != "default" else first.command_path
        yield found_at(
            path,
            f"torchrun expects 1 node, but the job has {count_nodes(roles)} pods: each trains alone",
            "add --nnodes, --node-rank and --master-addr, or remove what makes the number of nodes 1",
        )


def _is_sweep(role: TrainingRole) -> bool:
    """Return whether each pod has separate work and one node is requested: the script's arguments differ."""
    if role.expanded.count < 2 or role.options.get("nnodes") not in ("1", "1:1") or role.source_of("nnodes") != "flag":
        return False
    return role.pod.launch.entry != role.pod.job.pod(role.expanded, 1).launch.entry


def _knows_peers(role: TrainingRole) -> bool:
    """Return whether an option or a variable tells a pod about the others."""
    flags = role.launch.options
    return any(name in role.launch.env for name in _PEER_VARIABLES) or bool(
        {"master-addr", "node-rank", "rdzv-endpoint"} & flags.keys()
    )


RULE = Rule("worlds-apart", _check, severity="warning", stage="run", authority="torchrun")
