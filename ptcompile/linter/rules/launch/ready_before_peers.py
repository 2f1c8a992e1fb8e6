"""Pods are created only when another is ready, which it is only after it has met them.

PTC705 ready-before-peers: error at run (waits), by torchrun.
Needs: {RENDEZVOUS_WORDS} readinessProbe

What: the object creates pods in an order that waits for ready ones: a StatefulSet that is not
Parallel, LeaderReady of a LeaderWorkerSet, InOrder or dependsOn with Ready of a JobSet, dependsOn
of a Volcano Job. The training container of the pod that must be ready has a readiness probe, and
waits for more nodes than exist by then.

Why: torchrun starts the processes when all nodes have joined. Until then nothing answers the probe,
so the pod is never ready, and the pods that it waits for are never created. A warning if a script
without torchrun may answer before.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: train}}
      ---
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: train}
      spec:
        serviceName: train
        replicas: 4
    -   podManagementPolicy: OrderedReady  # <--
    +   podManagementPolicy: Parallel
        selector: {matchLabels: {app: train}}
        template:
          metadata: {labels: {app: train}}
          spec:
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=4
                  - --rdzv-backend=c10d
                  - --rdzv-endpoint=train-0.train:29400
                  - serve.py
                readinessProbe: {httpGet: {path: /steps, port: 9000}}
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: let all pods start at once, or leave out the probe.

Source: Kubernetes 1.36, StatefulSets, pod management policies; LeaderWorkerSet 0.10,
pod_controller.go; JobSet 0.12, startup_policy.go; Volcano 1.16, dependsOn; PyTorch 2.13,
torch/distributed/elastic/agent/server/api.py (_rendezvous before _start_workers).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import pluralize
from ptcompile.kinds.model import StartOrder
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole


def check(subject: Subject) -> Findings:
    for order, role, nodes in deadlocks(subject):
        verb = "exists" if order.pods == 1 else "exist"
        yield found_at(
            order.path,
            f"{order.text}, and its readiness probe is answered by the training, which waits for "
            f"{nodes} nodes: only {pluralize(order.pods, 'pod')} {verb} by then",
            order.help,
            on_key=True,
            severity=None if role.is_torchrun else "warning",
        )


def deadlocks(subject: Subject) -> Iterator[tuple[StartOrder, TrainingRole, int]]:
    """Yield the orders that wait for a pod that waits for pods which come later: order, role,
    number of nodes.
    """
    for order in subject.record.start_orders(subject.manifest):
        for role in subject.training_roles:
            nodes = role.rendezvous.nodes
            is_first = role.expanded.name == order.first and not role.is_uncertain()
            if is_first and nodes is not None and nodes.least > order.pods and _answers_late(role):
                yield order, role, nodes.least


def _answers_late(role: TrainingRole) -> bool:
    """Return whether only the training processes answer the readiness probe of their container."""
    probe = nested_map(role.spec, "readinessProbe")
    has_server = any("&" in token.replace("&&", "") for token in role.container.tokens)
    return not has_server and not probe.keys().isdisjoint({"httpGet", "tcpSocket", "grpc"})
