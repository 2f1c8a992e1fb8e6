"""Every pod waits for the others at its own address.

PTC403 local-endpoint: error at run (fails), by torchrun.
Needs: @local-endpoint

What: torchrun should meet other nodes, but its endpoint is localhost: explicitly, or because none
is set. Or accelerate, composer, llamafactory-cli, swift or deepspeed --no_ssh has several nodes,
but not the first one's address.

Why: torchrun reads --rdzv-endpoint, --master-addr and the PET_* variables, but not MASTER_ADDR or
WORLD_SIZE. Without them it meets at 127.0.0.1, where each pod is alone and waits until it gives up.
accelerate takes the address from --main_process_ip, and, on several machines, does not start
without --machine_rank.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
    -   - --rdzv-endpoint=localhost:29400  # <--
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: give torchrun an endpoint on the first pod: --rdzv-endpoint=HOST:PORT with c10d, or
--master-addr and --node-rank. Give other launchers the first pod's address and each pod's rank.

Source: PyTorch 2.13, torch/distributed/run.py, get_rdzv_endpoint, and parse_rendezvous_endpoint (an
empty endpoint is localhost); Accelerate 1.10, utils/launch.py, prepare_multi_gpu_env.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers import LAUNCHERS


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("local-endpoint"):
        if subject.lacks_rendezvous or role.rendezvous.nodes is None:
            continue
        if role.rendezvous.launcher in LAUNCHERS and not role.rendezvous.endpoint:
            yield found_at(
                role.command_path,
                obstacle.sentence,
                _unset_help(role),
                severity=None if obstacle.is_certain else "warning",
            )
            continue
        hint = ""
        if "MASTER_ADDR" in role.launch.env:
            hint = "; torchrun does not read MASTER_ADDR, but PET_MASTER_ADDR"
        is_static = role.rendezvous.backend == "static" and not role.options.get("rdzv-endpoint")
        yield found_at(
            role.path_or_command("master-addr" if is_static else "rdzv-endpoint"),
            f"each of {obstacle.pods} pods waits for {role.rendezvous.nodes_text} nodes at its own "
            f"{role.rendezvous.endpoint or 'localhost'}, where no other pod connects",
            f"add --rdzv-endpoint with the first pod's name{hint}",
        )


def _unset_help(role: TrainingRole) -> str:
    """Return what gives the launcher the first pod's address and, unless it is set, the pod's
    rank.
    """
    launcher = LAUNCHERS[role.rendezvous.launcher]
    missing = []
    for option, value in (
        ("master-addr", "the first pod's name"),
        ("node-rank", "the pod's own index"),
    ):
        flag = launcher.names.get(option, "").replace("-", "_")
        name = f"--{flag}" if flag else launcher.variables.get(option)
        if option not in role.options:
            missing.append(f"{name} to {value}")

    return f"set {' and '.join(missing)}"
