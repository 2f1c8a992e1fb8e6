"""--standalone on several pods: each trains alone.

What: torchrun has --standalone or PET_STANDALONE in a job whose pods know of one another.

Why: --standalone is a rendezvous at localhost with a random id. It overrides the endpoint and the backend, so it never
meets the other pods.

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
    -                     - --standalone  # <--
                          - --nnodes=2
    +                     - --rdzv-backend=c10d
    +                     - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: remove --standalone and give torchrun an endpoint.

Source: PyTorch 2.13, torch/distributed/run.py: with --standalone, backend, endpoint and id are assigned and what is
written is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

_TOLD = ("MASTER_ADDR", "WORLD_SIZE", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "PET_NNODES")


def _check(subject: Subject) -> Iterator[Finding]:
    for found in subject.torchrun_groups:
        yield from _of(subject, found)


def _of(subject: Subject, found: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    if count_nodes(found) < 2 or not found[0].is_standalone:
        return
    first = found[0]
    flags = {"nnodes", "master-addr", "node-rank", "rdzv-endpoint"} & first.launch.options.keys()
    told = flags or any(name in first.launch.env for name in _TOLD)
    if told or subject.record.launch_fields.options:  # else the pods may be meant to be alone
        path = first.path_of("standalone")
        yield found_at(
            path,
            f"a standalone torchrun meets no other pod, and there are {count_nodes(found)} pods: each trains alone",
            "remove it, and give torchrun the first pod's name as its endpoint",
            severity=None if _contradicted(first) else "warning",
        )


def _contradicted(one: TrainingRole) -> bool:
    """Whether the same command line says that there are others."""
    nodes = one.launch.options.get("nnodes", "1")
    return nodes not in ("1", "1:1") or "master-addr" in one.launch.options


RULE = Rule("standalone-on-many-pods", _check, severity="error", stage="run", authority="torchrun")
