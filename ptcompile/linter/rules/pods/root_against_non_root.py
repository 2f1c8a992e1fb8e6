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

from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        pod_security = nested_map(template.spec, "securityContext")
        for container in template.containers:
            container_security = nested_map(container.spec, "securityContext")
            if container_security.get("runAsUser") is not None:
                user_source = container_security
            else:
                user_source = pod_security
            if container_security.get("runAsNonRoot") is not None:
                policy_source = container_security
            else:
                policy_source = pod_security
            if (
                policy_source.get("runAsNonRoot") is True
                and nested_int(user_source, "runAsUser", default=1) == 0
            ):
                if user_source is container_security:
                    owner_path = container.path
                else:
                    owner_path = (*template.path, "spec")
                yield found_at(
                    (*owner_path, "securityContext", "runAsUser"),
                    f"0 is root, but runAsNonRoot forbids root: the container {container.name} "
                    "never starts",
                    "use another user, or remove runAsNonRoot",
                )
