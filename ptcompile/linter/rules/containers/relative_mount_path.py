"""A mount path is not absolute.

PTC313 relative-mount-path: warning at style, by kubelet.
Needs: mountPath

What: a mountPath is relative, such as `data`.

Why: the kubelet puts a slash before it: the volume is at /data, regardless of the working
directory. A reader of the manifest, or the script that opens `data/train.bin`, may expect something
else.

Example: gpu_pod.yaml with

      volumes: [{name: dataset, persistentVolumeClaim: {claimName: imagenet}}]
      containers:
        - name: pytorch
          workingDir: /workspace
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts:
            - name: dataset
    -         mountPath: data  # <--
    +         mountPath: /data

Fix: write the absolute path.

Source: kubelet 1.36, a mount path that is not absolute is taken from the root.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        for entry_path, mount in container.mounts:
            mount_path = nested_string(mount, "mountPath")
            if (
                mount_path
                and not mount_path.startswith("/")
                and ":" not in mount_path
                and "\\" not in mount_path
            ):
                path = (*entry_path, "mountPath")
                absolute = "/" + mount_path.removeprefix("./")
                yield found_at(
                    path,
                    f"{mount_path} is mounted at {absolute}, not below the working directory",
                    f"write {absolute}, or the intended path",
                    fix_setting(f"write {absolute}", path, absolute),
                )
