"""An init container fills or reads a folder of a volume that it does not mount.

PTC384 unmounted-init-path: warning at run (differs), by kubelet.
Needs: initContainers volumeMounts

What: the command of an init container names a path below a mount of a main container, and the init
container itself mounts nothing there.

Why: each container has its own file system. What the init container writes there is gone when it
ends, and the training finds an empty volume.

Example: gpu_pod.yaml with

      volumes: [{name: data, emptyDir: {sizeLimit: 100Gi}}]
      initContainers:
        - name: download
          image: ghcr.io/acme/tools:1.0
    -     command: [aws, s3, cp, --recursive, "s3://acme/imagenet", /data]  # <--
    +     command: [aws, s3, cp, --recursive, "s3://acme/imagenet", /data]
    +     volumeMounts: [{name: data, mountPath: /data}]
          resources: {limits: {cpu: 8, memory: 64Gi}}
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts: [{name: data, mountPath: /data}]

Fix: mount the volume in the init container too.

Source: Kubernetes 1.36, volumes: each container mounts them itself.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import is_in_memory, mount_for, volume_of
from ptcompile.simulator.mounted import mount_path
from ptcompile.world.templates import ManifestContainer, ManifestTemplate, Written

_PATH = Pattern(r"(?:^|[\s\"'=:>(])(?P<path>/[\w./-]+)")
_SYSTEM = "tmp dev proc sys etc usr var run bin lib lib64 sbin root boot"
_SYSTEM_FOLDERS = frozenset(_SYSTEM.split())
"""Folders that every image has: the init container may mean its own."""
_FILLED = ("emptyDir", "ephemeral", "persistentVolumeClaim", "hostPath", "nfs", "csi")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        running = template.running_containers
        for init in template.containers:
            if init.is_init:
                yield from _unmounted_paths(template, init, running)


def _unmounted_paths(
    template: ManifestTemplate, init: ManifestContainer, running: list[ManifestContainer]
) -> Findings:
    """Yield the first path of each token that is on a volume of another container only."""
    for token in init.argv:
        for match in _PATH.finditer(token.text):
            path = match["path"].rstrip("/.") or "/"
            if path.split("/")[1] in _SYSTEM_FOLDERS or mount_for(init, path) is not None:
                continue

            mounts = [mount_for(container, path) for container in running]
            mount = next((item for item in mounts if _is_filled(template, item)), None)
            if mount is not None:
                name = nested_string(mount.data, "name")
                yield found_at(
                    token.path,
                    f"{path} is on the volume {name} of other containers, but {init.name} does "
                    "not mount it",
                    f"mount {name} at {mount_path(mount.data)} in {init.name}",
                )
                break


def _is_filled(template: ManifestTemplate, mount: Written | None) -> bool:
    """Return whether a mount is of a volume that a container may fill."""
    volume = volume_of(template, mount)
    return (
        volume is not None
        and not is_in_memory(volume.data)
        and any(key in volume.data for key in _FILLED)
    )
