"""A pod trains on several GPUs with the container runtime's 64 MiB of shared memory.

PTC302 missing-shm: warning at run (fails), by ptcompile.
Needs: {VENDORS}

What: a container that requests two or more GPUs has no memory volume mounted at /dev/shm.

Why: data loader workers and NCCL pass tensors through /dev/shm. A container's default is 64 MiB:
when it is full a worker dies with "Bus error", often hours into a run.

Example: pod.yaml with

      spec:
    +   volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
        containers:
          - name: pytorch  # <--
            command: [torchrun, --nproc-per-node, "8", train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
    +       volumeMounts: [{name: dshm, mountPath: /dev/shm}]

Fix: add an emptyDir of medium Memory and mount it at /dev/shm; give it a sizeLimit below the memory
limit, which it counts against.

Source: Kubernetes 1.36, emptyDir of medium Memory; PyTorch 2.13, multiprocessing data loading;
containerd 2, the default size of /dev/shm.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import SHM_PATH as SHM
from ptcompile.kubernetes.unstructured import nested_maps, nested_value
from ptcompile.linter.containers import idle_command, starts_training
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import shm_mount
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

_SCRIPT = r"(?:^|[\s/])(?:train|finetune|fine_tune|pretrain)[\w.-]*\.py"
_TORCH = Pattern(rf"(?i)torch|lightning|deepspeed|megatron|nemo|{_SCRIPT}")
_VOLUME_NAME = "dshm"
_MIN_MEMORY_BYTES = 1 << 30
"""Smallest memory limit for which the fix adds a volume of half the size."""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if template.spec.get("hostIPC") is True:  # /dev/shm is the node's
            continue
        for container in template.main_containers:
            # the processes of several TPUs share no memory
            has_tpus = any("tpu" in str(name) for name in container.limits)
            if (
                container.accelerators > 1
                and not has_tpus
                and shm_mount(container) is None
                and _trains_with_torch(subject, container)
            ):
                yield found_at(
                    container.path,
                    f"{container.accelerators} accelerators but no volume at /dev/shm: "
                    "processes share 64 MiB of memory, and a data loader that needs more dies "
                    "with a bus error",
                    "add a volume emptyDir {medium: Memory, sizeLimit: ...} and mount it at "
                    "/dev/shm",
                    _mount_shm(template, container),
                )


def _trains_with_torch(subject: Subject, container: ManifestContainer) -> bool:
    """Return whether the container seems to train with torch, judging by its operator, launcher,
    image or script.
    """
    if subject.record.launch_fields.options or starts_training(container):
        return True
    words = [container.image, *container.tokens]
    return any(_TORCH.search(word) for word in words) and not idle_command(container)


def _mount_shm(template: ManifestTemplate, container: ManifestContainer) -> Fix | None:
    """Return the fix, which needs a memory limit and a free volume name; the size is half of the
    limit.
    """
    mount = Edit(
        "append", (*container.path, "volumeMounts"), {"name": _VOLUME_NAME, "mountPath": SHM}
    )
    title = f"mount a volume of memory at {SHM}"
    existing = [
        item for item in nested_maps(template.spec, "volumes") if item.get("name") == _VOLUME_NAME
    ]
    if existing:
        if nested_value(existing[0], "emptyDir", "medium") == "Memory":
            return Fix(title, (mount,))
        return None

    limit = quantity.parse(container.limits.get("memory"))
    if limit is None or limit.value < _MIN_MEMORY_BYTES:
        return None

    size = str(quantity.Quantity((limit.value >> 21 << 20) * quantity.NANO, "binary"))
    volume = {"name": _VOLUME_NAME, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    add = Edit("append", (*template.spec_path, "volumes"), volume)

    return Fix(f"{title}, of {size}", (add, mount))
