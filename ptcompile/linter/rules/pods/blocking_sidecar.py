"""A sidecar container never ends, so the pod never completes.

PTC826 blocking-sidecar: warning at run (endless), by kubelet.
Needs: containers

What: in a pod that should end, one of several containers runs `sleep infinity`, `tail -F`,
tensorboard or another server, or a shell loop without an exit.

Why: a pod succeeds when all its containers have. The training ends, the sidecar goes on, the pod
stays Running and the job never completes.

Example: job.yaml with

      restartPolicy: Never
    + initContainers:
    +   - name: board
    +     image: ghcr.io/acme/board:1.0
    +     command: [tensorboard, --logdir, /logs]
    +     restartPolicy: Always
    +     resources: {limits: {cpu: 1, memory: 1Gi}}
      containers:
    -   - name: board  # <--
    -     image: ghcr.io/acme/board:1.0
    -     command: [tensorboard, --logdir, /logs]
    -     resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: make it a native sidecar: an init container with restartPolicy Always, from Kubernetes 1.29 on.

Source: Kubernetes 1.36, sidecar containers; kubeflow/trainer issue 1585.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import endless_command, idle_command, server_image
from ptcompile.linter.rule import Findings, Subject, edit_adding, found_at
from ptcompile.shell.endless import SERVERS
from ptcompile.world.templates import ManifestContainer, ManifestTemplate


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        running = template.running_containers
        if len(running) < 2 or template.spec.get("restartPolicy") == "Always":
            continue
        if not template.path and not template.spec.get("restartPolicy"):
            continue  # a Pod without a restartPolicy usually serves requests

        for container in running:
            server = _endless_part(container)
            if server:
                yield found_at(
                    container.path,
                    f"{server} never ends, so the pod never succeeds",
                    "make it an init container with restartPolicy Always",
                    _move_to_init(template, container),
                )


def _endless_part(container: ManifestContainer) -> str | None:
    """Return what never ends in a container. Main containers that serve others, such as sshd of
    MPI, are left out.
    """
    endless = endless_command(container)
    if not container.is_main:
        return endless or server_image(container)
    is_server = basename((endless or "").partition(" ")[0]) in SERVERS
    return idle_command(container) or (endless if is_server else None)


def _move_to_init(template: ManifestTemplate, container: ManifestContainer) -> Fix:
    sidecar = {**container.spec, "restartPolicy": "Always"}
    path: Path = (*template.spec_path, "initContainers")
    add = edit_adding(template.spec.get("initContainers"), path, sidecar)
    return Fix(f"make {container.name} a native sidecar", (Edit("remove", container.path), add))
