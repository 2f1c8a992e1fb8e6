"""A pod shares its node's processes or memory.

What: hostPID or hostIPC is true.

Why: with hostPID the pod sees and may signal the node's other processes; with hostIPC all such pods share one
/dev/shm, and files of a killed process stay there. Both were once used to get more shared memory, but a volume is
enough for that.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
    -   hostIPC: true  # <--
    +   volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    +       volumeMounts: [{name: dshm, mountPath: /dev/shm}]

Fix: remove it; mount an emptyDir of medium Memory at /dev/shm.

Source: Kubernetes 1.36, Pod Security Standards (baseline).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject

_EFFECTS = {
    "hostIPC": "the pod shares the node's shared memory with other pods",
    "hostPID": "the pod sees the processes of the node and of other pods",
}


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for key, effect in _EFFECTS.items():
            if template.spec.get(key) is True:
                path = (*template.path, "spec", key)
                yield found_at(
                    path,
                    effect,
                    "remove it; for shared memory mount an emptyDir of medium Memory at /dev/shm"
                    if key == "hostIPC"
                    else "remove it",
                    Fix(f"remove {key}", (Edit("remove", path),), safe=False),
                )


RULE = Rule("host-namespaces", _check, severity="warning", stage="style", authority="ptcompile")
