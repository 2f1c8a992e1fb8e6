"""A container has to be root and must not be.

What: runAsNonRoot is true and runAsUser is 0, on the container, or on the pod where the container says nothing.

Why: the kubelet refuses to start it: "container's runAsUser breaks non-root policy" (CreateContainerConfigError). The
pod waits forever.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        securityContext:
          runAsNonRoot: true
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            securityContext:
    -         runAsUser: 0  # <--
    +         runAsUser: 1000

Fix: use another user, or remove runAsNonRoot.

Source: kubelet 1.36, security context of containers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_int, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        pod = nested_map(template.spec, "securityContext")
        for container in template.containers:
            own = nested_map(container.spec, "securityContext")
            user = own if own.get("runAsUser") is not None else pod
            strict = own if own.get("runAsNonRoot") is not None else pod
            if strict.get("runAsNonRoot") is True and as_int(user.get("runAsUser"), 1) == 0:
                where = container.path if user is own else (*template.path, "spec")
                path = (*where, "securityContext", "runAsUser")
                yield found_at(
                    path,
                    f"0 is root, and runAsNonRoot forbids it: the container {container.name} never starts",
                    "use another user, or remove runAsNonRoot",
                )


RULE = Rule("root-against-non-root", _check, severity="error", stage="pod", authority="kubelet")
