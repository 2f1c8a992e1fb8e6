"""A HorizontalPodAutoscaler scales pods whose launcher waits for a fixed number of nodes.

PTC285 scaled-world: warning at run (waits), by torchrun.
Needs: HorizontalPodAutoscaler

What: a HorizontalPodAutoscaler names an object of the files whose pods meet, and its range has
other numbers of pods than the launcher takes.

Why: with fewer pods the rendezvous is never complete. More wait outside of it with their GPUs.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: train}}
      ---
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata: {name: train}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: train}
        minReplicas: 2
    -   maxReplicas: 8  # <--
    +   maxReplicas: 2
      ---
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: train}
      spec:
        serviceName: train
        replicas: 2
        podManagementPolicy: Parallel
        selector: {matchLabels: {app: train}}
        template:
          metadata: {labels: {app: train}}
          spec:
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=2
                  - --rdzv-backend=c10d
                  - --rdzv-endpoint=train-0.train:29400
                  - serve.py

Fix: remove the HorizontalPodAutoscaler, or give c10d the same range, such as --nnodes=2:8.

Source: Kubernetes 1.36, HorizontalPodAutoscaler (it writes spec.replicas); PyTorch 2.13,
torch/distributed/run.py.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    nested_int,
    nested_map,
    nested_string,
    object_name,
)
from ptcompile.linter.rule import Findings, Subject, found_at, subject_of


def check(subject: Subject) -> Findings:
    target = nested_map(subject.spec, "scaleTargetRef")
    kind = (nested_string(target, "apiVersion"), nested_string(target, "kind"))
    for manifest in subject.neighbors.by_name(kind, nested_string(target, "name")):
        rendezvous = subject_of(manifest, subject.stream).rendezvous
        if rendezvous is None or rendezvous.nodes is None or rendezvous.nodes.most < 2:
            continue

        low, high = rendezvous.nodes
        least = nested_int(subject.spec, "minReplicas", default=1)
        most = nested_int(subject.spec, "maxReplicas")
        if least < low or most > high:
            yield found_at(
                ("spec", "maxReplicas") if most > high else ("spec",),
                f"it scales {object_name(manifest)} from {least} to {most} pods, but "
                f"{rendezvous.launcher} takes {rendezvous.nodes_text} nodes",
                f"remove it, or write --nnodes={least}:{most} with c10d",
                on_key=True,
            )
