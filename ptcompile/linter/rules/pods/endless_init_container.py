"""An init container never ends, so the training never starts.

PTC742 endless-init-container: error at run (waits), by kubelet.
Needs: initContainers

What: an init container without restartPolicy Always runs `sleep infinity`, `tail -F`, tensorboard
or another server, or a shell loop without an exit. Reported as a warning if only the image says so.

Why: the kubelet starts the containers of a pod when its init containers have ended, one after
another. The pod stays in Init, and holds its accelerators.

Example: job.yaml with

      restartPolicy: Never
      initContainers:
        - name: board
          image: ghcr.io/acme/board:1.0
    -     command: [tensorboard, --logdir, /logs]  # <--
    +     command: [tensorboard, --logdir, /logs]
    +     restartPolicy: Always
          resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: set restartPolicy to Always, which makes it a sidecar from Kubernetes 1.29 on, or end the
command.

Source: Kubernetes 1.36, init containers and sidecar containers.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.containers import endless_command, server_image
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if not container.ends_first:
            continue

        command = endless_command(container)
        server = command or server_image(container)
        if server is not None:
            path = (*container.path, "command" if command else "image")
            edit = Edit("set", (*container.path, "restartPolicy"), "Always")
            yield found_at(
                path,
                f"{server} never ends, so the containers after it never start",
                "set restartPolicy to Always, which makes it a sidecar",
                Fix(f"make {container.name} a native sidecar", (edit,)),
                severity=None if command else "warning",
            )
