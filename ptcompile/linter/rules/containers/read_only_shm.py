"""Shared memory cannot be written.

PTC306 read-only-shm: warning at run (fails), by kubelet.
Needs: shm readOnly

What: the mount at /dev/shm is read-only.

Why: shared memory is created as files there. Data loader workers and NCCL fail with "Read-only file
system".

Example: gpu_pod.yaml with

      volumeMounts:
        - name: dshm
          mountPath: /dev/shm
    -     readOnly: true  # <--

Fix: remove readOnly from this mount.

Source: POSIX shm_open; Kubernetes 1.36, volumeMounts.readOnly.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import SHM_PATH as SHM
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.linter.volumes import shm_mount


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        mount = shm_mount(container)
        if mount is not None and mount.data.get("readOnly") is True:
            path = (*mount.path, "readOnly")
            yield found_at(
                path,
                f"{SHM} is read-only, but processes create shared memory there",
                "remove readOnly",
                fix_removing(f"remove readOnly from the mount at {SHM}", path, safe=True),
            )
