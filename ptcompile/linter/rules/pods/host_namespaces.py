"""A pod shares its node's processes or memory.

PTC821 host-namespaces: warning at style (exposes), by ptcompile.
Needs: hostIPC/hostPID

What: hostPID or hostIPC is true.

Why: with hostPID the pod sees and may signal the node's other processes; with hostIPC all such pods
share one /dev/shm, and files of a killed process stay there. Both were once used to get more shared
memory, but a volume is enough for that. The guides of Gaudi and AMD, and of clouds whose pods take
the devices of the node by a hostPath, set hostIPC: there it is a note.

Example: pod.yaml with

      spec:
    -   hostIPC: true  # <--
    +   volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
        containers:
          - name: pytorch
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    +       volumeMounts: [{name: dshm, mountPath: /dev/shm}]

Fix: remove it; mount an emptyDir of medium Memory at /dev/shm. Keep it where the vendor's guide
requires it.

Source: Kubernetes 1.36, Pod Security Standards (baseline).
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.linter.volumes import node_devices
from ptcompile.world.templates import ManifestTemplate

_EFFECTS = {
    "hostIPC": "the pod shares the node's shared memory with other pods",
    "hostPID": "the pod sees the processes of the node and of other pods",
}


_VENDORS = ("habana.ai/gaudi", "amd.com/gpu")
"""Devices whose vendors' examples for Kubernetes set hostIPC (Gaudi 1.21, PyTorch; ROCm 6, RCCL
tests).
"""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for key, effect in _EFFECTS.items():
            if template.spec.get(key) is True:
                path = (*template.spec_path, key)
                devices = _guided_devices(template) if key == "hostIPC" else ""
                if devices:
                    text = f"{effect}, as guides for {devices} set it"
                    yield found_at(
                        path,
                        text,
                        "remove it if the guide of your cluster does not set it",
                        severity="note",
                    )
                    continue

                yield found_at(
                    path,
                    effect,
                    "remove it; for shared memory mount an emptyDir of medium Memory at /dev/shm"
                    if key == "hostIPC"
                    else "remove it",
                    fix_removing(f"remove {key}", path),
                )


def _guided_devices(template: ManifestTemplate) -> str:
    """Return the devices of a pod whose vendor's guide sets hostIPC, or ""."""
    limits = {name for container in template.containers for name in container.limits}
    return next((name for name in _VENDORS if name in limits), "") or node_devices(template)
