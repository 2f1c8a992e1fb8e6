"""--standalone on several pods: each trains alone.

PTC409 standalone-on-many-pods: error at run (apart), by torchrun.
Needs: @standalone-on-many-pods

What: torchrun has --standalone or PET_STANDALONE in a job whose pods know of one another.

Why: --standalone is a rendezvous at localhost with a random id. It overrides the endpoint and the
backend, so it never meets the other pods.

Example: jobset.yaml with

      command:
        - torchrun
    -   - --standalone  # <--
        - --nnodes=2
    +   - --rdzv-backend=c10d
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: remove --standalone and give torchrun an endpoint.

Source: PyTorch 2.13, torch/distributed/run.py: with --standalone, backend, endpoint and id are
assigned and what is written is ignored.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("standalone-on-many-pods"):
        if not obstacle.is_certain:
            continue  # each pod may be intended to train alone

        # the same command line configures other nodes
        options = role.launch.options
        is_contradicted = options.get("nnodes", "1") not in ("1", "1:1") or "master-addr" in options
        help_text = "remove it, and give torchrun the first pod's name as its endpoint"
        if role.launch.program == "tune run":
            help_text = "add --rdzv-endpoint: without it tune run starts torchrun --standalone"
        yield found_at(
            role.path_of("standalone"),
            f"a standalone torchrun joins no other pod, but the job has {obstacle.pods} pods: "
            "each trains alone",
            help_text,
            severity=None if is_contradicted else "warning",
        )
