"""A rendezvous port is open outside the cluster.

PTC213 exposed-rendezvous: warning at run (exposes), by ptcompile.
Needs: NodePort/LoadBalancer

What: a Service of type NodePort or LoadBalancer has one of torch.distributed's usual ports (29400,
29500) or the operators' (23456).

Why: the store that listens on these ports has no authentication and no encryption: anyone who
reaches it can take over the processes. It is meant for private networks.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
    -   type: LoadBalancer
        selector: {app: train}
        ports:
          - {name: rendezvous, port: 29500}  # <--

Fix: make it a ClusterIP Service.

Source: PyTorch's security policy, "Using distributed features"; PyTorch 2.13, default ports of
torchrun.
"""

from __future__ import annotations

from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, found_at

_RENDEZVOUS_PORTS = frozenset({23456, 29400, 29500})


def check(subject: Subject) -> Findings:
    kind = subject.spec.get("type")
    if kind not in ("NodePort", "LoadBalancer"):
        return

    for i, port in indexed_mappings(subject.spec.get("ports")):
        number = next(
            (
                candidate
                for candidate in (nested_int(port, "targetPort"), nested_int(port, "port"))
                if candidate in _RENDEZVOUS_PORTS
            ),
            None,
        )
        if number is not None:
            yield found_at(
                ("spec", "ports", i),
                f"a Service of type {kind} opens the rendezvous port {number}, which needs no "
                "password, outside the cluster",
                "make it a ClusterIP Service",
            )
