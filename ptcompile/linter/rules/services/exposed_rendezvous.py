"""A rendezvous port is open outside the cluster.

What: a Service of type NodePort or LoadBalancer with one of torch.distributed's usual ports (29400, 29500) or the
operators' (23456).

Why: the store behind these ports has no authentication and no encryption: anyone who reaches it can take over the
processes. It is made for private networks.

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

Source: PyTorch's security policy, "Using distributed features"; PyTorch 2.13, default ports of torchrun.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_int, as_mapping
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject

_PORTS = frozenset({23456, 29400, 29500})


def _check(subject: Subject) -> Iterator[Finding]:
    kind = subject.spec.get("type")
    if kind not in ("NodePort", "LoadBalancer"):
        return
    ports = subject.spec.get("ports")
    for i, one in enumerate(ports if isinstance(ports, list) else ()):
        port = as_mapping(one)
        number = next((n for n in (as_int(port.get("targetPort")), as_int(port.get("port"))) if n in _PORTS), None)
        if number is not None:
            path = ("spec", "ports", i)
            yield found_at(
                path,
                f"a Service of type {kind} opens the rendezvous port {number}, which needs no password, outside the "
                "cluster",
                "make it a ClusterIP Service",
            )


RULE = Rule("exposed-rendezvous", _check, severity="warning", stage="run", authority="ptcompile")
