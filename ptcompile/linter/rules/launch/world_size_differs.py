"""A script without a launcher waits for more processes than there are pods.

PTC479 world-size-differs: warning at run (fails), by ptcompile.
Needs: @world-size-differs

What: the command is a script without a launcher, its variables point it at others (env://), and
WORLD_SIZE is not the number of pods.

Why: init_process_group waits until WORLD_SIZE processes have joined, or leaves out those with a
rank above it. Without a launcher each pod is one process, unless the script starts more.

Example: jobset.yaml with

      command: [python, train.py]
      env:
    -   - {name: WORLD_SIZE, value: "8"}  # <--
    +   - {name: WORLD_SIZE, value: "2"}
        - name: RANK
          valueFrom:
            fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
        - {name: MASTER_ADDR, value: train-node-0-0.train}
        - {name: MASTER_PORT, value: "29500"}

Fix: write the number of pods, or start the processes of a pod with torchrun.

Source: PyTorch 2.13, torch/distributed/rendezvous.py, the env:// method.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("world-size-differs"):
        total = obstacle.pods
        if (
            total > 1
            and obstacle.is_certain
            and role.user_entry("WORLD_SIZE") is not None
            and not role.is_local
        ):
            yield found_at(
                role.path_of("nnodes"),
                f"the script waits for {obstacle.nodes} processes, but {total} pods start one each",
                f"write {total}, or start the processes of a pod with torchrun",
            )
