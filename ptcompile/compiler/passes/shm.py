"""Shared memory: a memory volume at /dev/shm.

A container without one has 64 MiB there, the "bus error" of DataLoader workers and NCCL. The volume is an emptyDir with
medium Memory, mounted in the container that trains. It has no sizeLimit unless the user asks for one: the kubelet then
takes the pod's memory limit (Kubernetes 1.36). A user's own mount at /dev/shm stands. Pods that do not train get the
volume too, since a data loader is where DataLoader workers run, and an unused one costs nothing; a size is meant for
nodes, so theirs has none.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate, is_nulled
from ptcompile.kubernetes.pod_spec import SHM_PATH


def shm(job: Job, _context: Context) -> Job:
    """Each role's main container gets a memory volume at /dev/shm, where the job wants one."""
    if not job.shared_memory:
        return job
    free = {"medium": "Memory"}
    sized = {**free, "sizeLimit": job.shared_memory} if isinstance(job.shared_memory, str) else free

    def mount(template: PodTemplate, empty_dir: dict[str, str]) -> PodTemplate:
        there = [(mount.get("mountPath") or "").rstrip("/") for mount in template.main.mounts]
        if SHM_PATH in there or (template.nulls and _unwanted(template)):
            return template
        name = _free_name({volume.get("name") for volume in template.volumes})
        mounts = (*template.main.mounts, {"name": name, "mountPath": SHM_PATH})
        volumes = (*template.volumes, {"name": name, "emptyDir": empty_dir})
        return template._replace(main=template.main._replace(mounts=mounts), volumes=volumes)

    return map_templates(job, lambda node: mount(node, sized), lambda beside: mount(beside, free))


def _unwanted(template: PodTemplate) -> bool:
    """Whether the job keeps its volumes or its mounts empty: one without the other would be refused, or unused."""
    main = ("spec", "containers", template.main.name)
    return is_nulled(template, "spec", "volumes") or is_nulled(template, *main, "volumeMounts")


def _free_name(taken: set[str | None]) -> str:
    """`shm`, or the first of `shm-2`, `shm-3`, ... that the user's volumes leave free."""
    name, n = "shm", 2
    while name in taken:
        name, n = f"shm-{n}", n + 1
    return name
