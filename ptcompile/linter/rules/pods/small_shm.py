"""The volume at /dev/shm is no larger than the container's default shared memory.

PTC308 small-shm: warning at run (fails), by kubelet.
Needs: sizeLimit shm

What: the sizeLimit of a volume in memory at /dev/shm is 64 MiB or less.

Why: a container has 64 MiB of shared memory by default, which is too little for data loader
workers. Most often the unit is missing: `sizeLimit: 16` is 16 bytes.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
          emptyDir:
            medium: Memory
    -       sizeLimit: 16  # <--
    +       sizeLimit: 16Gi

Fix: write the unit, and a size that fits the batches in flight: a few GiB.

Source: Kubernetes 1.36, emptyDir.sizeLimit; containerd 2, the default size of /dev/shm.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import is_in_memory, shm_mount, volume_of

_DEFAULT_BYTES = 64 * 2**20


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.main_containers:
            mount = shm_mount(container)
            volume = volume_of(template, mount)
            if volume is None or not is_in_memory(volume.data):
                continue
            size_limit = nested_value(volume.data, "emptyDir", "sizeLimit")
            size = quantity.parse(size_limit)
            if size is not None and 0 < size.value <= _DEFAULT_BYTES:
                path = (*volume.path, "emptyDir", "sizeLimit")
                unit = f" ({size.value} bytes)" if str(size_limit).isdigit() else ""
                yield found_at(
                    path,
                    f"{size_limit}{unit} is no more than the 64 MiB that a container has by "
                    "default",
                    "use a few GiB, below the memory limit",
                )
