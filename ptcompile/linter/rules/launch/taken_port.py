"""Another container uses the port of the rendezvous.

What: another container of the pod opens the port that torchrun meets at: as its containerPort, or by an option that
makes it listen there.

Why: containers of a pod share one network. The second one fails with EADDRINUSE, and if that is the rendezvous,
the job does not start.

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
                          - --nnodes=2
                          - --rdzv-backend=c10d
                          - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
                      - name: metrics
                        image: ghcr.io/acme/metrics:1.0
    -                   args: ["--listen=:29400"]  # <--
    +                   args: ["--listen=:9400"]
                        resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: change one of the two ports.

Source: Kubernetes 1.36: the containers of a pod share its network namespace.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestContainer
from ptcompile.linter.trainers import TrainingRole

_LISTENS = Pattern(r"(?i)listen|port|addr|bind|serve")


def _check(subject: Subject) -> Iterator[Finding]:
    for found in (*subject.rendezvous_groups, *subject.env_groups):
        for one in found:
            port = one.rendezvous.endpoint.rpartition(":")[2]
            if port.isdigit() and one.rendezvous.backend in ("static", "c10d", "env") and not one.is_standalone:
                yield from _taken(subject, one, port)


def _taken(subject: Subject, one: TrainingRole, port: str) -> Iterator[Finding]:
    for template in subject.templates:
        beside = [container for container in template.containers if container.path != one.path and _runs(container)]
        for container in beside if one.path[: len(template.path)] == template.path else ():
            path = _opened(container, port)
            if path is not None:
                yield found_at(
                    path,
                    f"{container.name} uses port {port}, on which the pods meet",
                    "change one of the two ports",
                )


def _runs(container: ManifestContainer) -> bool:
    """Whether it runs beside the training: init containers have ended, but for those that are restarted."""
    return not container.is_init or container.spec.get("restartPolicy") == "Always"


def _opened(container: ManifestContainer, port: str) -> Path | None:
    """Where a container says that it opens a port."""
    for i, one in enumerate(as_mappings(container.spec.get("ports"))):
        if one.get("containerPort") == int(port) and one.get("protocol") in (None, "TCP"):
            return (*container.path, "ports", i, "containerPort")
    before = ""
    for word in container.argv:
        said = word.text.rpartition("=")[2].rpartition(":")[2] == port
        if said and _LISTENS.search(before + word.text):
            return word.path
        before = word.text if word.text.startswith("-") else ""
    return None


RULE = Rule("taken-port", _check, severity="error", stage="run", authority="kubelet")
