"""The rendezvous host needs a Service that no file has.

PTC486 missing-service: warning at run (fails), by kubelet.
Needs: @missing-service

What: the address that the pods meet at is a name that only a Service of their namespace can
resolve, and no manifest of the stream or the folder is that Service: none has the name, or the one
that has it has a cluster IP, does not select the pods, or is not their subdomain. A note if one
file with one object is read, since the Service may be in another file. The serviceName of a
StatefulSet is its pods' subdomain. Names that the files cannot settle are not reported, such as
those of other namespaces; nor are the Services of operators, such as JobSet's, PyTorchJob's and
Trainer's.

Why: a pod of a Job, of a StatefulSet or alone has the name <hostname>.<subdomain> only through a
headless Service that has the name of the subdomain and selects the pod. Without it every pod looks
for node 0 until the rendezvous times out.

Example: indexed_torchrun.yaml with

      apiVersion: v1
      kind: ConfigMap
      metadata: {name: train}
      data: {config.yaml: "epochs: 3"}
      ---
    + apiVersion: v1
    + kind: Service
    + metadata: {name: train}
    + spec:
    +   clusterIP: None
    +   publishNotReadyAddresses: true
    +   selector: {batch.kubernetes.io/job-name: train}
    + ---
      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
        - --rdzv-endpoint=train-0.train:29400  # <--
        - train.py

Fix: add the headless Service, or a kind whose operator makes one, such as a JobSet.

Source: Kubernetes 1.36, DNS for Services and pods: hostname and subdomain; StatefulSet, stable
network ID.
"""

from __future__ import annotations

from ptcompile.diagnostics import Severity
from ptcompile.linter.hosts import help_of, is_reported_at_service, sentence_of
from ptcompile.linter.rule import Findings, Subject, found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.hostnames import HostMistake


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("missing-service"):
        mistake = obstacle.mistake
        if mistake is None or is_reported_at_service(mistake, subject):
            continue

        is_elsewhere = any(
            id(service) in subject.stream.related_ids for service in mistake.services
        )
        is_certain = mistake.services and not is_elsewhere
        doubtful: Severity | None = None if subject.stream.has_context else "note"
        text, help = _text_and_help(
            mistake, subject, role.rendezvous.host.removesuffix(".").lower()
        )
        yield found_at(
            role.endpoint_path,
            text,
            help,
            severity="error" if is_certain else doubtful,
        )


def _text_and_help(mistake: HostMistake, subject: Subject, host: str) -> tuple[str, str]:
    """Return the message and the help for a host that no Service of the files leads to."""
    service = mistake.written
    if subject.stream.has_context:
        missing = "but these manifests have none"
    else:
        missing = "which is not in this file"
    if mistake.services:
        named = f"{mistake.better}.{service}"
        return f"nothing answers to {named}: {sentence_of(mistake, subject)}", help_of(
            mistake, subject, ""
        )
    if mistake.name == "Service":
        help = f"add the Service {host}, or use a pod's DNS name"
        return f"{host} needs a Service of that name, {missing}", help

    rename = f", or rename the Service {mistake.existing}" if mistake.existing else ""
    help = f"add the Service {service} with clusterIP None and a selector for the pods{rename}"

    return f"{host} needs a headless Service named {service}, {missing}", help
