"""Several pods that should meet train separately.

PTC408 worlds-apart: warning at run (apart), by torchrun.
Needs: @worlds-apart

What: torchrun runs with one node on every pod, though the pods know of one another: through
MASTER_ADDR, --master-addr, an endpoint, a subdomain, or the operator.

Why: torchrun takes the number of nodes from --nnodes or PET_NNODES, and 1 if neither is set. Each
pod then trains its own copy of the model to the end, and nothing shows it.

Example: jobset.yaml with

      command:
        - torchrun  # <--
    -   - --master-addr=train-node-0-0.train
    +   - --nnodes=2
    +   - --rdzv-backend=c10d
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: give torchrun --nnodes, --node-rank and --master-addr, or --nnodes and a c10d endpoint.

Source: PyTorch 2.13, torch/distributed/run.py: nnodes defaults to 1:1; Volcano 1.16, whose pytorch
plugin sets no PET_* variables.
"""

from __future__ import annotations

from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("worlds-apart"):
        if obstacle.is_certain and role.is_torchrun:
            yield _finding(role, obstacle.pods, subject.record.launch_fields.alone_help)


def _finding(role: TrainingRole, pods: int, alone_help: str) -> Finding:
    text = f"torchrun expects 1 node, but the job has {pods} pods: each trains alone"
    if role.source_of("nnodes") != "default":
        help = (
            "add --nnodes, --node-rank and --master-addr, or remove what makes the number of "
            "nodes 1"
        )
        return found_at(role.path_of("nnodes"), text, help)

    help = alone_help or "add --nnodes, --node-rank and --master-addr"
    field = role.operator_field("nnodes")
    return found_at(field or role.command_path, text, help)
