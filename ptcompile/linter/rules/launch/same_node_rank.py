"""Two pods join the rendezvous with the same rank.

PTC410 same-node-rank: error at run (fails), by torchrun.
Needs: @same-node-rank

What: with a static rendezvous, pods of a job have equal node ranks, for example because all take
the default 0.

Why: a static rendezvous assigns no ranks: each node brings its own, from 0 to the number of nodes
minus 1. Two with the same rank overwrite each other, and the missing one never joins.

Example: jobset.yaml with

      command:
        - torchrun  # <--
        - --nnodes=2
    +   - --node-rank=$(JOB_COMPLETION_INDEX)
        - --master-addr=train-node-0-0.train
        - train.py

Fix: add --node-rank with the pod's index, or use c10d, which gives the ranks itself.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py; Kubernetes
1.36, Indexed Jobs.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("same-node-rank"):
        if role.source_of("node-rank") != "default":
            path = role.path_of("node-rank")
        else:
            path = role.command_path
        option = "RANK" if role.member.is_env_script else role.member.option_name("node-rank")
        dashes, instead = ("--", ", or use c10d") if role.is_torchrun else ("", "")
        variable = obstacle.better
        example = f"such as $({variable})" if variable else "from 0 to the number of pods minus 1"
        help = f"give each pod its own {dashes}{option}, {example}{instead}"
        yield found_at(path, obstacle.sentence, help)
