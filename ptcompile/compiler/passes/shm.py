"""Shared memory: a memory volume at /dev/shm.

A container without one has only 64 MiB there, which causes the "bus error" of DataLoader workers
and NCCL. The volume is an emptyDir with medium Memory, mounted in the main container. It has no
sizeLimit unless the user sets a size: the kubelet then uses the pod's memory limit (Kubernetes
1.36). A user's own mount at /dev/shm is kept. Auxiliary pods get the volume too, since a data
loader runs DataLoader workers and an unused volume costs nothing; a size applies only to nodes, so
theirs is unlimited.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate, is_nulled
from ptcompile.kubernetes.pod_spec import SHM_PATH
from ptcompile.kubernetes.unstructured import nested_string


def shm(job: Job, _context: Context) -> Job:
    """Add a memory volume at /dev/shm to each role's main container if the job has shared
    memory.
    """
    if not job.shared_memory:
        return job

    free = {"medium": "Memory"}
    sized = {**free, "sizeLimit": job.shared_memory} if isinstance(job.shared_memory, str) else free

    def mount(template: PodTemplate, empty_dir: dict[str, str]) -> PodTemplate:
        mount_paths = [
            nested_string(mount, "mountPath").rstrip("/") for mount in template.main.mounts
        ]
        if SHM_PATH in mount_paths or (template.nulls and _keeps_volumes_empty(template)):
            return template
        name = _free_name({volume.get("name") for volume in template.volumes})
        mounts = (*template.main.mounts, {"name": name, "mountPath": SHM_PATH})
        volumes = (*template.volumes, {"name": name, "emptyDir": empty_dir})
        return template._replace(main=template.main._replace(mounts=mounts), volumes=volumes)

    return map_templates(
        job, lambda node: mount(node, sized), lambda auxiliary: mount(auxiliary, free)
    )


def _keeps_volumes_empty(template: PodTemplate) -> bool:
    """Return whether a null keeps volumes or mounts empty: one without the other would be
    rejected or unused.
    """
    main = ("spec", "containers", template.main.name)
    return is_nulled(template, "spec", "volumes") or is_nulled(template, *main, "volumeMounts")


def _free_name(taken: set[str | None]) -> str:
    """Return `shm`, or the first of `shm-2`, `shm-3`, ... that no volume of the user has."""
    name = "shm"
    number = 2
    while name in taken:
        name = f"shm-{number}"
        number = number + 1
    return name
