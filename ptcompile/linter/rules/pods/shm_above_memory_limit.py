"""Shared memory may grow beyond the memory limit that it counts against.

PTC301 shm-above-memory-limit: warning at run (fails), by kubelet.
Needs: emptyDir sizeLimit

What: a volume in memory has a sizeLimit above the memory limit of every container that mounts it.

Why: what a process writes to the volume counts as its container's memory. The container is killed
(OOMKilled) before /dev/shm is full: the sizeLimit promises more than can be used.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
          emptyDir:
            medium: Memory
    -       sizeLimit: 128Gi  # <--
    +       sizeLimit: 16Gi

Fix: raise the memory limit by the size of the shared memory, or lower the sizeLimit.

Source: Kubernetes 1.36, emptyDir of medium Memory.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import is_in_memory


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for name, (volume_path, volume) in template.volumes.items():
            size = quantity.parse(nested_value(volume, "emptyDir", "sizeLimit"))
            if size is None or not is_in_memory(volume):
                continue
            limits = [
                quantity.parse(container.limits.get("memory"))
                for container in template.containers
                if any(nested_string(mount, "name") == name for _, mount in container.mounts)
            ]
            set_limits = [limit for limit in limits if limit]
            if set_limits and len(set_limits) == len(limits) and size > max(set_limits):
                yield found_at(
                    (*volume_path, "emptyDir", "sizeLimit"),
                    f"{size} is above the memory limit, {max(set_limits)}, so the container is killed "
                    "first",
                    "raise the memory limit, or lower the sizeLimit",
                )
