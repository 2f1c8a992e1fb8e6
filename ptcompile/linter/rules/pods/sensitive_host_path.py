"""A pod mounts a folder that gives it control of the node.

PTC316 sensitive-host-path: warning at style (exposes), by ptcompile.
Needs: hostPath

What: a hostPath volume is /, /etc, /root, /boot, /var/run, /var/lib/kubelet or the socket of a
container runtime.

Why: any code in the pod, dependencies included, can read the node's credentials or start containers
as root on it. Training needs none of it.

Example: gpu_pod.yaml with

      volumes:
    -   - name: docker
    -     hostPath: {path: /var/run/docker.sock}  # <--
    +   - name: scratch
    +     hostPath: {path: /mnt/nvme/scratch}
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi}}
    -     volumeMounts: [{name: docker, mountPath: /var/run/docker.sock}]
    +     volumeMounts: [{name: scratch, mountPath: /scratch}]

Fix: remove the volume, or mount only the folder that is needed.

Source: Kubernetes 1.36, hostPath (its warning), and the Pod Security Standards, baseline.
"""

from __future__ import annotations

from posixpath import normpath

from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at

_SENSITIVE_PATHS = frozenset(load_table("linter/folders.json")["sensitive"])


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for volume_path, volume in template.volumes.values():
            host_path = nested_string(volume, "hostPath", "path")
            if host_path and normpath(host_path) in _SENSITIVE_PATHS:
                yield found_at(
                    (*volume_path, "hostPath"),
                    f"{host_path} of the node gives this pod control of the node",
                    "remove the volume, or mount only the folder that is needed",
                )
