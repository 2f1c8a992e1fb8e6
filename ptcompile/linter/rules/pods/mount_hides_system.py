"""A volume hides the image's own system folders.

PTC311 mount-hides-system: warning at run (fails), by ptcompile.
Needs: mountPath

What: a volume other than a hostPath is mounted, without subPath, at a folder such as /, /usr, /bin,
/lib, /etc, /proc or /dev.

Why: a mount hides the image's files below that folder. Without /usr there is no Python and no libc:
the container does not start, or stops at its first import.

Example: gpu_pod.yaml with

      volumes: [{name: tools, persistentVolumeClaim: {claimName: tools}}]
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts:
            - name: tools
    -         mountPath: /usr  # <--
    +         mountPath: /opt/tools

Fix: mount it in its own folder, or mount single files with subPath.

Source: Linux mount semantics; the Filesystem Hierarchy Standard 3.0.
"""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import volume_of
from ptcompile.simulator.mounted import mount_path

_SYSTEM_FOLDERS = frozenset(load_table("linter/folders.json")["system"])


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.containers:
            for mount in container.mounts:
                folder = mount_path(mount.data)
                if folder not in _SYSTEM_FOLDERS:
                    continue
                if mount.data.get("subPath") or mount.data.get("subPathExpr"):
                    continue

                volume = volume_of(template, mount)
                if volume is not None and "hostPath" not in volume.data:
                    yield found_at(
                        (*mount.path, "mountPath"),
                        f"the volume hides everything that the image has in {folder}",
                        "mount it in its own folder, or mount single files with subPath",
                    )
