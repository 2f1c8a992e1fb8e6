"""The Service of the rendezvous does not forward the rendezvous port.

PTC217 service-port-missing: error at run (fails), by ptcompile.
Needs: @Service

What: the endpoint of the rendezvous is a Service of the same stream with a cluster IP, but the
Service does not list the endpoint's port.

Why: a cluster IP forwards only the ports that the Service lists: other connections are refused, or
hang.

Example: pod.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train-store}
      spec:
        selector: {app: train-store}
        ports: [{port: 2379}]
      ---
      command:  # <--
        - torchrun
        - --nnodes=1
        - --nproc-per-node=1
        - --rdzv-backend=etcd-v2
    -   - --rdzv-endpoint=train-store:2380
    +   - --rdzv-endpoint=train-store:2379
        - --rdzv-id=train
        - train.py
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add the port to the Service, or use one that it has.

Source: Kubernetes 1.36, Services: ports of a cluster IP.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
)
from ptcompile.linter.references import endpoint_service
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    service = subject.cached(endpoint_service)
    rendezvous = subject.rendezvous
    if service is None or rendezvous is None:
        return

    spec = nested_map(service, "spec")
    port = rendezvous.port
    headless = nested_string(spec, "clusterIP") == "None" or spec.get("type") == "ExternalName"
    ports = {str(nested_int(entry, "port")) for entry in nested_maps(spec, "ports")}
    if headless or not ports or not port.isdigit() or port in ports:
        return

    main = next((container for container in subject.containers if container.is_main), None)
    path: tuple[str | int, ...] = ("spec",)
    if main is not None:
        path = (*main.path, "command") if "command" in main.spec else main.path
    noun = "ports" if len(ports) > 1 else "port"
    yield found_at(
        path,
        f"the rendezvous is at {rendezvous.endpoint}, but the Service {object_name(service)} only "
        f"has the {noun} {', '.join(sorted(ports))}",
        "add the port to the Service, or use one that it has",
        on_key=True,
    )
