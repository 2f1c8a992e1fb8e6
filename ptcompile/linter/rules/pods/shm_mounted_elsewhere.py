"""A volume for shared memory is mounted, but not at /dev/shm.

PTC305 shm-mounted-elsewhere: warning at run (fails), by ptcompile.
Needs: emptyDir mountPath

What: a volume in memory with a name such as `shm`, `dshm` or `shared-memory` is mounted at another
path, and the container has no mount at /dev/shm.

Why: PyTorch and NCCL use only /dev/shm. They keep the container runtime's 64 MiB, and the volume
stays empty.

Example: gpu_pod.yaml with

      volumeMounts:
        - name: dshm
    -     mountPath: /dev/shmem  # <--
    +     mountPath: /dev/shm

Fix: mount it at /dev/shm.

Source: POSIX shm_open in glibc and musl; PyTorch 2.13, multiprocessing; NCCL 2.29,
NCCL_SHM_DISABLE.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import SHM_PATH as SHM
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.linter.volumes import is_in_memory, shm_mount, volume_of
from ptcompile.simulator.mounted import mount_path


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.containers:
            if shm_mount(container):
                continue
            for mount in container.mounts:
                name = nested_string(mount.data, "name").lower()
                folder = mount_path(mount.data)
                volume = volume_of(template, mount)
                if volume is None or not is_in_memory(volume.data):
                    continue
                if not ("shm" in name or "shared-mem" in name):
                    continue
                if not folder or folder.startswith(SHM + "/"):
                    continue

                path = (*mount.path, "mountPath")
                yield found_at(
                    path,
                    f"{folder} is not {SHM}, where PyTorch and NCCL look for shared memory",
                    f"mount it at {SHM}",
                    fix_setting(f"mount {name} at {SHM}", path, SHM),
                )
