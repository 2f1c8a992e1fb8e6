"""The container that trains holds accelerators and only sleeps.

What: a container requests accelerators, and its command is `sleep infinity`, `tail -f /dev/null` or the like.

Why: it is a leftover from debugging inside the pod. The accelerators stay allocated, and the job never ends.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
    -       command: [sleep, infinity]  # <--
    +       command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the training, or drop the accelerators.

Source: ptcompile's own advice.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.containers import idle_command
from ptcompile.linter.devices import accelerators
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.world.templates import ManifestTemplate


def _check(subject: Subject) -> Iterator[Finding]:
    has_launcher = subject.template_of("launcher") is not None
    for template in subject.templates:
        if has_launcher and template.role.lower() == "worker":
            continue  # such workers wait for ssh, which workers-without-sshd checks
        yield from _check_template(template)


def _check_template(template: ManifestTemplate) -> Iterator[Finding]:
    for container in template.containers:
        count = accelerators(container) if container.is_main else 0
        command = idle_command(container) if count else None
        if command:
            path = container.argv[0].path[:-1]
            yield found_at(
                path,
                f"{command} holds {count} accelerator{'s' if count > 1 else ''} and never ends",
                "start the training, or request no accelerators",
            )


RULE = Rule("idle-main-container", _check, severity="warning", stage="run", authority="ptcompile")
