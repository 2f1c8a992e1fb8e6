"""A container runs as root although its security context forbids root.

PTC822 root-against-non-root: error at pod, by kubelet.
Needs: runAsNonRoot

What: runAsNonRoot is true and runAsUser is 0, on the container, or on the pod if the container does
not set them.

Why: the kubelet does not start it: "container's runAsUser breaks non-root policy"
(CreateContainerConfigError). The pod waits forever.

Example: pod.yaml with

      spec:
        securityContext:
          runAsNonRoot: true
        containers:
          - name: pytorch
            securityContext:
    -         runAsUser: 0  # <--
    +         runAsUser: 1000

Fix: use another user, or remove runAsNonRoot.

Source: kubelet 1.36, security context of containers.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.containers import security_setting
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.containers:
            path, user = security_setting(template, container, "runAsUser")
            _, is_policy = security_setting(template, container, "runAsNonRoot")
            if is_policy is True and as_int(user, 1) == 0:
                yield found_at(
                    path,
                    f"0 is root, but runAsNonRoot forbids root: the container {container.name} "
                    "never starts",
                    "use another user, or remove runAsNonRoot",
                )
