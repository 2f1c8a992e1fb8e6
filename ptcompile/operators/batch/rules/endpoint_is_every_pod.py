"""The rendezvous endpoint is a Service that resolves to any of the pods.

PTC216 endpoint-is-every-pod: warning at run (fails), by torchrun.
Needs: @Service

What: the endpoint of a Job's rendezvous is a Service of the same stream that selects all pods of
the Job, and there are several.

Why: only one pod serves the rendezvous. The Service sends each connection to some pod: most find no
listener there, or a different pod each time they try.

Example: indexed_torchrun.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {batch.kubernetes.io/job-name: train}
      ---
      command:
        - torchrun
        - --nnodes=2
        - --nproc-per-node=1
        - --node-rank=$(JOB_COMPLETION_INDEX)
    -   - --master-addr=train  # <--
    +   - --master-addr=train-0.train
        - train.py

Fix: name the first pod, `<job>-0.<subdomain>`, or select only that one by its completion index.

Source: Kubernetes 1.36, DNS of Services; PyTorch 2.13, rank 0 serves the store.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.index import service_selects
from ptcompile.kubernetes.unstructured import object_name
from ptcompile.linter.references import endpoint_service
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    service = subject.cached(endpoint_service)
    job = subject.job
    rendezvous = subject.rendezvous
    if service is None or job is None or rendezvous is None or job.size < 2:
        return

    role, *_ = job.roles
    pods = (job.pod(role, 0), job.last_pod(role))
    if all(service_selects(service, pod.view.labels) for pod in pods):
        yield found_at(
            _host_path(subject, rendezvous.host),
            f"the endpoint {rendezvous.endpoint} is the Service {object_name(service)}, which "
            f"resolves to any of {job.size} pods, but only one of them serves the rendezvous",
            f"name the first pod: {subject.name}-0.{object_name(service)}",
        )


def _host_path(subject: Subject, host: str) -> Path:
    """Return the path where the host is written, or that of the pod spec if it is not visible."""
    for container in subject.containers:
        for entry in container.variables:
            if entry.value and host in entry.value:
                return entry.value_path
        for token in container.argv:
            is_option_value = "=" in token.text and host in token.text
            if is_option_value or token.text.startswith(host):
                return token.path
    return ("spec", "template", "spec")
