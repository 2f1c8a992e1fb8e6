"""Another container uses the port of the rendezvous.

PTC482 taken-port: error at run (fails), by kubelet.
Needs: {RENDEZVOUS_WORDS}

What: another container of the pod opens the port that torchrun meets at: as its containerPort, or
by an option that makes it listen there.

Why: containers of a pod share one network. The second one fails with EADDRINUSE, and if that is the
rendezvous, the job does not start.

Example: jobset.yaml with

      containers:
        - name: metrics
          image: ghcr.io/acme/metrics:1.0
    -     args: ["--listen=:29400"]  # <--
    +     args: ["--listen=:9400"]
          resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: change one of the two ports.

Source: Kubernetes 1.36: the containers of a pod share its network namespace.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_maps
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.world.templates import ManifestContainer

_LISTEN_OPTION = Pattern(r"(?i)listen|port|addr|bind|serve")


def check(subject: Subject) -> Findings:
    for roles in (*subject.rendezvous_groups, *subject.env_groups):
        for role in roles:
            port = role.rendezvous.port
            if (
                is_short_number(port)
                and role.rendezvous.backend in ("static", "c10d", "env")
                and not role.is_standalone
            ):
                yield from _check_sidecars(role, port)


def _check_sidecars(role: TrainingRole, port: str) -> Findings:
    for container in role.template.containers:
        if container.path == role.path or container.ends_first:
            continue

        path = _opened_port_path(container, port)
        if path is not None:
            yield found_at(
                path,
                f"{container.name} uses port {port}, which the rendezvous needs",
                "change one of the two ports",
            )


def _opened_port_path(container: ManifestContainer, port: str) -> Path | None:
    """Return the path where the container opens the port, or None."""
    for i, port_entry in enumerate(nested_maps(container.spec, "ports")):
        if port_entry.get("containerPort") == int(port) and port_entry.get("protocol") in (
            None,
            "TCP",
        ):
            return (*container.path, "ports", i, "containerPort")

    before = ""
    for word in container.argv:
        _, _, value = word.text.rpartition("=")
        _, _, listening = value.rpartition(":")
        if listening == port and _LISTEN_OPTION.search(before + word.text):
            return word.path
        before = word.text if word.text.startswith("-") else ""

    return None
