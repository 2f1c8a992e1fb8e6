"""Shared memory is on the node's disk.

PTC307 shm-on-disk: warning at run (slows), by kubelet.
Needs: emptyDir shm

What: an emptyDir without `medium: Memory` is mounted at /dev/shm.

Why: every batch from a data loader worker goes through a file on the node's disk, which is slow and
counts against the pod's ephemeral storage.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
    -     emptyDir: {}  # <--
    +     emptyDir: {medium: Memory, sizeLimit: 16Gi}

Fix: set medium to Memory, and a sizeLimit below the memory limit.

Source: Kubernetes 1.36, emptyDir.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import SHM_PATH as SHM
from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.linter.volumes import shm_mount, volume_of


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        seen = set()
        for container in template.containers:
            mount = shm_mount(container)
            volume = volume_of(template, mount)
            if volume is None or volume.path in seen or "emptyDir" not in volume.data:
                continue

            if not nested_value(volume.data, "emptyDir", "medium"):
                seen.add(volume.path)
                path = (*volume.path, "emptyDir")
                empty_dir = {"medium": "Memory", **nested_map(volume.data, "emptyDir")}
                yield found_at(
                    path,
                    f"{SHM} is a folder on the node's disk, not in memory",
                    "set medium to Memory",
                    fix_setting("set medium to Memory", path, {**empty_dir, "medium": "Memory"}),
                )
