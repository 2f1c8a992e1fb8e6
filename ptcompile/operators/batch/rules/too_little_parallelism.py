"""Fewer pods run at once than the rendezvous waits for.

PTC711 too-little-parallelism: error at run (fails), by kube-apiserver.
Needs: completions

What: the launch of a Job waits for more nodes than `parallelism`, which defaults to 1.

Why: the Job controller starts `parallelism` pods and the next one only when one of them has ended.
The first ones wait at the rendezvous for pods that never come, until they time out.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {batch.kubernetes.io/job-name: train}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completionMode: Indexed
        completions: 4  # <--
    +   parallelism: 4
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            subdomain: train
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=4
                  - --nproc-per-node=1
                  - --node-rank=$(JOB_COMPLETION_INDEX)
                  - --master-addr=train-0.train
                  - train.py
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set parallelism to completions.

Source: Kubernetes 1.36, Job: parallelism defaults to 1; PyTorch 2.13, a rendezvous waits for its
minimum number of nodes.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    completions = nested_int(subject.spec, "completions")
    parallelism = nested_int(subject.spec, "parallelism", default=1)
    if not 0 < parallelism < completions:
        return

    rendezvous = subject.rendezvous
    if rendezvous is None or rendezvous.launcher not in ("torchrun", "tune"):
        return

    # a launch with more nodes than pods has its own rule
    nodes = rendezvous.nodes
    if nodes is None or not parallelism < nodes.least <= completions:
        return

    target = ("spec", "parallelism")
    is_set = "parallelism" in subject.spec
    path = target if is_set else ("spec", "completions")
    yield found_at(
        path,
        f"the rendezvous waits for {nodes.least} nodes, but {parallelism} of {completions} pods run "
        f"at once{'' if is_set else ' (parallelism defaults to 1)'}",
        f"set parallelism to {completions}",
        fix_setting(f"set parallelism to {completions}", target, completions),
        on_key=True,
    )
